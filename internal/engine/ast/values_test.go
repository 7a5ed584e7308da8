package ast

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseCalls(t *testing.T) {
	calls, err := ParseCalls(`count(), COUNT(*) as n, avg(a.b) filter (where c > 1 and d) as "the mean", count(distinct x), min(distinct)`)
	require.NoError(t, err)
	require.Len(t, calls, 5)
	require.Equal(t, Call{Name: "count", Text: "count()"}, calls[0])
	require.Equal(t, Call{Name: "count", Text: "COUNT(*)", Alias: "n", Pos: 9}, calls[1])
	require.Equal(t, "the mean", calls[2].Alias)
	require.Equal(t, "avg(a.b) filter (where c > 1 and d)", calls[2].Text)
	require.Equal(t, "c > 1 and d", calls[2].Where.String())
	require.True(t, calls[3].Distinct)
	require.Equal(t, "x", calls[3].Args[0].String())
	require.Equal(t, "distinct", calls[4].Args[0].String())
	for text, message := range map[string]string{
		"count": "expected a function", "count(": "expected a column or a value", "count(x": "expected )", "count() n": "a comma, as, filter",
		"count() as 3": "expected a name", "sum(x) filter (x > 1)": "expected where", "count(),": "expected a function",
	} {
		_, err := ParseCalls(text)
		require.ErrorContains(t, err, message, text)
	}
}

func TestParseKeys(t *testing.T) {
	keys, err := ParseKeys(`origin, year(date) as y, i + 1 as 'a b', 1 as "one"`)
	require.NoError(t, err)
	var names []string
	for _, k := range keys {
		names = append(names, k.String()+": "+k.Alias)
	}
	require.Equal(t, []string{"origin: ", "year(date): y", "i + 1: a b", "1: one"}, names)
	_, err = ParseKeys("origin as 7")
	require.ErrorContains(t, err, "expected a name")
	_, err = ParseValues("origin as o")
	require.ErrorContains(t, err, "expected a comma or the end")
}

func TestParseValues(t *testing.T) {
	values, err := ParseValues(`origin, a."b c"`)
	require.NoError(t, err)
	require.Len(t, values, 2)
	require.Equal(t, `a."b c"`, values[1].String())
	values, err = ParseValues(" ")
	require.NoError(t, err)
	require.Empty(t, values)
	_, err = ParseValues("a b")
	require.ErrorContains(t, err, "expected a comma or the end")
}
