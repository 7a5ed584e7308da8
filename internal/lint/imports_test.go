package lint

import (
	"go/ast"
	"go/token"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rows are the layers of the module, the highest first. A package may import packages of its own row and of rows
// below. A name stands for a package and those below it in the tree. The longest matching name counts.
var rows = [][]string{
	testHelpers,
	{"sql/cmd"},
	{"cmd", "bench", "sql"},
	{"cmd/amudai/internal/command"},
	{"cmd/amudai/internal"},
	{"cmd/amudai/internal/app"},
	{"cmd/amudai/internal/formats", "cmd/amudai/internal/session"},
	{"cmd/amudai/internal/files"},
	{"cmd/amudai/internal/complete"},
	{"cmd/amudai/internal/usage", "cmd/amudai/internal/help"},
	{"cmd/amudai/internal/terminal"},
	{"internal/bench/suite"},
	{"traceql"},
	{"table/formats"},
	{"shard", "table/text", "table/internal/arrowipc", "table/parquet", "rntuple", "blockpack"},
	{"internal/tablefile"},
	{"table"},
	{"internal/inputs"},
	{"table/internal/diff", "table/internal/ranked"},
	{"table/internal/tables", "table/internal/around", "table/internal/recorded", "table/internal/bins", "table/internal/beside", "table/internal/searched"},
	{"shard/internal/merging"},
	{"shard/internal/inspect", "shard/internal/verify", "shard/internal/columns"},
	{"internal/verification"},
	{"table/provider"},
	{"shard/internal/importer", "shard/internal/relocation"},
	{"shard/internal/compact", "shard/internal/selection", "shard/internal/lookup"},
	{"shard/internal/root"},
	{"shard/internal/copying"},
	{"shard/internal/indexing", "shard/internal/shardtable"},
	{"shard/internal/reference"},
	{"shard/internal/index"},
	{"shard/internal/index/inverted", "shard/internal/index/hashmap", "shard/internal/index/internal"},
	{"shard/internal/shardwriter"},
	{"shard/internal/readahead"},
	{"shard/internal/shardfile"},
	{"shard/internal/message", "shard/internal/reflist", "shard/internal/recovery"},
	{"shard/internal/stripe/read", "shard/internal/stripe/write", "shard/internal/stripe/pageindex"},
	{"shard/internal/stripe/valuedict"},
	{"shard/internal/stripe/blocks"},
	{"shard/internal/stripe/internal"},
	{"shard/internal/stripe"},
	{"shard/internal/stats", "shard/internal/index/numrange", "shard/internal/index/strrange", "shard/internal/index/hash"},
	{"stripe"},
	{"internal/engine/scan", "internal/engine/take"},
	{"internal/engine/rowfilter"},
	{"internal/engine/external"},
	{"internal/engine/table"},
	{"internal/engine/source"},
	{"internal/query"},
	{"filter"},
	{"internal/engine/aggregate", "internal/engine/sortkeys"},
	{"internal/engine/compute"},
	{"internal/engine/predicate", "internal/engine/profile", "internal/engine/order", "internal/engine/histogram"},
	{"internal/engine/jsonvalues"},
	{"internal/engine/valueset"},
	{"internal/engine/ast"},
	{"dictionary", "sbbf", "internal/format/hll", "index/term", "internal/engine/ranking"},
	{"encoding"},
	{"internal/format/projection"},
	{"internal/format/schema", "internal/format/arrowmap"},
	{"internal/format/container"},
	{"storage"},
	{"rntuple/internal/envelope"},
	{"rntuple/internal/column", "rntuple/internal/wire", "blockpack/internal/column", "blockpack/internal/fields"},
	{"gen"},
	{"internal/format/edition", "internal/format/decimal", "internal/format/postings", "internal/engine/rowset", "internal/engine/rowfile", "internal/engine/pattern", "internal/text", "internal/arrow", "internal/bench/measure", "internal/base"},
}

// testHelpers are packages that only tests import.
var testHelpers = []string{"internal/testing", "internal/lint", "storage/storetest", "shard/internal/docs"}

func forTests(pkg string) bool { return rowOf(pkg) == 0 }

// Packages that some row must not import although they are below it, or outside of the module. A name stands for a
// package and those below it. Indirect imports within this module count, too.
var forbidden = []struct {
	row    string
	use    []string
	reason string
}{
	{"encoding", []string{arrow, protobuf, flatbuffers, "os", "net", "io/fs"}, "encodings turn slices into bytes and back, nothing else"},
	{"internal/format/schema", []string{arrow, protobuf, "os", "net"}, "a schema is read in place, and knows no data"},
	{"internal/format/container", []string{arrow}, "the container knows bytes"},
	{"storage", []string{arrow, protobuf, flatbuffers}, "storage knows bytes"},
	{"internal/engine/predicate", []string{own("shard"), own("storage")}, "conditions look at values, not at files"},
	{"internal/engine/ast", []string{arrow}, "trees and their text need no data"},
	{"internal/engine/pattern", []string{arrow}, "patterns match bytes"},
	{"filter", []string{own("shard"), own("storage")}, "filters look at values, not at files"},
	{"internal/engine/table", []string{own("shard"), protobuf}, "the engine reads any table"},
	{"internal/engine/scan", []string{own("shard"), protobuf}, "the engine reads any table"},
	{"internal/engine/take", []string{own("shard"), protobuf}, "the engine reads any table"},
	{"shard/internal/shardfile", []string{own("filter"), own("index"), own("shard/internal/index")}, "a shard file evaluates nothing"},
	{"dictionary", []string{own("shard"), own("stripe"), own("storage"), arrow}, "bytes in, bytes out"},
	{"sbbf", []string{own("storage"), arrow}, "bytes in, bytes out"},
	{"internal/format/hll", []string{own("storage"), arrow}, "bytes in, bytes out"},
	{"shard/internal/stats", []string{own("storage"), arrow}, "bytes in, bytes out"},
	{"rntuple", []string{own("shard"), own("stripe")}, "RNTuples meet shards as Arrow batches"},
	{"rntuple/internal/compress", []string{arrow, own("storage")}, "bytes in, bytes out"},
	{"rntuple/internal/rootfile", []string{arrow}, "a ROOT file holds bytes"},
	{"rntuple/internal/envelope", []string{arrow, own("storage"), "os", "net"}, "metadata: bytes in, bytes out"},
	{"rntuple/internal/write", []string{own("internal/engine"), own("rntuple/internal/read")}, "writing knows no reader"},
	{"rntuple/internal/column", []string{arrow, own("storage"), "os", "net"}, "pages: bytes in, bytes out"},
	{"blockpack/internal/layout", []string{arrow, protobuf}, "structures are bytes"},
	{"blockpack/internal/ranges", []string{arrow, protobuf, own("storage")}, "an index is bytes"},
	{"blockpack/internal/column", []string{arrow, protobuf, own("storage"), "os", "net"}, "columns: bytes in, bytes out"},
	{"blockpack/internal/read", []string{own("blockpack/internal/otlp"), own("blockpack/internal/write")}, "reading knows columns, not messages"},
	{"blockpack/internal/write", []string{own("internal/engine"), own("blockpack/internal/read")}, "writing knows no reader"},
	{"table", []string{own("shard"), own("stripe"), own("encoding")}, "other formats meet shards as Arrow batches; the list of all formats is excepted"},
}

const (
	arrow       = "github.com/apache/arrow-go"
	protobuf    = "google.golang.org/protobuf"
	flatbuffers = "github.com/google/flatbuffers"
)

func own(path string) string { return module + "/" + path }

// importGraph maps each package of the module, by its path in it, to the imports of its non-test files.
func importGraph(t *testing.T) map[string][]string {
	graph := map[string][]string{}
	goFiles(t, func(f file, _ *token.FileSet, syntax *ast.File) {
		if f.test() {
			return
		}
		for _, spec := range syntax.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err == nil && !slices.Contains(graph[f.dir()], path) {
				graph[f.dir()] = append(graph[f.dir()], path)
			}
		}
	})
	return graph
}

