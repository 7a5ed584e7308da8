// Package lint checks the rules of this repository that no tool checks: imports between
// packages, where a panic is allowed, which words must not stay in a file.
package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	root   = "../.."
	module = "github.com/amudai/amudai-go"
)

// file is a file of the repository, by its slash-separated path from the root.
type file struct {
	path      string
	text      []byte
	generated bool
}

func (f file) dir() string { return filepath.ToSlash(filepath.Dir(f.path)) }
func (f file) test() bool  { return strings.HasSuffix(f.path, "_test.go") }
func (f file) isGo() bool  { return strings.HasSuffix(f.path, ".go") }

// generatedMark is the line that generators write, see "go help generate".
var generatedMark = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// textFiles are all hand-written and generated text files, in the order of their paths, without test data. They are read once.
func textFiles(t *testing.T) []file {
	t.Helper()
	files, err := readFiles()
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

var readFiles = sync.OnceValues(func() (files []file, err error) {
	extensions := []string{".go", ".s", ".md", ".proto", ".fbs", ".sh", ".yaml", ".yml", ".conf", ".mod"}
	names := []string{"Makefile", "NOTICE", "run"}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if name == ".git" || name == "testdata" && path != filepath.Join(root, "internal", "testing", "testdata") || path == filepath.Join(root, "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		if !slices.Contains(extensions, filepath.Ext(name)) && !slices.Contains(names, name) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		files = append(files, file{filepath.ToSlash(rel), text, generatedMark.Match(text)})
		return nil
	})
	return files, err
})

// goFiles visits the hand-written Go files of the module, parsed. For the modules of tools and interop tests, only the rules of text hold.
func goFiles(t *testing.T, visit func(f file, set *token.FileSet, syntax *ast.File)) {
	t.Helper()
	files, err := parseFiles()
	require.NoError(t, err)
	for _, p := range files {
		visit(p.file, p.set, p.syntax)
	}
}

// parsed is a Go file that a test must not change.
type parsed struct {
	file
	set    *token.FileSet
	syntax *ast.File
}

var parseFiles = sync.OnceValues(func() (list []parsed, err error) {
	files, err := readFiles()
	for _, f := range files {
		if !f.isGo() || f.generated || strings.HasPrefix(f.path, "tools/") || strings.HasPrefix(f.path, "internal/interop/") {
			continue
		}
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, f.path, f.text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		list = append(list, parsed{f, set, syntax})
	}
	return list, err
})

func TestNoPanics(t *testing.T) {
	goFiles(t, func(f file, set *token.FileSet, syntax *ast.File) {
		if f.test() || forTests(f.dir()) || mayPanic[f.path] != "" {
			return
		}
		ast.Inspect(syntax, func(node ast.Node) bool {
			if call, ok := node.(*ast.CallExpr); ok {
				if name, ok := call.Fun.(*ast.Ident); ok && name.Name == "panic" {
					t.Errorf("%s: return an error, or add the file to mayPanic with the reason", set.Position(call.Pos()))
				}
			}
			return true
		})
	})
}

// mayPanic lists the files in which a panic means a mistake in this repository or in the calling program, never in
// the input.
var mayPanic = map[string]string{
	"internal/format/container/container.go":           "a writer makes a message of 4 GiB",
	"internal/format/decimal/column.go":                "a caller did not check the scale",
	"dictionary/builder.go":                            "a caller mixes value sizes",
	"encoding/map_builder.go":                          "a caller adds an empty block",
	"encoding/internal/fastlanes/pack.go":              "a caller did not check the width",
	"encoding/internal/fastlanes/pick.go":              "a caller did not check the places",
	"encoding/numeric/internal/encode/workspace.go":    "the constant options of a compressor are wrong",
	"encoding/bytestring/internal/encode/workspace.go": "the constant options of a compressor are wrong",
	"internal/format/hll/bias.go":                      "the embedded table is wrong",
	"internal/format/hll/hll.go":                       "a caller did not check the number of bits",
}

func TestMayPanicIsCurrent(t *testing.T) {
	for path := range mayPanic {
		text, err := os.ReadFile(filepath.Join(root, path))
		require.NoError(t, err)
		require.True(t, bytes.Contains(text, []byte("panic(")), "%s does not panic any more: remove it from mayPanic", path)
	}
}

// The pattern is assembled, so that this file does not match it. Prose may use the words in other ways.
var (
	unfinished       = regexp.MustCompile(`(?i)\b(TO` + `DO|FIX` + `ME|X` + `XX|HA` + `CK)\b`)
	unmerged         = regexp.MustCompile(`(?m)^(<{7}|>{7}) `)
	unfinishedInCode = regexp.MustCompile(`(?i)\b(un` + `implemented|not ` + `implemented|stu` + `bs?)\b`)
)

