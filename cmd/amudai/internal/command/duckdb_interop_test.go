package command_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/stretchr/testify/require"
)

// duckTable opens what DuckDB reads of a table: an Arrow file, or the result of a call.
const duckTable = `
import sys, json, math, duckdb, pyarrow as pa
def table(source):
    db = duckdb.connect()
    db.execute("set timezone = 'UTC'; set threads = 1; set enable_progress_bar = false") # the bar of a slow question is on stdout
    if source.endswith(".arrow"):
        rows = pa.ipc.open_file(source).read_all()
        for i, f in enumerate(rows.schema):
            if f.type == pa.float16():
                rows = rows.set_column(i, f.name, rows.column(i).cast(pa.float32())) # which DuckDB reads float16 of Parquet as
        source = "rows"
    db.execute("create temp table t as select * from " + source)
    for name, dt, *_ in db.execute("describe t").fetchall():
        if dt.startswith("GEOMETRY"): # which has no order, and its bytes have
            db.execute('alter table t alter "%s" type blob using "%s"::blob' % (name, name))
    return db
`

// duckResults compares results with those of DuckDB. Lines of stdin are what DuckDB reads, a query of a table t, and a file with our
// result. Floats may differ by rounding.
const duckResults = duckTable + `
def same(a, b):
    if a is None or b is None: return a is b
    if isinstance(a, float) or isinstance(b, float):
        a, b = float(a), float(b)
        if math.isnan(a) or math.isnan(b): return math.isnan(a) and math.isnan(b)
        return a == b or abs(a - b) <= 1e-12 * max(abs(a), abs(b))
    if isinstance(a, dict): return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)): return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return a == b
def plain(dt): # without times, which may be in years that Python does not have
    if pa.types.is_list(dt): return pa.list_(plain(dt.value_type))
    if pa.types.is_struct(dt): return pa.struct([(f.name, plain(f.type)) for f in dt])
    return pa.int64() if pa.types.is_timestamp(dt) else dt
def rows(of, like):
    for i, f in enumerate(like):
        if plain(f.type) != f.type:
            of = of.set_column(i, f.name, of.column(i).cast(f.type).cast(plain(f.type)))
    return of.to_pylist()
bad, last = 0, None
def differ(*what):
    global bad
    bad += 1
    print(source, "\n  ", query[:1000], *["\n    " + str(w)[:1000] for w in what], file=sys.stderr)
for line in sys.stdin:
    source, query, result = json.loads(line)
    if source != last:
        db, last = table(source), source
    got = pa.ipc.open_file(result).read_all()
    try:
        want = db.sql(query).to_arrow_table()
    except Exception as e:
        differ("DuckDB: " + str(e)[:200])
        continue
    if got.num_columns != want.num_columns or got.num_rows != want.num_rows:
        differ("want %d columns, %d rows" % (want.num_columns, want.num_rows), "got  %d columns, %d rows" % (got.num_columns, got.num_rows))
        continue
    for x, y in zip(rows(want, want.schema), rows(got.rename_columns(want.column_names), want.schema)):
        if not same(x, y):
            differ("want " + str(x), "got  " + str(y))
            break
sys.exit(min(bad, 1))
`

// duckRefuses prints why DuckDB does not read a file: its error, or values that are not ours. Lines of stdin are a call, and a file with the Arrow that
// amudai makes of the same.
const duckRefuses = duckTable + `
for line in sys.stdin:
    call, ours = json.loads(line)
    try:
        db = table(call)
        rows = pa.ipc.open_file(ours).read_all()
        print(json.dumps("other values: " + str(db.sql("select #1::varchar from (select * from t except all select * from rows)").fetchall())))
    except Exception as e:
        print(json.dumps(str(e)))
`

// python is a Python with duckdb and pyarrow (make interop).
func python(t *testing.T) string {
	p := os.Getenv("AMUDAI_PYTHON")
	if p == "" {
		t.Skip("AMUDAI_PYTHON names no Python with duckdb and pyarrow")
	}
	return p
}

// duckQuestions are lines for one of the scripts.
type duckQuestions struct{ bytes.Buffer }

func (q *duckQuestions) add(t *testing.T, question any) {
	require.NoError(t, json.NewEncoder(q).Encode(question))
}

