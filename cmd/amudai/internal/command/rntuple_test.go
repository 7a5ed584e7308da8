package command_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/rntuple"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// rootFiles copies ROOT files of the repository to a folder, which becomes the working directory.
func rootFiles(t *testing.T, names ...string) {
	t.Helper()
	from, err := filepath.Abs(filepath.Join("..", "..", "..", "..", "rntuple", "testdata", "corpus"))
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(from, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(name, b, 0o600))
	}
}

// Mistakes on the command line of merge have hints.
func TestMergeNTuplesUsage(t *testing.T) {
	rootFiles(t, "uproot_subdir_two.root")
	for args, want := range map[string]string{
		"merge uproot_subdir_two.root:two -o out.root":                 "--table two",
		"merge - -o out.root":                                          "no standard input",
		"merge uproot_subdir_two.root -o out.root --own":               "--own is for shards",
		"merge uproot_subdir_two.root -o out.amudai.shard --table two": "are for ROOT files",
	} {
		r := run(t, strings.Fields(args)...)
		require.Equal(t, app.ExitUsage, r.code, args)
		require.Contains(t, r.errout, want)
		require.NoFileExists(t, "out.root")
	}
}

// Every command works on RNTuples.
func TestRNTuple(t *testing.T) {
	rootFiles(t, "uproot_subdir_two.root", "uproot_nested_zstd.root", "corrupt_page.root", "unknown_column_type.root")
	for _, c := range []struct {
		args string
		want []string // parts of stdout
		fail string   // part of stderr, of a command that fails
	}{
		{"inspect uproot_subdir_two.root", []string{"dir/sub/one: entries", "two: format", "TDirectory"}, ""},
		{"inspect -vvv uproot_subdir_two.root:two", []string{"clusters", "pages", "Real64"}, ""},
		{"inspect --json uproot_subdir_two.root", []string{`"name": "two: entries"`}, ""},
		{"inspect --hex uproot_subdir_two.root:two", []string{`name "y"`, "page 0 of column 0", "key list"}, ""},
		{"inspect --hex --column v uproot_nested_zstd.root", []string{"(v, Index64)", "(v._0, Int64)", "zstd, unpacks to"}, ""},
		{"stats uproot_nested_zstd.root", []string{"std::variant<", "bits per element"}, ""},
		{"stats --columns v uproot_nested_zstd.root", []string{"v._0"}, ""},
		{"stats --columns nothing uproot_nested_zstd.root", nil, "amudai schema lists the columns"},
		{"schema uproot_nested_zstd.root", []string{"opt: float64  # std::optional<double>"}, ""},
		{"schema --stored uproot_nested_zstd.root", []string{"v._0", "std::int64_t", "Int64"}, ""},
		{"head uproot_subdir_two.root", nil, `has 2 RNTuples, name one: "two", "dir/sub/one"`},
		{"head uproot_subdir_two.root:dir/sub/one", []string{"x"}, ""},
		{"head uproot_subdir_two.root:three", nil, `no RNTuple "three"`},
		{"merge missing.root -o out.root", nil, "missing.root does not exist"},
		{"merge uproot_subdir_two.root -o out.root --table three", nil, `no RNTuple "three"`},
		{"merge uproot_subdir_two.root corrupt_page.root -o out.root", nil, "checksum"},
		{"merge uproot_subdir_two.root uproot_subdir_two.root -o out.root --json", []string{`"dir/sub/one"`, `"encoded_pages": 0`}, ""},
		{"head missing.root:three", nil, "missing.root does not exist"},
		{"cat uproot_nested_zstd.root --columns rec.a,s --where rec.a>40 --format csv", []string{"rec,s"}, ""},
		{"scan --count uproot_nested_zstd.root --where rec.a>=0", []string{"50"}, ""},
		{"scan --count --limit 7 uproot_nested_zstd.root", []string{"7\n"}, ""},
		{"scan --explain uproot_nested_zstd.root --where rec.a>=0 --columns s", []string{"columns: s\n", "looks at: rec.a", "rows:    50 of 50"}, ""},
		{"scan --analyze uproot_nested_zstd.root --where rec.a>40", []string{"result:  9 rows in 1 batch", "of 50 rows\n"}, ""},
		{"scan --analyze --count uproot_subdir_two.root:two", []string{"columns: none\n"}, ""},
		{"scan --explain uproot_subdir_two.root", nil, `has 2 RNTuples`},
		{"scan --explain uproot_nested_zstd.root --columns nothing", nil, "amudai schema lists the columns"},
		{"head uproot_subdir_two.root --table dir/sub/one", []string{"x"}, ""},
		{"verify uproot_nested_zstd.root uproot_subdir_two.root", []string{"sound; checked", "have no checksum", "2 RNTuples"}, ""},
		{"verify --json uproot_subdir_two.root:two", []string{`"sound": true`, `"RNTuples": 1`}, ""},
		{"verify corrupt_page.root", []string{"checksum mismatch", "2 problems"}, "-"},
		{"verify --metadata corrupt_page.root", []string{"metadata sound"}, ""},
		{"cat corrupt_page.root", nil, "amudai verify lists the damage)"},
		{"cat unknown_column_type.root", []string{"n\n0\n1\n"}, ""},
	} {
		t.Run(c.args, func(t *testing.T) {
			r := run(t, strings.Fields(c.args)...)
			for _, want := range c.want {
				require.Contains(t, r.out, want)
			}
			if c.fail == "" {
				require.Equal(t, app.ExitOK, r.code, r.errout)
				return
			}
			require.Equal(t, app.ExitFailure, r.code)
			if c.fail != "-" {
				require.Contains(t, r.errout, c.fail)
			}
		})
	}
	require.Contains(t, run(t, "cat", "unknown_column_type.root").errout, `field "x" is left out`)
}