// within reports whether a package is the named one or below it.
func within(pkg, name string) bool {
	return pkg == name || strings.HasPrefix(pkg, name+"/")
}

// rowOf returns the row of a package of the module, or -1.
func rowOf(pkg string) int {
	row, longest := -1, 0
	for i, names := range rows {
		for _, name := range names {
			if within(pkg, name) && len(name) > longest {
				row, longest = i, len(name)
			}
		}
	}
	return row
}

func TestImportsPointDownward(t *testing.T) {
	for pkg, imports := range importGraph(t) {
		from := rowOf(pkg)
		if from < 0 {
			t.Errorf("%s has no row: add it to the table, with what it may import", pkg)
			continue
		}
		for _, path := range imports {
			target, ok := strings.CutPrefix(path, module+"/")
			switch {
			case !ok || rowOf(target) >= from || within(pkg, "bench") && forTests(target):
			case forTests(target):
				t.Errorf("%s imports %s, which is for tests", pkg, target)
			default:
				t.Errorf("%s imports %s, which is above it", pkg, target)
			}
		}
	}
}

func TestForbiddenImports(t *testing.T) {
	graph := importGraph(t)
	for _, rule := range forbidden {
		for pkg := range graph {
			if !within(pkg, rule.row) || pkg == "table/formats" {
				continue
			}
			for path, through := range reach(graph, pkg) {
				for _, use := range rule.use {
					if within(path, use) {
						t.Errorf("%s imports %s (in %s): %s", pkg, path, through, rule.reason)
					}
				}
			}
		}
	}
}

