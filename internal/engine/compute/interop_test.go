package compute_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/table/parquet"
)

// duckdb evaluates expressions on a Parquet file: null where one fails for a row.
const duckdb = `
import duckdb, json, sys
con = duckdb.connect()
con.execute("set TimeZone='UTC'")
con.execute("create table t as select * from read_parquet('" + sys.argv[1] + "')")
out = []
for e in json.load(open(sys.argv[2])):
    try:
        out.append([r[0] for r in con.execute("select cast(try(" + e + ") as varchar) from t order by id").fetchall()])
    except Exception as error:
        out.append(["error: " + str(error)])
json.dump(out, open(sys.argv[3], "w"))
`

// expressions draws an expression of a type, as this package and as DuckDB write it.
type expressions struct{ r *rand.Rand }

func (x *expressions) one(of ...string) string { return of[x.r.IntN(len(of))] }

// pair is an expression for this package and for DuckDB.
type pair struct{ ours, sql string }

func both(s string) pair { return pair{s, s} }

func (x *expressions) integer(depth int) pair {
	if depth == 0 {
		return x.oneOf(both("i"), pair{"t", "t::bigint"}, both(fmt.Sprint(x.r.IntN(20)-5)), pair{"w", "w::bigint"})
	}
	a, b := x.integer(depth-1), x.integer(depth-1)
	d, s := x.day(), x.text(depth-1)
	part := x.one("year", "quarter", "month", "day", "dayofweek", "week", "dayofyear")
	clock := x.one("hour", "minute", "second", "year", "day")
	op := x.one("+", "-", "*")
	div := x.one("//", "%")
	return x.oneOf(
		pair{fmt.Sprintf("(%s %s %s)", a.ours, op, b.ours), fmt.Sprintf("(%s::bigint %s %s::bigint)", a.sql, op, b.sql)},
		pair{fmt.Sprintf("(%s %s %s)", a.ours, div, b.ours), fmt.Sprintf("(%s::bigint %s nullif(%s::bigint, 0))", a.sql, div, b.sql)},
		pair{fmt.Sprintf("%s(%s)", part, d.ours), fmt.Sprintf("%s(%s)", part, d.sql)},
		both(clock+"(ts)"), pair{"length(" + s.ours + ")", "length(" + s.sql + ")"},
		pair{"abs(" + a.ours + ")", "abs(" + a.sql + "::bigint)"}, pair{"-(" + a.ours + ")", "-((" + a.sql + ")::bigint)"},
		pair{fmt.Sprintf("coalesce(%s, %s)", a.ours, b.ours), fmt.Sprintf("coalesce(%s, %s)::bigint", a.sql, b.sql)},
		both("len(tags)"), both("f::int64"), both("round(i, -1)"), pair{"d::int32", "d::integer"},
		pair{fmt.Sprintf("if(%s, %s, %s)", "i > 3", a.ours, b.ours), fmt.Sprintf("if(%s, %s, %s)::bigint", "i > 3", a.sql, b.sql)},
		pair{fmt.Sprintf("(%s)::int8", a.ours), fmt.Sprintf("(%s)::tinyint", a.sql)})
}

func (x *expressions) oneOf(of ...pair) pair { return of[x.r.IntN(len(of))] }

func (x *expressions) day() pair {
	return x.oneOf(both("day"), pair{"date(ts)", "date(ts)"}, pair{"(day + 40)", "(day + 40)"}, pair{"date_trunc('month', day)", "date_trunc('month', day)::date"},
		pair{"date_trunc('week', day)", "date_trunc('week', day)::date"}, pair{"date_trunc('quarter', ts)::date", "date_trunc('quarter', ts)::date"})
}

func (x *expressions) text(depth int) pair {
	if depth <= 0 {
		return x.oneOf(both("s"), both("'ab'"))
	}
	a, b := x.text(depth-1), x.text(depth-1)
	from, n := x.r.IntN(9)-4, x.r.IntN(6)-2
	return x.oneOf(pair{"lower(" + a.ours + ")", "lower(" + a.sql + ")"}, pair{"upper(" + a.ours + ")", "upper(" + a.sql + ")"},
		pair{fmt.Sprintf("substr(%s, %d, %d)", a.ours, from, n), fmt.Sprintf("substr(%s, %d, %d)", a.sql, from, n)},
		pair{fmt.Sprintf("concat(%s, i, %s)", a.ours, b.ours), fmt.Sprintf("concat(%s, i, %s)", a.sql, b.sql)}, both("tags[2]"), both("tags[-1]"),
		pair{fmt.Sprintf("case when b then %s when i > 2 then %s end", a.ours, b.ours), fmt.Sprintf("case when b then %s when i > 2 then %s end", a.sql, b.sql)})
}