// ask returns the lines that a script prints. Differences are a failure.
func (q *duckQuestions) ask(t *testing.T, script string) []string {
	cmd := exec.Command(python(t), "-c", script)
	var errout bytes.Buffer
	cmd.Stdin, cmd.Stderr = q, &errout
	out, err := cmd.Output()
	require.NoError(t, err, errout.String())
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// corpusTable is a table of the corpus, as amudai and DuckDB read it.
type corpusTable struct {
	name string   // below the folder of the corpus; one of several tables of a ROOT file has its path behind a colon
	in   []string // the path, and flags
	duck string   // the call that reads the same file; or else a file with the Arrow that amudai makes of it
}

// comparedRows are the rows of a table that questions are about. Few tables have more, and of these Python compares the results too slowly.
const comparedRows = 200_000

// refusedTables are the tables of the corpus that amudai does not read, by a part of its error.
var refusedTables = map[string]string{
	"parquet-testing/bad_data/ARROW-GH-41317.parquet":               "corrupt: no page at 3015",
	"parquet-testing/bad_data/ARROW-GH-41321.parquet":               "corrupt: codes of 254 bits",
	"parquet-testing/bad_data/ARROW-GH-45185.parquet":               "nonzero repetition level",
	"parquet-testing/bad_data/ARROW-GH-47662.parquet":               "corrupt: the page has too few values",
	"parquet-testing/bad_data/ARROW-RS-GH-6229-DICTHEADER.parquet":  "lie outside the file",
	"parquet-testing/bad_data/ARROW-RS-GH-6229-LEVELS.parquet":      "unexpected EOF",
	"parquet-testing/bad_data/PARQUET-1481.parquet":                 "invalid physical column type",
	"parquet-testing/data/incorrect_map_schema.parquet":             "MAP keys must be required",
	"parquet-testing/data/large_string_map.brotli.parquet":          "exceeds configured limit",
	"rntuple/legacy/gohep-ntpl001_staff.root":                       "RNTuple of a pre-release",
	"rntuple/legacy/test_ntuple_1jag_int_float__1c15ca03.root":      "RNTuple of a pre-release",
	"rntuple/legacy/test_ntuple_bit__94f131bd.root":                 "RNTuple of a pre-release",
	"rntuple/legacy/test_ntuple_int_5e4__276a961f.root":             "RNTuple of a pre-release",
	"rntuple/legacy/test_ntuple_int_5e4__94f131bd.root":             "RNTuple of a pre-release",
	"rntuple/legacy/test_ntuple_int_float__bded6ba0.root":           "RNTuple of a pre-release",
	"rntuple/legacy/test_ntuple_int_float__df32e937.root":           "RNTuple of a pre-release",
	"rntuple/legacy/test_ntuple_int_multicluster__94f131bd.root":    "RNTuple of a pre-release",
	"rntuple/legacy/test_ntuple_int_vfloat_tlv_vtlv__276a961f.root": "RNTuple of a pre-release",
	"rntuple/legacy/test_ntuple_split_3e4__c0e2ed9c.root":           "RNTuple of a pre-release",
	"rntuple/legacy/test_ntuple_stl_containers__94f131bd.root":      "RNTuple of a pre-release",
	"rntuple/legacy/test_ntuple_stl_containers__a5c1d100.root":      "RNTuple of a pre-release",
	"rntuple/legacy/uproot-ntpl001_staff__b65b2397.root":            "RNTuple of a pre-release",
	"rntuple/legacy/uproot_ntuple_bit_629_01__a3d72459.root":        "RNTuple of a pre-release",
	"rntuple/legacy/uproot_ntuple_int_5e4_629_01__a3d72459.root":    "RNTuple of a pre-release",
	"rntuple/synthetic/corrupt_page.root":                           "checksum mismatch",
	"rntuple/synthetic/epoch2.root":                                 "epoch 2 is not known",
	"rntuple/synthetic/feature_flag_bit0.root":                      "feature flag 0",
	"rntuple/synthetic/feature_flag_chain.root":                     "feature flag 137",
	"rntuple/synthetic/feature_flag_footer.root":                    "feature flag 2",
	"rntuple/synthetic/sharded_cluster.root":                        "sharded cluster",
}

// refusedByDuckDB are the Parquet files of the corpus that amudai reads and DuckDB does not, or not as they are: by a part of what duckRefuses prints.
// It gets them as Arrow.
var refusedByDuckDB = map[string]string{
	"parquet-testing/data/byte_stream_split_extended.gzip.parquet": "BYTE_STREAM_SPLIT encoding is only supported",
	"parquet-testing/data/int96_from_spark.parquet":                "226414-01-07 (BC)", // for a day in the year 290000
	"parquet-testing/data/map_no_value.parquet":                    "MAP_KEY_VALUE requires two children",
}

// corpusTables are all tables of the corpus that amudai reads. DuckDB reads Parquet, CSV and JSON by itself; RNTuples, traces and logs, which it does not know,
// and Parquet that it refuses, it gets as the Arrow that amudai makes of them. (Package rntuple compares RNTuples with uproot and JSROOT.)
func corpusTables(t *testing.T) (list []corpusTable) {
	root, dir := corpus(t, ""), t.TempDir()
	refused := map[string]bool{}
	add := func(name, path string) {
		c := corpusTable{name: name, in: []string{path}, duck: filepath.Join(dir, fmt.Sprint(len(list), ".arrow"))}
		many := false
		if n, err := strconv.Atoi(strings.TrimSpace(run(t, "count", path).out)); err == nil && n > comparedRows {
			c.in = append(c.in, fmt.Sprint("--rows=:", comparedRows))
			many = true
		}
		r := run(t, c.args("convert", "--quiet", c.duck)...)
		if why := refusedTables[name]; why != "" {
			require.NotZero(t, r.code, "%s can be read now", name)
			require.Contains(t, r.errout, why, name)
			refused[name] = true
			return
		}
		require.Zero(t, r.code, r.errout)
		if read := map[string]string{".parquet": "read_parquet", ".csv": "read_csv", ".json": "read_json"}[filepath.Ext(path)]; read != "" && refusedByDuckDB[name] == "" {
			call := fmt.Sprintf("%s('%s')", read, path)
			if read == "read_csv" { // which trims names
				call += fmt.Sprintf(" as csv(%s)", strings.Join(quotedNames(t, c.duck), ", "))
			}
			require.NoError(t, os.Remove(c.duck))
			c.duck = call
			if many {
				c.duck = fmt.Sprintf("(select * from %s limit %d)", c.duck, comparedRows)
			}
		}
		list = append(list, c)
	}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		require.NoError(t, err)
		name := filepath.ToSlash(rel)
		switch filepath.Ext(name) {
		case ".root":
			for _, of := range tablesOf(t, path) {
				add(name+of, path+of)
			}
		case ".parquet", ".csv", ".log", ".otlp", ".zst":
			add(name, path)
		case ".json":
			if strings.HasPrefix(name, "tables/") { // others describe RNTuples
				add(name, path)
			}
		}
		return nil
	}))
	require.Len(t, refused, len(refusedTables))
	return list
}

