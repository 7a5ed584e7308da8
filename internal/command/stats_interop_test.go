package command_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// duckRows prints the row that each query gives as JSON. Lines of stdin are a file and a query with a table t.
const duckRows = `
import sys, json, duckdb, pyarrow as pa
last, db = None, None
for line in sys.stdin:
    path, query = line.rstrip("\n").split("\t")
    if path != last:
        t = pa.ipc.open_file(path).read_all()
        db, last = duckdb.connect(), path
        db.execute("set timezone = 'UTC'")
        db.execute("create temp table data as select * from t")
    print(json.dumps([None if v is None else str(v) for v in db.execute(query.replace(" t ", " data ")).fetchone()]))
`

// profiled is a column of stats --json.
type profiled struct {
	Path      string
	Class     string
	Type      string
	Count     int64
	Nulls     int64
	Distinct  int64
	Estimate  bool `json:"distinct_is_estimate"`
	Min, Max  any
	Mean      any
	Deviation *float64 `json:"standard_deviation"`
	Error     float64  `json:"quantile_rank_error"`
	TopError  int64    `json:"top_count_error"`
	Quantiles []struct {
		Share float64
		Value any
	}
	Top []struct {
		Value any
		Count int64
	}
}

// literal is a value in SQL.
func (p *profiled) literal(v any) string {
	if p.Class == "number" {
		return fmt.Sprint(v)
	}
	return "'" + strings.ReplaceAll(fmt.Sprint(v), "'", "''") + "'"
}

// TestInteropProfile compares profiles of the tables of the corpus with what DuckDB computes. AMUDAI_PYTHON is a Python with duckdb and pyarrow
// (make interop).
func TestInteropProfile(t *testing.T) {
	python := os.Getenv("AMUDAI_PYTHON")
	if python == "" {
		t.Skip("AMUDAI_PYTHON names no Python with duckdb and pyarrow")
	}
	dir := t.TempDir()
	type question struct {
		name  string
		check func(t *testing.T, row []string)
	}
	var questions []question
	var text strings.Builder
	ask := func(path, name, query string, check func(*testing.T, []string)) {
		fmt.Fprintf(&text, "%s\t%s\n", path, query)
		questions = append(questions, question{name, check})
	}
	for i, table := range profiledTables(t) {
		path := filepath.Join(dir, fmt.Sprint(i, ".arrow"))
		require.NoError(t, os.WriteFile(path, []byte(ok(t, "head", "-n", "200000", "--format", "arrow", table)), 0o644))
		out := ok(t, "stats", "--json", "--profile", path)
		var p struct{ Columns []profiled }
		d := json.NewDecoder(bytes.NewReader([]byte(out)))
		d.UseNumber()
		require.NoError(t, d.Decode(&p))
		for _, c := range p.Columns {
			if strings.Contains(c.Path, ".") || c.Class != "number" && c.Class != "text" && c.Class != "bool" && c.Class != "time" || c.Distinct == 0 {
				continue
			}
			name := filepath.Base(table) + " " + c.Path
			column := `"` + strings.ReplaceAll(c.Path, `"`, `""`) + `"`
			ask(path, name, fmt.Sprintf("select count(*), count(*) - count(%[1]s), count(distinct %[1]s), min(%[1]s), max(%[1]s) from t where true", column), c.checkCounts)
			if len(c.Top) > 0 && c.Class != "bool" {
				ask(path, name, fmt.Sprintf("select count(*) from t where %s::varchar = (%s)::varchar or %[1]s = %[2]s", column, c.literal(c.Top[0].Value)), c.checkTop)
			}
			if c.Class == "number" && c.Deviation != nil {
				ask(path, name, fmt.Sprintf("select avg(%[1]s::double), stddev_samp(%[1]s::double) from t where isfinite(%[1]s::double)", column), c.checkMoments)
			}
			for _, q := range c.Quantiles {
				ask(path, fmt.Sprint(name, " p", 100*q.Share), fmt.Sprintf("select count(*) filter (%[1]s < %[2]s), count(*) filter (%[1]s <= %[2]s), count(%[1]s) from t where true", column, c.literal(q.Value)),
					func(t *testing.T, row []string) {
						n := number(t, row[2])
						require.LessOrEqual(t, number(t, row[0])/n, q.Share+c.Error)
						require.GreaterOrEqual(t, number(t, row[1])/n, q.Share-c.Error-1e-9)
					})
			}
		}
	}
	cmd := exec.Command(python, "-c", duckRows)
	cmd.Stdin = strings.NewReader(text.String())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Len(t, lines, len(questions))
	for i, q := range questions {
		var row []string
		require.NoError(t, json.Unmarshal([]byte(lines[i]), &row))
		t.Run(q.name, func(t *testing.T) { q.check(t, row) })
	}
}

// profiledTables are tables of the corpus of several formats.
func profiledTables(t *testing.T) []string {
	var list []string
	for _, pattern := range []string{"tables/*.csv", "tables/*.json", "flights/*.parquet", "parquet-testing/data/alltypes_plain.parquet", "parquet-testing/data/delta_byte_array.parquet", "parquet-testing/data/byte_stream_split.zstd.parquet"} {
		found, err := filepath.Glob(corpus(t, pattern))
		require.NoError(t, err)
		list = append(list, found...)
	}
	require.NotEmpty(t, list)
	return list
}

func (p *profiled) checkCounts(t *testing.T, row []string) {
	require.Equal(t, fmt.Sprint(p.Count), row[0])
	require.Equal(t, fmt.Sprint(p.Nulls), row[1])
	if p.Estimate {
		require.InEpsilon(t, number(t, row[2]), p.Distinct, 0.04)
	} else {
		require.Equal(t, row[2], fmt.Sprint(p.Distinct))
	}
	if p.Class == "number" {
		digits := 1e-9
		if p.Type == "float32" { // which DuckDB shows with digits that it does not have
			digits = 1e-6
		}
		require.InDelta(t, number(t, row[3]), number(t, fmt.Sprint(p.Min)), digits)
		require.InDelta(t, number(t, row[4]), number(t, fmt.Sprint(p.Max)), digits)
		return
	}
	same := func(want string, got any) {
		want, have := strings.ToLower(want), strings.ToLower(fmt.Sprint(got))
		if p.Class == "time" {
			want, have = strings.TrimRight(strings.Replace(want, " ", "T", 1), "0:T"), strings.TrimRight(strings.Replace(have, "t", "T", 1), "0:TZz")
		}
		require.Equal(t, want, have)
	}
	same(row[3], p.Min)
	same(row[4], p.Max)
}

func (p *profiled) checkTop(t *testing.T, row []string) {
	n := int64(number(t, row[0]))
	require.LessOrEqual(t, p.Top[0].Count, n)
	require.LessOrEqual(t, n, p.Top[0].Count+p.TopError)
}

func (p *profiled) checkMoments(t *testing.T, row []string) {
	require.InEpsilon(t, 1+number(t, row[0]), 1+number(t, fmt.Sprint(p.Mean)), 1e-9)
	require.InEpsilon(t, 1+number(t, row[1]), 1+*p.Deviation, 1e-6)
}

func number(t *testing.T, s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	require.NoError(t, err)
	return v
}