func (x *expressions) float(depth int) pair {
	if depth == 0 {
		return x.oneOf(both("f"), both("epoch(ts)"), both("d::float64"))
	}
	a, b := x.float(depth-1), x.float(depth-1)
	i := x.integer(depth - 1)
	op := x.one("+", "-", "*")
	return x.oneOf(pair{fmt.Sprintf("(%s %s %s)", a.ours, op, b.ours), fmt.Sprintf("(%s %s %s)", a.sql, op, b.sql)},
		pair{fmt.Sprintf("(%s / %s)", a.ours, i.ours), fmt.Sprintf("(%s / nullif(%s::bigint, 0))", a.sql, i.sql)},
		pair{"round(" + a.ours + ")", "round(" + a.sql + ")"}, pair{"floor(" + a.ours + ")", "floor(" + a.sql + ")"}, pair{"abs(" + a.ours + ")", "abs(" + a.sql + ")"})
}

func (x *expressions) decimal(depth int) pair {
	if depth == 0 {
		return x.oneOf(both("d"), both("e"), both("1.25"))
	}
	a, b := x.decimal(0), x.decimal(depth-1)
	op := x.one("+", "-", "*")
	return x.oneOf(pair{fmt.Sprintf("(%s %s %s)", a.ours, op, b.ours), fmt.Sprintf("(%s %s %s)", a.sql, op, b.sql)},
		pair{fmt.Sprintf("(%s %% e)", a.ours), fmt.Sprintf("(%s %% nullif(e, 0))", a.sql)}, both("round(d)"), both("round(d, 1)"), both("floor(d)"), both("ceil(d)"), both("abs(d)"))
}

func (x *expressions) condition(depth int) pair {
	o := x.one("=", "<>", "<", "<=", ">", ">=")
	compare := func(a, b pair) pair {
		return pair{fmt.Sprintf("%s %s %s", a.ours, o, b.ours), fmt.Sprintf("%s %s %s", a.sql, o, b.sql)}
	}
	if depth > 0 && x.r.IntN(2) == 0 {
		a, b := x.condition(depth-1), x.condition(depth-1)
		word := x.one("and", "or")
		return x.oneOf(pair{fmt.Sprintf("(%s %s %s)", a.ours, word, b.ours), fmt.Sprintf("(%s %s %s)", a.sql, word, b.sql)}, pair{"not (" + a.ours + ")", "not (" + a.sql + ")"},
			pair{"(" + a.ours + ") is null", "(" + a.sql + ") is null"})
	}
	tag := x.one("'x'", "'q'", "s")
	return x.oneOf(compare(x.integer(1), x.integer(1)), compare(x.text(1), x.text(1)), compare(x.decimal(1), x.decimal(1)), compare(x.day(), x.day()), compare(x.integer(1), x.float(0)),
		compare(x.integer(1), both("3")), compare(x.day(), both("'2001-03-05'")), compare(x.integer(1), x.decimal(0)),
		both("contains(tags, "+tag+")"), pair{"any(tags = " + tag + ")", "case when tags is null then null when list_contains(tags, " + tag + ") then true when len(tags) = 0 then false when " + tag + " is null or list_count(tags) < len(tags) then null else false end"},
		pair{fmt.Sprintf("%s in (1, 2, w)", "i"), "i in (1, 2, w::bigint)"}, both("i between t and 5"), both("(s like 'a%') is null"))
}

