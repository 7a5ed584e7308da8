package command_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/arrowgen"
)

// aggregatesOf are the calls that a column can take. Where DuckDB spells one differently, it follows a bar.
func aggregatesOf(dt arrow.DataType) []string {
	calls := []string{"count(%s)", "count(distinct %s)", "min(%s)", "max(%s)", "first(%s)", "last(%s)", "any_value(%s)", "quantile(%s, 0.4)|quantile_disc(%[1]s, 0.4)", "list(%s)"}
	switch id := dt.ID(); {
	case arrow.IsInteger(id), arrow.IsDecimal(id):
		calls = append(calls, "sum(%s)", "avg(%s)", "sum(distinct %s)", "stddev_pop(%s)")
	case arrow.IsFloating(id):
		calls = append(calls, "max(%s)", "min(%s)")
		if id != arrow.FLOAT16 { // whose median is a float32 in DuckDB
			calls = append(calls, "median(%s)")
		}
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
	quoted := func(f arrow.Field) string { return quotedName(f.Name) }
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
		query += " group by all order by " + []string{"1", "1, 2"}[len(keys)-1]
	}
	q.query = []string{query}
	return q
}

// aggQuestions are questions for duckResults.
type aggQuestions struct {
	duckQuestions
	asked int
}

// add asks n random questions about a table.
func (a *aggQuestions) add(t *testing.T, r *rand.Rand, c corpusTable, s *arrow.Schema, n int) {
	for range n {
		q := randomAggregates(r, s)
		args := c.args("agg", q.flags...)
		if r.IntN(3) == 0 && !regexp.MustCompile(`(list|quantile|median|string_agg)\(`).MatchString(q.flags[0]) {
			args = append(args, "--memory", "30000")
		}
		result := filepath.Join(t.TempDir(), fmt.Sprint(a.asked, ".arrow"))
		a.asked++
		require.NoError(t, os.WriteFile(result, []byte(ok(t, append(args, "--format", "arrow")...)), 0o600))
		a.duckQuestions.add(t, []string{c.duck, q.query[0], result})
	}
}

// TestInteropAgg asks DuckDB the same random questions about random tables.
func TestInteropAgg(t *testing.T) {
	python(t)
	t.Chdir(t.TempDir())
	r := rand.New(rand.NewPCG(3, 15))
	var a aggQuestions
	types := sortedTypes()
	for i := range 40 {
		g := arrowgen.New(uint64(i))
		g.Nulls = []float64{0, 0.2}[r.IntN(2)]
		path := fmt.Sprint(i, ".arrow")
		s := writeNumbered(t, g, []arrow.DataType{types[i%len(types)], types[r.IntN(len(types))], types[r.IntN(len(types))]}, 500, path)
		a.add(t, r, corpusTable{in: []string{path}, duck: path}, s, 6)
	}
	a.ask(t, duckResults)
}
