package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hotLoops are functions that process every value of a scan, a filter or a write, according to profiles. Their
// innermost loops must not check bounds: their slices have the required length beforehand. A function whose
// destination index depends on the data, as in findRuns, is not listed.
var hotLoops = map[string][]string{
	"encoding/numeric":                     {"lookUp"},
	"encoding/numeric/internal/codec":      {"prefixSum", "unZigZag", "extendZero", "extendSign", "addPlane"},
	"encoding/numeric/internal/packing":    {"densest"},
	"encoding/numeric/internal/encode":     {"countEqual"},
	"encoding/numeric/internal/trees":      {"Scale", "Gather"},
	"encoding/numeric/internal/word":       {"Span"},
	"encoding/bytestring/internal/tree":    {"checkOffsets"},
	"encoding/internal/vector":             {"putSlots", "putSame", "countOffsets"},
	"encoding/internal/fastlanes":          {"unpackWords", "packWords"},
	"encoding/internal/alp":                {"Decode"},
	"encoding/internal/fsst":               {"decodeSymbols"},
	"encoding":                             {"decodePlain"},
	"internal/engine/predicate":            {"between", "in128"},
	"internal/format/arrowmap/convert":     {"applyUp", "applyDown", "Steps"},
	"internal/format/decimal":              {"FromInt64", "FromInt128", "ToInt64", "ToInt128", "Narrow", "Coefficients"},
	"internal/base/bounds":                 {"Of"},
	"internal/base/simd":                   {"Widen", "Narrow", "Count", "wordBetween"},
	"shard/internal/stripe/internal/rules": {"Values"},
}

var boundsCheck = regexp.MustCompile(`^(\S+\.go):(\d+):\d+: Found Is(?:Slice)?InBounds$`)

// TestHotLoopsCheckNoBounds runs the compiler once for all packages.
func TestHotLoopsCheckNoBounds(t *testing.T) {
	args := []string{"build", "-gcflags=-d=ssa/check_bce"}
	for dir := range hotLoops {
		args = append(args, "./"+dir)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	checks := map[string]bool{}
	for _, line := range strings.Split(string(out), "\n") {
		// Generic functions are compiled and reported in the packages that use them, but by the path of their own
		// file.
		if m := boundsCheck.FindStringSubmatch(strings.TrimPrefix(line, module+"/")); m != nil {
			checks[path.Clean(m[1])+":"+m[2]] = true
		}
	}
	some := func(at string) bool { return strings.HasPrefix(at, "encoding/numeric/") } // its other loops do check bounds
	require.True(t, slices.ContainsFunc(slices.Collect(maps.Keys(checks)), some), "the compiler says nothing: %s", out)
	for dir, names := range hotLoops {
		for name, lines := range loopsOf(t, dir, names) {
			require.NotEmpty(t, lines, "no loop in %s of %s", name, dir)
			for _, line := range lines {
				if checks[line] {
					t.Errorf("%s: %s checks bounds in its loop", line, name)
				}
			}
		}
	}
}

// loopsOf lists the lines of the innermost loops of functions, as file:line with the path from the root.
func loopsOf(t *testing.T, dir string, names []string) map[string][]string {
	lines := map[string][]string{}
	for _, name := range names {
		lines[name] = nil
	}
	set := token.NewFileSet()
	files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	require.NoError(t, err)
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_gen.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				if _, ok := lines[f.Name.Name]; ok {
					lines[f.Name.Name] = append(lines[f.Name.Name], innermost(set, f, dir)...)
				}
			}
		}
	}
	return lines
}

func innermost(set *token.FileSet, f *ast.FuncDecl, dir string) (lines []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		var b *ast.BlockStmt
		switch n := n.(type) {
		case *ast.ForStmt:
			b = n.Body
		case *ast.RangeStmt:
			b = n.Body
		default:
			return true
		}
		inner := false
		ast.Inspect(b, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				inner = true
			}
			return !inner
		})
		if !inner {
			from, to := set.Position(b.Pos()), set.Position(b.End())
			for line := from.Line + 1; line < to.Line; line++ {
				lines = append(lines, fmt.Sprintf("%s/%s:%d", dir, filepath.Base(from.Filename), line))
			}
		}
		return true
	})
	return lines
}
