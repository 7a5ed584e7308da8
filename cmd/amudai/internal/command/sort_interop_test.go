package command_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/arrowgen"
)

// duckOrder prints the row numbers that each query gives, a line for each query. Lines of stdin are a file and a query with
// a table t.
const duckOrder = `
import sys, duckdb, pyarrow as pa
for line in sys.stdin:
    path, query = line.rstrip("\n").split("\t")
    t = pa.ipc.open_file(path).read_all()
    db = duckdb.connect()
    db.execute("set timezone = 'UTC'")
    print(",".join(str(r[0]) for r in db.execute(query).fetchall()))
`

// sortedTypes are types whose order in DuckDB is that of sort. Decimals of more digits, and times that DuckDB rounds, are not.
func sortedTypes() []arrow.DataType {
	str, i64 := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64
	return []arrow.DataType{
		arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int32, i64, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, str, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView, arrow.BinaryTypes.Binary,
		&arrow.Decimal128Type{Precision: 12, Scale: 2}, &arrow.Decimal128Type{Precision: 38, Scale: 10},
		arrow.FixedWidthTypes.Date32, &arrow.TimestampType{Unit: arrow.Microsecond}, &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"},
		arrow.ListOf(i64), arrow.ListOf(str), arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Float64)),
		arrow.StructOf(arrow.Field{Name: "a", Type: i64, Nullable: true}, arrow.Field{Name: "b", Type: arrow.ListOf(str), Nullable: true}),
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: str},
	}
}

// TestInteropSort sorts random tables with DuckDB, too, and counts their distinct rows. AMUDAI_PYTHON is a Python with duckdb and pyarrow (make interop).
func TestInteropSort(t *testing.T) {
	python := os.Getenv("AMUDAI_PYTHON")
	if python == "" {
		t.Skip("AMUDAI_PYTHON names no Python with duckdb and pyarrow")
	}
	t.Chdir(t.TempDir())
	types := sortedTypes()
	r := rand.New(rand.NewPCG(11, 4))
	var questions strings.Builder
	var got, notes []string
	for i := range 4 * len(types) {
		g := arrowgen.New(uint64(i))
		g.Nulls = []float64{0, 0.2}[r.IntN(2)]
		chosen := []arrow.DataType{types[i%len(types)], types[r.IntN(len(types))]}
		path := fmt.Sprint(i, ".arrow")
		writeNumbered(t, g, chosen, 500, path)
		var by, clauses []string
		for k := range chosen {
			minus, direction := "", "asc"
			if r.IntN(2) == 0 {
				minus, direction = "-", "desc"
			}
			by = append(by, fmt.Sprint(minus, "c", k))
			clauses = append(clauses, fmt.Sprint("c", k, " ", direction))
		}
		args := []string{"sort", path, "--by", strings.Join(by, ","), "--columns", "row", "--format", "csv"}
		query := "select \"row\" from t order by " + strings.Join(clauses, ", ") + ", \"row\""
		if r.IntN(2) == 0 {
			args = append(args, "--nulls-first")
			query = strings.NewReplacer(" asc", " asc nulls first", " desc", " desc nulls first").Replace(query)
		}
		if r.IntN(2) == 0 {
			args = append(args, "--limit", "7")
			query += " limit 7"
		} else if r.IntN(2) == 0 {
			args = append(args, "--memory", "10000")
		}
		lines := strings.Split(strings.TrimSpace(ok(t, args...)), "\n")
		got = append(got, strings.Join(lines[1:], ","))
		notes = append(notes, fmt.Sprint(chosen, " ", query))
		fmt.Fprintf(&questions, "%s\t%s\n", path, query)
		got = append(got, strings.TrimSpace(ok(t, "distinct", path, "--columns", "c0,c1", "--count", "--memory", []string{"1GiB", "5000"}[i%2])))
		notes = append(notes, fmt.Sprint(chosen, " distinct"))
		fmt.Fprintf(&questions, "%s\tselect count(*) from (select distinct c0, c1 from t)\n", path)
	}
	cmd := exec.Command(python, "-c", duckOrder)
	cmd.Stdin = strings.NewReader(questions.String())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	want := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Len(t, want, len(got))
	for i := range want {
		require.Equal(t, want[i], got[i], notes[i])
	}
}

// writeNumbered writes a random table with columns c0, c1 and so on, and row.
func writeNumbered(t *testing.T, g *arrowgen.Gen, types []arrow.DataType, rows int, path string) *arrow.Schema {
	var fields []arrow.Field
	var columns []arrow.Array
	for i, dt := range types {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: dt, Nullable: true})
		columns = append(columns, g.Array(dt, rows))
	}
	b := array.NewInt64Builder(memory.DefaultAllocator)
	for i := range rows {
		b.Append(int64(i))
	}
	s := arrow.NewSchema(append(fields, arrow.Field{Name: "row", Type: arrow.PrimitiveTypes.Int64}), nil)
	f, err := os.Create(path)
	require.NoError(t, err)
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(s))
	require.NoError(t, err)
	require.NoError(t, w.Write(array.NewRecordBatch(s, append(columns, b.NewArray()), int64(rows))))
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
	return s
}