// An RNTuple is converted to every format and back with the same values.
func TestRNTupleConvert(t *testing.T) {
	rootFiles(t, "uproot_nested_zstd.root", "uproot_nested_3clusters_none.root", "column_zoo.root", "uproot_fixedarray.root")
	for _, name := range []string{"uproot_nested_zstd", "uproot_nested_3clusters_none", "column_zoo", "uproot_fixedarray"} {
		want := ok(t, "cat", "--format", "json", name+".root")
		for _, e := range []string{".amudai.shard", ".parquet", ".arrow", ".arrows", ".copy.root"} {
			ok(t, "convert", "-q", name+".root", name+e)
			require.Equal(t, want, ok(t, "cat", "--format", "json", name+e), name+e)
		}
		for _, e := range []string{".csv", ".json", ".jsonl"} {
			ok(t, "convert", "-q", name+".root", name+e)
		}
		ok(t, "verify", name+".amudai.shard")
		ok(t, "verify", name+".copy.root")
	}
}

// A shard of an RNTuple has its clusters as stripes, and its C++ types and descriptions.
func TestRNTupleShard(t *testing.T) {
	rootFiles(t, "uproot_nested_3clusters_none.root")
	ok(t, "convert", "-q", "uproot_nested_3clusters_none.root", "a.amudai.shard")
	s, err := shard.Open(t.Context(), "a.amudai.shard", shard.OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	require.Equal(t, 2, s.NumStripes(), "the cluster in the middle is empty")
	a, err := s.ArrowSchema(t.Context())
	require.NoError(t, err)
	schemaMetadata := a.Metadata()
	name, found := schemaMetadata.GetValue("rntuple.name")
	require.True(t, found)
	require.Equal(t, "ntuple", name)
	f, found := a.FieldsByName("opt")
	require.True(t, found)
	cpp, found := f[0].Metadata.GetValue("rntuple.type")
	require.True(t, found)
	require.Equal(t, "std::optional<double>", cpp)
	require.Equal(t, ok(t, "schema", "uproot_nested_3clusters_none.root"), ok(t, "schema", "a.amudai.shard"))
}

// A shard of an RNTuple, written back, gives an RNTuple with the same values, fields, C++ types, descriptions and clusters.
func TestRNTupleShardAndBack(t *testing.T) {
	names := []string{
		"plain.root", "big_header.root", "chunked.root", "column_zoo.root", "split_real16.root", "type_conversions.root",
		"uproot_basic_zstd.root", "uproot_empty.root", "uproot_fixedarray.root", "uproot_nested_zstd.root", "uproot_nested_3clusters_none.root",
	}
	rootFiles(t, names...)
	for _, name := range names {
		ok(t, "convert", "-q", name, "a.amudai.shard")
		ok(t, "convert", "-q", "a.amudai.shard", "back.root")
		requireSameRNTuple(t, name, "back.root")
		require.Equal(t, ok(t, "cat", "--format", "json", name), ok(t, "cat", "--format", "json", "back.root"), name)
		require.NoError(t, os.Remove("a.amudai.shard"))
		require.NoError(t, os.Remove("back.root"))
	}
}

// requireSameRNTuple compares what two files say of their entries. Clusters without entries do not count.
func requireSameRNTuple(t *testing.T, want, got string) {
	t.Helper()
	var schemas [2]*arrow.Schema
	var clusters [2][]int64 // their entries
	for i, name := range []string{want, got} {
		ntuple, err := table.OpenWith(t.Context(), table.OpenOptions{Formats: []provider.Format{rntuple.New(rntuple.FormatOptions{})}}, name)
		require.NoError(t, err)
		defer ntuple.Close()
		plan, err := ntuple.Plan(t.Context(), table.ScanOptions{})
		require.NoError(t, err)
		schemas[i] = plan.Schema
		for _, s := range plan.Parts[0].Explanation.Stripes {
			if s.Rows > 0 {
				clusters[i] = append(clusters[i], s.Rows)
			}
		}
	}
	a, b := schemas[0], schemas[1]
	require.Equal(t, a.NumFields(), b.NumFields(), want)
	for i, f := range a.Fields() {
		require.True(t, f.Equal(b.Field(i)), "%s: %v\n%v", want, f, b.Field(i))
	}
	for _, key := range []string{"rntuple.name", "rntuple.description"} {
		require.Equal(t, a.Metadata().ToMap()[key], b.Metadata().ToMap()[key], want)
	}
	require.Equal(t, clusters[0], clusters[1], want)
}

// RNTuples are read by URL, and a file whose name has a colon is a file.
func TestRNTupleLocations(t *testing.T) {
	rootFiles(t, "uproot_subdir_two.root", "plain.root")
	server := httptest.NewServer(http.FileServer(http.Dir(".")))
	defer server.Close()
	for _, verb := range []string{"head", "inspect", "stats", "verify", "schema"} {
		require.Equal(t, strings.ReplaceAll(ok(t, verb, "uproot_subdir_two.root:two"), "uproot_", server.URL+"/uproot_"),
			strings.ReplaceAll(ok(t, verb, server.URL+"/uproot_subdir_two.root:two"), "\x00", ""), verb)
	}
	require.NoError(t, os.Rename("plain.root", "uproot_subdir_two.root:two"))
	require.Contains(t, ok(t, "schema", "uproot_subdir_two.root:two"), "n: int32")
}

// Clusters become stripes, and stripes become clusters. A copy in the same format has the stripes or clusters of the
// options.
func TestRNTupleClusters(t *testing.T) {
	rootFiles(t, "uproot_nested_3clusters_none.root")
	ok(t, "convert", "-q", "uproot_nested_3clusters_none.root", "a.amudai.shard")
	ok(t, "convert", "-q", "a.amudai.shard", "b.root")
	require.Regexp(t, `clusters +2\n`, ok(t, "inspect", "b.root"))
	ok(t, "convert", "-q", "a.amudai.shard", "b.amudai.shard")
	require.Regexp(t, `stripes +1\n`, ok(t, "inspect", "b.amudai.shard"))
	ok(t, "convert", "-q", "--stripe-rows", "1000", "uproot_nested_3clusters_none.root", "c.amudai.shard")
	require.Regexp(t, `stripes +1\n`, ok(t, "inspect", "c.amudai.shard"))
	require.Equal(t, ok(t, "cat", "--format", "json", "uproot_nested_3clusters_none.root"), ok(t, "cat", "--format", "json", "b.root"))
	require.Equal(t, ok(t, "schema", "uproot_nested_3clusters_none.root"), ok(t, "schema", "b.root"))
}

// A count up to a limit is the same for all formats.
func TestRNTupleCountLimit(t *testing.T) {
	rootFiles(t, "uproot_nested_zstd.root")
	ok(t, "convert", "-q", "uproot_nested_zstd.root", "a.amudai.shard")
	for limit, want := range map[string]string{"0": "0\n", "3": "3\n", "100": "50\n", "-1": "50\n"} {
		for _, name := range []string{"uproot_nested_zstd.root", "a.amudai.shard"} {
			require.Equal(t, want, ok(t, "scan", "--count", "--limit", limit, name), "%s of %s", limit, name)
		}
	}
}

// --table chooses an ntuple of what has no location: stdin and compressed files.
func TestRNTupleTable(t *testing.T) {
	rootFiles(t, "uproot_subdir_two.root")
	b, err := os.ReadFile("uproot_subdir_two.root")
	require.NoError(t, err)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = z.Write(b)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, os.WriteFile("a.root.gz", packed.Bytes(), 0o600))
	for _, path := range []string{"two", "dir/sub/one"} {
		want := ok(t, "cat", "uproot_subdir_two.root:"+path)
		require.Equal(t, want, ok(t, "cat", "uproot_subdir_two.root", "--table", path))
		require.Equal(t, want, ok(t, "cat", "a.root.gz", "--table", path))
		r := runEnv(t, app.Env{Args: []string{"cat", "-", "--table", path}, Stdin: io.MultiReader(bytes.NewReader(b))})
		require.Equal(t, want, r.out, r.errout)
	}
	require.Contains(t, run(t, "cat", "uproot_subdir_two.root:two", "--table", "one").errout, "names a table, and --table one another one")
	require.Contains(t, run(t, "scan", "--explain", "a.root.gz").errout, "cannot be explained: it is compressed")
}

