package aggregate

import (
	"testing"

	"github.com/stretchr/testify/require"

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
		{"k", "sum(a * b), sum(distinct c), sum(d) filter (where e > 1), avg(e)", []string{"k", "c", "d"}},
		{"year(a)", "count()", nil},
	} {
		keys, err := ast.ParseValues(c.keys)
		require.NoError(t, err)
		calls, err := ast.ParseCalls(c.calls)
		require.NoError(t, err)
		require.Equal(t, c.want, Decimals64(keys, calls), c.calls)
	}
}