// quotedNames are the columns of an Arrow file, as conditions and SQL quote names.
func quotedNames(t *testing.T, path string) (list []string) {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	r, err := ipc.NewFileReader(f)
	require.NoError(t, err)
	defer r.Close()
	for _, f := range r.Schema().Fields() {
		list = append(list, quotedName(f.Name))
	}
	return list
}

func quotedName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// args are those of a command on the table, of which flags may follow each other anywhere.
func (c corpusTable) args(name string, rest ...string) []string {
	return slices.Concat([]string{name}, c.in, rest)
}

// tablesOf are the paths of the tables of a ROOT file, each behind a colon, or "" for the only one.
func tablesOf(t *testing.T, path string) (list []string) {
	_, names, several := strings.Cut(run(t, "schema", path).errout, "RNTuples, name one: ")
	if !several {
		return []string{""}
	}
	for _, m := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(names, -1) {
		list = append(list, ":"+m[1])
	}
	return list
}

// firstRows are up to 1000 rows of a table.
func (c corpusTable) firstRows(t *testing.T) (*arrow.Schema, []arrow.RecordBatch) {
	r, err := ipc.NewFileReader(strings.NewReader(ok(t, c.args("head", "--limit", "1000", "--format", "arrow")...)))
	require.NoError(t, err)
	defer r.Close()
	var list []arrow.RecordBatch
	for i := range r.NumRecords() {
		b, err := r.RecordBatchAt(i)
		require.NoError(t, err)
		list = append(list, b)
	}
	return r.Schema(), list
}

// TestInteropCorpus asks DuckDB the same about all tables of the corpus: aggregates, conditions and profiles.
func TestInteropCorpus(t *testing.T) {
	python(t)
	tables := corpusTables(t)
	t.Run("agg", func(t *testing.T) {
		var a aggQuestions
		r := rand.New(rand.NewPCG(3, 16))
		for _, c := range tables {
			s, _ := c.firstRows(t)
			a.add(t, r, c, s, 3)
		}
		a.ask(t, duckResults)
	})
	t.Run("where", func(t *testing.T) {
		var q duckQuestions
		r := rand.New(rand.NewPCG(5, 2))
		for _, c := range tables {
			s, rows := c.firstRows(t)
			addWhere(t, &q, r, c, s, rows)
		}
		q.ask(t, duckResults)
	})
	t.Run("stats", func(t *testing.T) {
		r := rand.New(rand.NewPCG(8, 1))
		var q statsQuestions
		for _, c := range tables {
			q.addTable(t, r, c)
		}
		q.check(t)
	})
	t.Run("refused", func(t *testing.T) {
		var q duckQuestions
		var want []string
		for _, c := range tables {
			if why := refusedByDuckDB[c.name]; why != "" {
				q.add(t, []string{fmt.Sprintf("read_parquet('%s')", c.in[0]), c.duck})
				want = append(want, why)
			}
		}
		require.Len(t, want, len(refusedByDuckDB))
		for i, got := range q.ask(t, duckRefuses) {
			require.Contains(t, got, want[i])
		}
	})
}