// Options of RNTuples: columns that may have nulls become plain fields if they have none, and projected fields are left
// out on request.
func TestRNTupleFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a.csv", []byte("n,x\n1,2.5\n3,4.5\n"), 0o600))
	require.NoError(t, os.WriteFile("b.csv", []byte("n,x\n1,\n"), 0o600))
	ok(t, "convert", "-q", "a.csv", "a.root")
	require.Contains(t, ok(t, "schema", "a.root"), "x: float64  # std::optional<double>")
	ok(t, "convert", "-q", "-f", "a.csv", "a.root", "--no-nulls")
	require.Contains(t, ok(t, "schema", "a.root"), "x: float64 not null  # double")
	require.Contains(t, run(t, "convert", "-q", "b.csv", "b.root", "--no-nulls", "--schema", "x:float64").errout, "a null, where the field is not nullable")
	require.Contains(t, run(t, "convert", "-q", "a.csv", "a.parquet", "--no-nulls").errout, "--no-nulls is only for RNTuple")
	require.NoError(t, os.WriteFile("c.csv", []byte("n\n"+strings.Repeat("12345\n", 100_000)), 0o600))
	for compression, most := range map[string]int64{"0": 1 << 20, "101": 100_000, "505": 100_000} {
		ok(t, "convert", "-q", "-f", "c.csv", "c.root", "--ntuple", "dir/events", "--compression", compression, "--cluster-bytes", "64KiB", "--no-nulls")
		require.Equal(t, "100000\n", ok(t, "count", "c.root:dir/events"))
		info, err := os.Stat("c.root")
		require.NoError(t, err)
		require.Less(t, info.Size(), most)
		if compression == "0" {
			require.Greater(t, info.Size(), int64(400_000))
			require.Regexp(t, `clusters +\d\d`, ok(t, "inspect", "c.root:dir/events"))
		}
	}
	require.Contains(t, run(t, "convert", "-q", "a.csv", "d.root", "--compression", "77").errout, "ompression")

	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int32}}, nil))
	b.Field(0).(*array.Int32Builder).AppendValues([]int32{1, 2}, nil)
	batch := b.NewRecordBatch()
	w, err := rntuple.Create(t.Context(), "p.root", batch.Schema(), rntuple.WriterOptions{Projections: []rntuple.Projection{{Name: "again", Source: "n"}}})
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), batch))
	require.NoError(t, w.Close(t.Context()))
	require.Equal(t, "n,again\n1,1\n2,2\n", ok(t, "cat", "p.root", "--format", "csv"))
	require.Equal(t, "n\n1\n2\n", ok(t, "cat", "p.root", "--format", "csv", "--no-projected"))
}

