package lint

import (
	"bytes"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// roomOf is the room of a package: its top-level folder, its group below internal, its folder below cmd/amudai/internal or table: the floor
// above all formats, each of the formats, and what they import are rooms of their own.
func roomOf(pkg string) string {
	parts := strings.Split(pkg, "/")
	switch {
	case len(parts) > 3 && within(pkg, "cmd/amudai/internal"):
		return strings.Join(parts[:4], "/")
	case len(parts) > 2 && within(pkg, "table/internal"):
		return strings.Join(parts[:3], "/")
	case len(parts) > 1 && (parts[0] == "internal" || parts[0] == "table"):
		return strings.Join(parts[:2], "/")
	}
	return parts[0]
}

// TestRoomsFormNoCircle looks at folders as rooms, and at imports between them as arrows: they point downward in one picture only if
// there are no circles.
func TestRoomsFormNoCircle(t *testing.T) {
	arrows := map[string]map[string]bool{}
	for pkg, imports := range importGraph(t) {
		if forTests(pkg) {
			continue
		}
		from := roomOf(pkg)
		for _, path := range imports {
			target, ok := strings.CutPrefix(path, module+"/")
			if to := roomOf(target); ok && to != from {
				if arrows[from] == nil {
					arrows[from] = map[string]bool{}
				}
				arrows[from][to] = true
			}
		}
	}
	below := map[string]map[string]bool{}
	for room := range arrows {
		seen := map[string]bool{}
		var visit func(string)
		visit = func(room string) {
			for to := range arrows[room] {
				if !seen[to] {
					seen[to] = true
					visit(to)
				}
			}
		}
		visit(room)
		below[room] = seen
	}
	for a := range below {
		var circle []string
		for b := range below {
			if below[a][b] && below[b][a] {
				circle = append(circle, b)
			}
		}
		slices.Sort(circle)
		if len(circle) > 0 && circle[0] == a {
			t.Errorf("rooms import each other: %s", strings.Join(circle, ", "))
		}
	}
}

// maxRoom is the number of lines of a package outside tests: more have more than one subject.
const maxRoom = 2500

// largeRooms are packages above the limit with their lines, rounded up to hundreds. The list may only shrink.
var largeRooms = map[string]int{}

func TestRoomsStaySmall(t *testing.T) {
	lines := map[string]int{}
	for _, f := range textFiles(t) {
		if f.isGo() && !f.generated && !f.test() {
			lines[f.dir()] += bytes.Count(f.text, []byte("\n"))
		}
	}
	for dir, n := range lines {
		if most := max(maxRoom, largeRooms[dir]); n > most {
			t.Errorf("%s has %d lines, more than %d: delete, then divide it by subject", dir, n, most)
		}
	}
	for dir := range largeRooms {
		if n := lines[dir]; n <= maxRoom {
			t.Logf("%s has %d lines: take it off the list", dir, n)
		}
	}
}

// TestMapNamesRooms requires a row for each package in docs/architecture.md.
func TestMapNamesRooms(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	require.NoError(t, err)
	for dir := range importGraph(t) {
		if within(dir, "gen") || within(dir, "internal/testing") || within(dir, "internal/bench") || within(dir, "tools") || within(dir, "bench") {
			continue // named as a group
		}
		if !bytes.Contains(text, []byte("`"+dir+"`")) {
			t.Errorf("docs/architecture.md lacks %s", dir)
		}
	}
}

// importable reports whether programs of other modules can import a package. Generated code does not count: it stands beside its definitions.
func importable(dir string) bool {
	return !slices.Contains(strings.Split(dir, "/"), "internal") && !within(dir, "gen") && !within(dir, "cmd") && !within(dir, "tools") && !within(dir, "bench") && !within(dir, "sql") // a module of its own, that needs a C compiler
}

// maxImportable is the number of packages for outsiders. It may only shrink.
const maxImportable = 26

func TestFewPackagesAreImportable(t *testing.T) {
	all := map[string]bool{}
	goFiles(t, func(f file, _ *token.FileSet, syntax *ast.File) {
		if !f.test() && syntax.Name.Name != "main" && importable(f.dir()) {
			all[f.dir()] = true
		}
	})
	if len(all) > maxImportable {
		t.Errorf("%d packages are importable, more than %d: %v", len(all), maxImportable, slices.Sorted(maps.Keys(all)))
	}
}

// uncallable are packages with exported signatures that name types of internal packages. The list may only shrink.
var uncallable []string

// TestExportedSignaturesNameNoInternalTypes keeps importable packages callable from outside. An alias gives an internal type a name.
func TestExportedSignaturesNameNoInternalTypes(t *testing.T) {
	found := map[string]bool{}
	goFiles(t, func(f file, set *token.FileSet, syntax *ast.File) {
		if f.test() || syntax.Name.Name == "main" || !importable(f.dir()) {
			return
		}
		internal := map[string]bool{}
		for _, spec := range syntax.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			if !strings.Contains(path, "/internal/") {
				continue
			}
			name := path[strings.LastIndexByte(path, '/')+1:]
			if spec.Name != nil {
				name = spec.Name.Name
			}
			internal[name] = true
		}
		for _, signature := range exportedTypes(syntax) {
			ast.Inspect(signature, func(n ast.Node) bool {
				if body, ok := n.(*ast.BlockStmt); ok && body != nil {
					return false
				}
				if field, ok := n.(*ast.Field); ok && len(field.Names) > 0 && !slices.ContainsFunc(field.Names, (*ast.Ident).IsExported) && inStruct(signature, field) {
					return false
				}
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && internal[x.Name] {
						found[f.dir()] = true
						if !slices.Contains(uncallable, f.dir()) {
							t.Errorf("%s: an exported signature names %s.%s", set.Position(s.Pos()), x.Name, s.Sel.Name)
						}
					}
				}
				return true
			})
		}
	})
	for _, dir := range uncallable {
		if !found[dir] {
			t.Errorf("%s names no internal types: take it off the list", dir)
		}
	}
}

// exportedTypes are the types of exported functions, methods, variables and constants, and the exported types that are no aliases.
func exportedTypes(syntax *ast.File) (list []ast.Node) {
	for _, decl := range syntax.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiverName(d.Recv.List[0].Type))) {
				list = append(list, d.Type)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() && !s.Assign.IsValid() {
						list = append(list, s.Type)
					}
				case *ast.ValueSpec:
					if s.Type != nil && slices.ContainsFunc(s.Names, (*ast.Ident).IsExported) {
						list = append(list, s.Type)
					}
				}
			}
		}
	}
	return list
}

func receiverName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.IndexListExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// inStruct reports whether a field is one of a struct in a type, not a parameter.
func inStruct(signature ast.Node, field *ast.Field) (found bool) {
	ast.Inspect(signature, func(n ast.Node) bool {
		if s, ok := n.(*ast.StructType); ok {
			found = found || slices.Contains(s.Fields.List, field)
		}
		return !found
	})
	return found
}

// TestOutsideUsesAllPackages requires that the module internal/testing/outside, whose tests run in "make test", imports each package for
// outsiders.
func TestOutsideUsesAllPackages(t *testing.T) {
	uses, err := os.ReadFile(filepath.Join(root, "internal", "testing", "outside", "outside_test.go"))
	require.NoError(t, err)
	for dir := range importGraph(t) {
		if importable(dir) && dir != "." && !bytes.Contains(uses, []byte(`"`+module+"/"+dir+`"`)) {
			t.Errorf("internal/testing/outside does not use %s", dir)
		}
	}
}
