package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAliasesAreDocumented requires that the comment of an alias of an internal struct names all exported fields of
// the struct: go doc shows only the name of an internal type.
func TestAliasesAreDocumented(t *testing.T) {
	for _, dir := range []string{"shard", "filter"} {
		for _, file := range parseDir(t, filepath.Join("..", "..", dir)) {
			for _, decl := range file.Decls {
				d, ok := decl.(*ast.GenDecl)
				if !ok || d.Tok != token.TYPE {
					continue
				}
				for _, spec := range d.Specs {
					s := spec.(*ast.TypeSpec)
					for _, name := range internalFields(t, file, s) {
						require.Contains(t, d.Doc.Text(), name, "%s.%s: the comment lacks a field", dir, s.Name)
					}
				}
			}
		}
	}
}

// internalFields returns the exported fields of the internal struct of which s is an alias.
func internalFields(t *testing.T, file *ast.File, s *ast.TypeSpec) (names []string) {
	target, ok := s.Type.(*ast.SelectorExpr)
	if !ok || !s.Assign.IsValid() {
		return nil
	}
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		dir, ok := strings.CutPrefix(path, module+"/")
		if !ok || !strings.Contains("/"+dir, "/internal/") || filepath.Base(path) != target.X.(*ast.Ident).Name {
			continue
		}
		for _, f := range parseDir(t, filepath.Join("..", "..", filepath.FromSlash(dir))) {
			o := f.Scope.Lookup(target.Sel.Name)
			if o == nil {
				continue
			}
			fields, ok := o.Decl.(*ast.TypeSpec).Type.(*ast.StructType)
			if !ok {
				return nil
			}
			for _, field := range fields.Fields.List {
				for _, name := range field.Names {
					if name.IsExported() {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}

// parseDir parses the Go files of a folder, except for tests.
func parseDir(t *testing.T, dir string) (files []*ast.File) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, f)
	}
	return files
}