// Entries are appended to a ROOT file, with its other ntuples where they are. No other format is appended to.
func TestAppendNTuples(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a.csv", []byte("n,s\n1,x\n2,y\n"), 0o600))
	require.NoError(t, os.WriteFile("b.csv", []byte("n,t\n3,z\n"), 0o600))
	ok(t, "convert", "-q", "a.csv", "a.root")
	ok(t, "convert", "-q", "b.csv", "b.root")
	r := run(t, "merge", "a.root", "-o", "all.root", "--append")
	require.Equal(t, app.ExitOK, r.code, r.errout)
	require.Contains(t, ok(t, "merge", "b.root", "-o", "all.root", "--append", "--dry-run"), "1 file behind all.root: 1 ntuple, 1 row")
	r = run(t, "merge", "b.root", "-o", "all.root", "--append")
	require.Equal(t, app.ExitOK, r.code, r.errout)
	require.Contains(t, r.errout, "some files lack ntuple.s, ntuple.t")
	require.Equal(t, "n,s,t\n1,x,\n2,y,\n3,,z\n", ok(t, "cat", "--format", "csv", "all.root"))
	require.Contains(t, ok(t, "verify", "all.root"), "all.root")
	ok(t, "convert", "-q", "b.csv", "c.root", "--ntuple", "dir/other")
	ok(t, "merge", "-q", "c.root", "-o", "all.root", "--append") // another ntuple, which is added
	require.Equal(t, "3\n1\n", ok(t, "count", "all.root:ntuple")+ok(t, "count", "all.root:dir/other"))
	r = run(t, "merge", "a.root", "-o", "all.root")
	require.Contains(t, r.errout, "--force")
	for output, want := range map[string]string{"x.amudai.shard": "are for ROOT files", "x.blockpack": "amudai blockpack merge"} {
		r = run(t, "merge", "a.root", "-o", output, "--append")
		require.Equal(t, app.ExitUsage, r.code)
		require.Contains(t, r.errout, want)
	}
}