// reach maps each direct and indirect import of a package to the package that imports it.
func reach(graph map[string][]string, pkg string) map[string]string {
	seen := map[string]string{}
	var visit func(string)
	visit = func(pkg string) {
		for _, path := range graph[pkg] {
			if seen[path] == "" {
				seen[path] = pkg
				if target, ok := strings.CutPrefix(path, module+"/"); ok {
					visit(target)
				}
			}
		}
	}
	visit(pkg)
	return seen
}

// TestLinkedByShard keeps dependencies of single table formats out of programs that use shards.
func TestLinkedByShard(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "./shard", "./table/provider", "./table/text", "./table/internal/arrowipc")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, linked := range strings.Fields(string(out)) {
		for _, unwanted := range []string{"parquet", "thrift", "brotli"} {
			if strings.Contains(linked, unwanted) {
				t.Errorf("shard or a format other than Parquet links %s into every program that imports it", linked)
			}
		}
	}
}

// Modules of the clients of clouds, which only their stores link.
var cloudClients = []string{"aws", "minio", "cloud.google.com", "azure", "gocloud.dev"}

// TestLibraryLinksNoCloud keeps the clients of clouds out of programs that import no store of theirs.
func TestLibraryLinksNoCloud(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "./shard", "./table/...", "./rntuple", "./blockpack", "./storage", "./storage/http", "./cmd/amudai/internal/command/...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, linked := range strings.Fields(string(out)) {
		for _, client := range cloudClients {
			if strings.Contains(strings.ToLower(linked), client) {
				t.Errorf("%s is linked into programs that import no store of that cloud", linked)
			}
		}
	}
}

// Modules for comparisons and tests, by the package that may import them. No user of the library depends on them.
var onlyFor = map[string]string{"github.com/parquet-go": "bench", "github.com/duckdb": "sql", "go.opentelemetry.io": "internal/testing/otlpgen", "go-hep.org": "internal/testing"}

func TestModulesForOnePackage(t *testing.T) {
	for pkg, imports := range importGraph(t) {
		for _, path := range imports {
			for use, owner := range onlyFor {
				if within(path, use) && !within(pkg, owner) {
					t.Errorf("%s imports %s, which is only for %s", pkg, path, owner)
				}
			}
		}
	}
}
