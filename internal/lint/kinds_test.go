package lint

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// kindSwitches are files that go by nested Arrow types one by one, where package kinds has a shape for all. The list may only shrink.
var kindSwitches = []string{
	"blockpack/internal/spans/array.go",     // columns of OTLP are of few types
	"internal/testing/arrowgen/arrowgen.go", // makes arrays, which needs builders of each type
	"rntuple/internal/fields/wraps.go",      // layouts of RNTuple, of which each suits some types
	"rntuple/internal/write/schema.go",      // the same
	"rntuple/internal/write/variant.go",     // type codes, where shapes have numbers of parts
	"shard/internal/stripe/write/cut.go",    // sizes of rows by the buffers of each type
	"shard/internal/stripe/write/list.go",   // offsets of two widths, and none
	"shard/internal/stripe/write/struct.go", // lists of a fixed size are stored like structs
	"traceql/internal/spans/batch.go",       // one value of a row, without what opening an array allocates
}

// ofKinds matches a line of a switch over nested Arrow types or arrays.
var ofKinds = regexp.MustCompile(`\tcase .*(\barrow\.(STRUCT|MAP|(LARGE_)?LIST(_VIEW)?|FIXED_SIZE_LIST|DICTIONARY|RUN_END_ENCODED|EXTENSION|(SPARSE|DENSE)_UNION)\b|` +
	`\*arrow\.(Struct|Map|(Large)?List(View)?|FixedSizeList|Dictionary|RunEndEncoded|(Sparse|Dense)Union)Type\b|` +
	`\*array\.(Struct|Map|(Large)?List(View)?|FixedSizeList|Dictionary|RunEndEncoded|(Sparse|Dense)Union)\b|` +
	`arrow\.(ListLikeType|NestedType|ExtensionType|UnionType)\b|array\.((VarLen)?ListLike|ExtensionArray|Union)\b)`)

// TestNestedKindsInOneTable requires that new code walks through nested types by their shapes, so that a new type needs a row of package
// kinds only.
func TestNestedKindsInOneTable(t *testing.T) {
	var found []string
	goFiles(t, func(f file, _ *token.FileSet, _ *ast.File) {
		if f.test() || f.dir() == "internal/arrow/kinds" || !ofKinds.Match(f.text) {
			return
		}
		found = append(found, f.path)
		if !slices.Contains(kindSwitches, f.path) {
			t.Errorf("%s has a switch over nested Arrow types: see package internal/arrow/kinds", f.path)
		}
	})
	for _, path := range kindSwitches {
		require.Contains(t, found, path, "it has no switch any more: take it off the list")
	}
}
