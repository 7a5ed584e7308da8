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
	"blockpack/internal/spans/array.go",
	"blockpack/internal/spans/column.go",
	"blockpack/internal/tempo/columns.go",
	"internal/bench/suite/checksum.go",
	"internal/engine/compute/list.go",
	"internal/engine/predicate/eval.go",
	"internal/engine/profile/column.go",
	"internal/testing/arrowgen/arrowgen.go",
	"internal/testing/filtertest/values.go",
	"rntuple/internal/fields/wraps.go",
	"rntuple/internal/read/array.go",
	"rntuple/internal/write/schema.go",
	"rntuple/internal/write/variant.go",
	"shard/internal/stripe/read/internal/build/build.go",
	"shard/internal/stripe/write/list.go",
	"shard/internal/stripe/write/struct.go",
	"shard/internal/stripe/write/cut.go",
	"table/parquet/internal/convert/plain.go",
	"table/parquet/internal/convert/restore.go",
	"table/parquet/internal/convert/shape.go",
	"table/parquet/internal/read/columns.go",
	"table/parquet/sink.go",
	"traceql/internal/spans/batch.go",
	"traceql/internal/spans/schema.go",
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