func TestNothingUnfinished(t *testing.T) {
	for _, f := range textFiles(t) {
		if f.generated {
			continue
		}
		complain := func(line int, match string) {
			t.Errorf("%s:%d: %q: finish it, or say what the code does instead", f.path, line, match)
		}
		eachMatch(f, unfinished, complain)
		eachMatch(f, unmerged, complain)
		if !strings.HasSuffix(f.path, ".md") {
			eachMatch(f, unfinishedInCode, complain)
		}
	}
}

// Paths of one machine mean nothing on another. Tests may name paths that exist on no machine.
var machinePath = regexp.MustCompile(`(?:^|[^\w.])/(work|root|farm|home|tmp)/\w+`)

func TestNoMachinePaths(t *testing.T) {
	for _, f := range textFiles(t) {
		if f.test() {
			continue
		}
		eachMatch(f, machinePath, func(line int, match string) {
			t.Errorf("%s:%d: %q is a path of one machine", f.path, line, match)
		})
	}
}

// wrappedEnd takes any error that wraps io.EOF for an end. A failed read of a store may wrap it, too: io.EOF ends an io.Reader only as it
// is, and nothing else.
var wrappedEnd = regexp.MustCompile(`errors\.Is\([^\n]*, io\.EOF\)`)

func TestNoWrappedEnds(t *testing.T) {
	for _, f := range textFiles(t) {
		if !f.isGo() || f.test() || f.path == "internal/base/fault/fault.go" {
			continue
		}
		eachMatch(f, wrappedEnd, func(line int, match string) {
			t.Errorf("%s:%d: %q: compare with ==", f.path, line, match)
		})
	}
}

func eachMatch(f file, pattern *regexp.Regexp, report func(line int, match string)) {
	for _, at := range pattern.FindAllIndex(f.text, -1) {
		report(1+bytes.Count(f.text[:at[0]], []byte("\n")), string(f.text[at[0]:at[1]]))
	}
}

// A longer file has more than one subject.
const maxLines = 900

func TestFilesStaySmall(t *testing.T) {
	for _, f := range textFiles(t) {
		if lines := bytes.Count(f.text, []byte("\n")); f.isGo() && !f.generated && lines > maxLines {
			t.Errorf("%s has %d lines, more than %d: split it", f.path, lines, maxLines)
		}
	}
}

func TestPackagesAreDocumented(t *testing.T) {
	commented := map[string]bool{}
	goFiles(t, func(f file, _ *token.FileSet, syntax *ast.File) {
		if !f.test() {
			commented[f.dir()] = commented[f.dir()] || syntax.Doc != nil
		}
	})
	for dir, ok := range commented {
		if !ok {
			t.Errorf("%s has no package comment", dir)
		}
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	goFiles(t, func(f file, set *token.FileSet, syntax *ast.File) {
		if f.test() || syntax.Name.Name == "main" {
			return
		}
		for _, declaration := range syntax.Decls {
			for _, name := range undocumented(declaration) {
				t.Errorf("%s: %s is exported but not documented", set.Position(name.Pos()), name.Name)
			}
		}
	})
}

// undocumented lists the exported names that a declaration adds to the package without a comment.
func undocumented(declaration ast.Decl) []*ast.Ident {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !slices.Contains(selfEvident, d.Name.Name) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		if d.Doc != nil && d.Tok != token.TYPE {
			return nil // one comment for the whole group
		}
		var names []*ast.Ident
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if d.Doc == nil && s.Doc == nil && s.Name.IsExported() {
					names = append(names, s.Name)
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if s.Doc == nil && s.Comment == nil && name.IsExported() {
						names = append(names, name)
					}
				}
			}
		}
		return names
	}
	return nil
}

// selfEvident are methods that an interface of the standard library documents.
var selfEvident = []string{"String", "Error", "Unwrap", "Is", "Len", "Less", "Swap", "MarshalJSON", "UnmarshalJSON"}

// exportedReceiver reports whether a function is not a method, or a method of an exported type.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	receiver := d.Recv.List[0].Type
	for {
		switch r := receiver.(type) {
		case *ast.StarExpr:
			receiver = r.X
		case *ast.IndexExpr:
			receiver = r.X
		case *ast.IndexListExpr:
			receiver = r.X
		case *ast.Ident:
			return r.IsExported()
		default:
			panic(fmt.Sprintf("receiver of type %T", r))
		}
	}
}
