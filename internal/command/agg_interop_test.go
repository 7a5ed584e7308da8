package command_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/arrowgen"
)

// duckAggregates compares results with those of DuckDB. Lines of stdin are a file, a query with a table t, and a file with the
// result. Floats may differ by rounding.
const duckAggregates = `
import sys, math, decimal, duckdb, pyarrow as pa
def same(a, b):
    if a is None or b is None: return a is b
    if isinstance(a, float) or isinstance(b, float):
        a, b = float(a), float(b)
        if math.isnan(a) or math.isnan(b): return math.isnan(a) and math.isnan(b)
        return a == b or abs(a - b) <= 1e-12 * max(abs(a), abs(b))
    if isinstance(a, dict): return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)): return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return a == b
bad = 0
for line in sys.stdin:
    path, query, result = line.rstrip("\n").split("\t")
    t = pa.ipc.open_file(path).read_all()
    got = pa.ipc.open_file(result).read_all()
    db = duckdb.connect()
    db.execute("set timezone = 'UTC'; set threads = 1")
    try:
        want = db.execute(query).to_arrow_table()
    except Exception as e:
        print(query, "\n  DuckDB:", str(e)[:200]); bad += 1; continue
    w = [tuple(r.values()) for r in want.to_pylist()] if want.num_columns else []
    g = [tuple(r.values()) for r in got.rename_columns(want.column_names).to_pylist()] if got.num_columns == want.num_columns else None
    if g is None or len(w) != len(g):
        print(path, query, "\n  rows:", len(w), "and", None if g is None else len(g)); bad += 1; continue
    for x, y in zip(w, g):
        if not same(x, y):
            print(path, query, "\n  want", x, "\n  got ", y); bad += 1; break
sys.exit(min(bad, 1))
`

// aggregatesOf are the calls that a column can take. Where DuckDB spells one differently, it follows a bar.
func aggregatesOf(dt arrow.DataType) []string {
	calls := []string{"count(%s)", "count(distinct %s)", "min(%s)", "max(%s)", "first(%s)", "last(%s)", "any_value(%s)", "quantile(%s, 0.4)|quantile_disc(%[1]s, 0.4)", "list(%s)"}
	switch id := dt.ID(); {
	case arrow.IsInteger(id), arrow.IsDecimal(id):
		calls = append(calls, "sum(%s)", "avg(%s)", "sum(distinct %s)", "stddev_pop(%s)")
	case arrow.IsFloating(id):
		calls = append(calls, "max(%s)", "min(%s)", "median(%s)")
	case id == arrow.BOOL:
		calls = append(calls, "bool_and(%s)", "bool_or(%s)", "sum(%s)")
	case id == arrow.STRING:
		calls = append(calls, "string_agg(%s, ';')")
	}
	return calls
}

type aggQuestion struct{ flags, query []string }

// randomAggregates makes a question about the columns of a table.
func randomAggregates(r *rand.Rand, s *arrow.Schema) aggQuestion {
	quoted := func(f arrow.Field) string { return `"` + strings.ReplaceAll(f.Name, `"`, `""`) + `"` }
	var keys, calls, duck []string
	for range r.IntN(3) {
		if k := quoted(s.Field(r.IntN(s.NumFields()))); !strings.Contains(strings.Join(keys, ","), k) {
			keys = append(keys, k)
		}
	}
	for i := range 1 + r.IntN(5) {
		f := s.Field(r.IntN(s.NumFields()))
		of := aggregatesOf(f.Type)
		ours, theirs, differs := strings.Cut(of[r.IntN(len(of))], "|")
		if !differs {
			theirs = ours
		}
		where := ""
		if r.IntN(4) == 0 {
			where = " filter (where " + quoted(s.Field(r.IntN(s.NumFields()))) + " is not null)"
		}
		calls = append(calls, fmt.Sprintf(ours, quoted(f))+where+fmt.Sprint(" as a", i))
		duck = append(duck, fmt.Sprintf(theirs, quoted(f))+where+fmt.Sprint(" as a", i))
	}
	q := aggQuestion{flags: []string{"count() as n, " + strings.Join(calls, ", "), "--by", strings.Join(keys, ", ")}}
	query := "select " + strings.Join(append(append([]string{}, keys...), "count(*) as n", strings.Join(duck, ", ")), ", ") + " from t"
	if len(keys) > 0 {
		query += " group by " + strings.Join(keys, ", ") + " order by " + strings.Join(keys, ", ")
	}
	q.query = []string{query}
	return q
}

// TestInteropAgg asks DuckDB the same random questions, about random tables and those of the corpus. AMUDAI_PYTHON is a Python with
// duckdb and pyarrow (make interop).
func TestInteropAgg(t *testing.T) {
	python := os.Getenv("AMUDAI_PYTHON")
	if python == "" {
		t.Skip("AMUDAI_PYTHON names no Python with duckdb and pyarrow")
	}
	corpus, err := filepath.Glob(filepath.Join(os.Getenv("AMUDAI_SHARED"), "corpus", "tables", "*"))
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	r := rand.New(rand.NewPCG(3, 15))
	var questions strings.Builder
	ask := func(path string, i int) {
		for k := range 6 {
			q := randomAggregates(r, schemaOf(t, path))
			result := fmt.Sprint("r", i, "-", k, ".arrow")
			args := append([]string{"agg", path}, q.flags...)
			if r.IntN(3) == 0 && !strings.Contains(q.flags[0], "list(") && !strings.Contains(q.flags[0], "quantile(") && !strings.Contains(q.flags[0], "median(") && !strings.Contains(q.flags[0], "string_agg(") {
				args = append(args, "--memory", "30000")
			}
			require.NoError(t, os.WriteFile(result, []byte(ok(t, append(args, "--format", "arrow")...)), 0o600))
			fmt.Fprintf(&questions, "%s\t%s\t%s\n", path, q.query[0], result)
		}
	}
	types := sortedTypes()
	for i := range 40 {
		g := arrowgen.New(uint64(i))
		g.Nulls = []float64{0, 0.2}[r.IntN(2)]
		path := fmt.Sprint(i, ".arrow")
		writeNumbered(t, g, []arrow.DataType{types[i%len(types)], types[r.IntN(len(types))], types[r.IntN(len(types))]}, 500, path)
		ask(path, i)
	}
	for i, in := range corpus {
		path := fmt.Sprint("corpus", i, ".arrow")
		if run(t, "convert", "--quiet", in, path).code == 0 {
			ask(path, 1000+i)
		}
	}
	cmd := exec.Command(python, "-c", duckAggregates)
	cmd.Stdin = strings.NewReader(questions.String())
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

func schemaOf(t *testing.T, path string) *arrow.Schema {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	r, err := ipc.NewFileReader(f)
	require.NoError(t, err)
	defer r.Close()
	return r.Schema()
}
