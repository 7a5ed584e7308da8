package aggregate

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/ast"
)

// Columns may have decimals of 64 bits if nothing but their numbers matters.
func TestDecimals64(t *testing.T) {
	for _, c := range []struct {
		keys, calls string
		want        []string
	}{
		{"k", "sum(a), avg(b), count(c), stddev(a)", []string{"k", "a", "b", "c"}},
		{"a", "sum(a), avg(b)", []string{"a", "b"}},
		{"k", "sum(a), max(a), min(b), median(a), list(b)", []string{"k"}},
		{"k", "sum(a * b), sum(distinct c), sum(d) filter (where e > 1), list(e)", []string{"k", "a", "b", "c", "d"}},
		{"a + 1", "list(b + 1)", []string{"a", "b"}},
	} {
		keys, err := ast.ParseValues(c.keys)
		require.NoError(t, err)
		calls, err := ast.ParseCalls(c.calls)
		require.NoError(t, err)
		require.Equal(t, c.want, ast.Decimals64(keys, calls), c.calls)
	}
}

// Of columns the lengths are enough if nothing else of their values matters.
func TestLengths(t *testing.T) {
	for _, c := range []struct {
		keys, calls, where string
		want               []string
	}{
		{"length(k)", "sum(len(a)), avg(length(b) + 1), count(c)", "", []string{"k", "a", "b"}},
		{"k", "sum(length(k)), max(length(a)), min(a), max(length(b)) filter (where length(d) > length(c))", "", []string{"b", "d", "c"}},
		{"a", "sum(length(b.c)), max(length(b)), sum(length(c)), count(c.d), sum(length(lower(d)))", "", nil},
		{"", "sum(length(a)), sum(length(b)), max(length(\"c d\"))", "length(a) > 5 and contains(b, 'x')", []string{"a", "c d"}},
	} {
		keys, err := ast.ParseValues(c.keys)
		require.NoError(t, err)
		calls, err := ast.ParseCalls(c.calls)
		require.NoError(t, err)
		var where *ast.Node
		if c.where != "" {
			where, err = ast.Parse(c.where)
			require.NoError(t, err)
		}
		require.Equal(t, c.want, ast.Lengths(keys, calls, where), c.calls)
	}
}

// Results have the recorded type of decimals that are read with 64 bits.
func TestResultTypes(t *testing.T) {
	d := &arrow.Decimal128Type{Precision: 15, Scale: 2}
	narrow := &arrow.Decimal64Type{Precision: 15, Scale: 2}
	input := arrow.NewSchema([]arrow.Field{arrowutil.Decimal64(arrow.Field{Name: "a b", Type: d}), {Name: "c", Type: narrow}}, nil)
	keys, err := ast.ParseValues(`"a b", c`)
	require.NoError(t, err)
	calls, err := ast.ParseCalls(`max("a b"), max(c), first("a b"), first(c)`)
	require.NoError(t, err)
	q, err := Bind(keys, calls, input)
	require.NoError(t, err)
	for i, want := range []arrow.DataType{d, narrow, d, narrow, d, narrow} {
		require.Equal(t, want, q.Schema().Field(i).Type)
	}
}
