package command_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// duckRows prints the row that each query gives as JSON. Lines of stdin are what DuckDB reads, and a query of a table t.
const duckRows = duckTable + `
last = None
for line in sys.stdin:
    source, query = json.loads(line)
    if source != last:
        db, last = table(source), source
    print(json.dumps([None if v is None else str(v) for v in db.execute(query).fetchone()]))
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
	if n, ok := v.(json.Number); ok && p.Type != "float32" && p.Type != "float16" { // and not Inf
		return n.String()
	}
	if p.Class == "number" {
		return fmt.Sprintf("'%s'::float", v)
	}
	return "'" + strings.ReplaceAll(strings.TrimPrefix(fmt.Sprint(v), "+"), "'", "''") + "'" // a year of six digits has a sign here
}

// statsQuestions are questions for duckRows, about what stats says of columns.
type statsQuestions struct {
	duckQuestions
	names  []string
	checks []func(t *testing.T, row []string)
}

func (q *statsQuestions) question(t *testing.T, c corpusTable, name, query string, check func(*testing.T, []string)) {
	q.add(t, []string{c.duck, query})
	q.names = append(q.names, name)
	q.checks = append(q.checks, check)
}

// check asks, and compares.
func (q *statsQuestions) check(t *testing.T) {
	lines := q.ask(t, duckRows)
	require.Len(t, lines, len(q.checks))
	for i, check := range q.checks {
		var row []string
		require.NoError(t, json.Unmarshal([]byte(lines[i]), &row))
		t.Run(q.names[i], func(t *testing.T) { check(t, row) })
	}
}

// addTable asks about a few columns of a table, and its rows.
func (q *statsQuestions) addTable(t *testing.T, r *rand.Rand, c corpusTable) {
	var p struct {
		Rows    int64
		Columns []profiled
	}
	d := json.NewDecoder(strings.NewReader(ok(t, c.args("stats", "--json", "--profile")...)))
	d.UseNumber()
	require.NoError(t, d.Decode(&p))
	q.question(t, c, c.name, "select count(*) from t", func(t *testing.T, row []string) { require.Equal(t, fmt.Sprint(p.Rows), row[0]) })
	r.Shuffle(len(p.Columns), func(i, j int) { p.Columns[i], p.Columns[j] = p.Columns[j], p.Columns[i] })
	asked := 0
	for _, of := range p.Columns {
		if strings.Contains(of.Path, ".") || of.Class != "number" && of.Class != "text" && of.Class != "bool" && of.Class != "time" || of.Distinct == 0 || asked == 8 {
			continue
		}
		asked++
		q.addColumn(t, c, of)
	}
}

func (q *statsQuestions) addColumn(t *testing.T, in corpusTable, c profiled) {
	name := in.name + " " + c.Path
	column := quotedName(c.Path)
	value := column
	if strings.HasPrefix(c.Type, "float") { // of which NaN has no part in bounds and quantiles
		value = fmt.Sprintf("case when not isnan(%s) then %[1]s end", column)
	}
	q.question(t, in, name, fmt.Sprintf("select count(*), count(*) - count(%[1]s), count(distinct %[1]s), min(%[2]s), max(%[2]s) from t", column, value), c.checkCounts)
	if len(c.Top) > 0 && c.Class != "bool" && len(fmt.Sprint(c.Top[0].Value)) < 100 { // others are cut
		q.question(t, in, name, fmt.Sprintf("select count(*) from t where %s::varchar = (%s)::varchar or %[1]s = %[2]s", column, c.literal(c.Top[0].Value)), c.checkTop)
	}
	if c.Class == "number" && c.Deviation != nil {
		difference := column
		if strings.Contains(c.Type, "int") { // of which a large one is no float
			difference = fmt.Sprintf("(%s::hugeint - (select any_value(%[1]s) from t))", column)
		}
		q.question(t, in, name, fmt.Sprintf("select avg(%[1]s::double), stddev_samp(%[2]s::double) from t where isfinite(%[1]s::double)", column, difference), c.checkMoments)
	}
	for _, share := range c.Quantiles {
		q.question(t, in, fmt.Sprint(name, " p", 100*share.Share), fmt.Sprintf("select count(*) filter (%[1]s < %[2]s), count(*) filter (%[1]s <= %[2]s), count(%[1]s) from t", value, c.literal(share.Value)),
			func(t *testing.T, row []string) {
				n := number(t, row[2])
				require.LessOrEqual(t, number(t, row[0])/n, share.Share+c.Error)
				require.GreaterOrEqual(t, number(t, row[1])/n, share.Share-c.Error-1e-9)
			})
	}
}

func (p *profiled) checkCounts(t *testing.T, row []string) {
	require.Equal(t, fmt.Sprint(p.Count), row[0])
	require.Equal(t, fmt.Sprint(p.Nulls), row[1])
	if p.Estimate {
		require.InEpsilon(t, number(t, row[2]), p.Distinct, 0.04)
	} else {
		require.Equal(t, row[2], fmt.Sprint(p.Distinct))
	}
	for i, got := range []any{p.Min, p.Max} {
		want, have := strings.ToLower(row[3+i]), strings.ToLower(fmt.Sprint(got))
		switch p.Class {
		case "number":
			w := number(t, want)
			digits := 1e-12
			if p.Type == "float32" { // which DuckDB shows with digits that it does not have
				digits = 1e-6
			}
			if !math.IsInf(w, 0) {
				require.InDelta(t, w, number(t, have), digits*max(1, math.Abs(w)))
			}
		case "time": // perhaps in nanoseconds, which DuckDB rounds if they have a zone
			want = strings.TrimRight(strings.TrimSuffix(strings.Replace(want, " ", "t", 1), "+00:00"), "0:t")
			require.True(t, strings.HasPrefix(strings.TrimPrefix(have, "+"), want), "%s, not %s", have, want)
		default:
			require.Equal(t, want, have)
		}
	}
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