// Values of random expressions are those of DuckDB, and there are none where DuckDB has none or fails.
func TestInteropDuckDB(t *testing.T) {
	python := os.Getenv("AMUDAI_PYTHON")
	if python == "" {
		t.Skip("AMUDAI_PYTHON names no Python with DuckDB")
	}
	batch := batchOf(t, `id: int64, i: int64, t: int8, w: int32, f: float64, d: decimal128(12, 3), e: decimal128(5, 2), s: utf8, b: bool, day: date, ts: timestamp[us], tags: list<utf8>`, `
{"id": 0, "i": 1, "t": 3, "w": 4, "f": 1.5, "d": "12.345", "e": "-1.05", "s": "Abc", "b": true, "day": "2001-02-28", "ts": "2013-12-31T23:30:15.25", "tags": ["x", null, "y"]}
{"id": 1, "i": 9223372036854775807, "t": -128, "w": 2147483647, "f": -0.5, "d": "-0.005", "e": "2.00", "s": "", "b": false, "day": "1969-12-31", "ts": "1969-12-31T23:59:59.75", "tags": []}
{"id": 2}
{"id": 3, "i": -9223372036854775808, "t": 127, "w": -2147483648, "f": 123456.5, "d": "9999.999", "e": "999.99", "s": "grün Ärger", "b": null, "day": "0001-01-01", "ts": "2000-02-29T00:00:00", "tags": ["Abc", "q", "x"]}
{"id": 4, "i": 0, "t": 0, "w": 0, "f": 0.0, "d": "0.000", "e": "0.00", "s": "x", "b": true, "day": "9999-12-31", "ts": "1900-01-01T12:00:00.000001", "tags": [null]}
{"id": 5, "i": 7, "t": -7, "w": 3, "f": -2.5, "d": "-2.500", "e": "0.50", "s": "日本語 text", "b": false, "day": "2020-12-30", "ts": "2021-01-03T03:04:05.999999", "tags": ["q"]}`)
	x := &expressions{rand.New(rand.NewPCG(1, 5))}
	var drawn []pair
	sql := []string{}
	for i := range 1500 {
		p := []func(int) pair{x.integer, x.text, x.float, x.decimal, x.condition}[i%5](1 + i%3)
		drawn = append(drawn, p)
		sql = append(sql, strings.NewReplacer("::int64", "::bigint", "::float64", "::double").Replace(p.sql))
	}
	answers := askDuckDB(t, python, batch, sql)
	for i, p := range drawn {
		if strings.HasPrefix(fmt.Sprint(answers[i][0]), "error: ") {
			require.NotContains(t, answers[i][0], "Parser Error", sql[i])
			if why := fmt.Sprint(answers[i][0]); !strings.Contains(why, "Out of Range") && !strings.Contains(why, "Conversion Error") { // outside of try
				t.Errorf("%s: %v", sql[i], answers[i][0])
			}
			continue
		}
		v, err := bind(t, p.ours, batch.Schema())
		require.NoError(t, err, p.ours)
		for row := range answers[i] {
			part := batch.NewSlice(int64(row), int64(row)+1)
			got := "null"
			if arr, err := v.Eval(memory.DefaultAllocator, part); err == nil {
				got = cell(arr)
			}
			if mayShortCircuit(p.ours) && (answers[i][row] == nil || got == "null") {
				continue
			}
			require.True(t, sameCell(got, answers[i][row]), "row %d of %s: %s, and in DuckDB %v of %s", row, p.ours, got, answers[i][row], sql[i])
		}
	}
}

func askDuckDB(t *testing.T, python string, batch arrow.RecordBatch, sql []string) (answers [][]any) {
	dir := t.TempDir()
	data, questions, out := filepath.Join(dir, "data.parquet"), filepath.Join(dir, "questions.json"), filepath.Join(dir, "answers.json")
	rows := array.NewTableFromRecords(batch.Schema(), []arrow.RecordBatch{batch})
	require.NoError(t, os.WriteFile(data, []byte(tabletest.Write(t, parquet.New(parquet.Options{}), rows)), 0o600))
	encoded, err := json.Marshal(sql)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(questions, encoded, 0o600))
	log, err := exec.Command(python, "-c", duckdb, data, questions, out).CombinedOutput()
	require.NoError(t, err, "%s", log)
	encoded, err = os.ReadFile(out)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(encoded, &answers))
	require.Len(t, answers, len(sql))
	return answers
}

// mayShortCircuit reports whether a part of a condition may fail, for rows that another part has decided here.
func mayShortCircuit(expression string) bool {
	return (strings.Contains(expression, " and ") || strings.Contains(expression, " or ")) && strings.ContainsAny(expression, "*+-:")
}

// cell is the only value of an array as text.
func cell(arr arrow.Array) string {
	if arr.IsNull(0) {
		return "null"
	}
	return string(values.Text(arr)(nil, 0))
}

// sameCell compares a text of a value with that of DuckDB: numbers by value, and times without regard to the letter between day and time.
func sameCell(got string, want any) bool {
	w, ok := want.(string)
	if !ok {
		return got == "null"
	}
	a, okA := new(big.Rat).SetString(got)
	b, okB := new(big.Rat).SetString(w)
	return got == w || okA && okB && a.Cmp(b) == 0
}
