package table_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/table"
)

// A histogram has a row for each bin and group. A value belongs to the bin between whose bounds it is, whatever the rounding, as for numpy.
func TestHistogram(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	var lines []string
	rows := map[int64][]float64{}
	for i := range 2000 {
		g := int64(i % 2)
		var cells []string
		for range r.IntN(4) {
			v := float64(r.IntN(130)-10) / 10 // often a bound
			rows[g] = append(rows[g], v)
			cells = append(cells, fmt.Sprint(v))
		}
		lines = append(lines, fmt.Sprintf(`{"g": %d, "v": [%s], "n": %d}`, g, strings.Join(append(cells, "null"), ","), i%10))
	}
	lines = append(lines, `{"g": 0, "v": null, "n": null}`)
	location := filepath.Join(t.TempDir(), "t.jsonl")
	require.NoError(t, os.WriteFile(location, []byte(strings.Join(lines, "\n")), 0o600))
	tab, err := table.Open(t.Context(), location)
	require.NoError(t, err)
	for _, bins := range []int{1, 7, 100} {
		next := map[int64]int{}
		for b, err := range tab.Group(t.Context(), table.GroupOptions{By: "g", Aggregates: fmt.Sprintf("hist(v, 0, 10, %d)", bins)}) {
			require.NoError(t, err)
			require.Equal(t, "from", b.Schema().Field(1).Name)
			for i := range int(b.NumRows()) {
				g := b.Column(0).(*array.Int64).Value(i)
				from, to := b.Column(1).(*array.Float64).Value(i), b.Column(2).(*array.Float64).Value(i)
				require.InDelta(t, float64(next[g])*10/float64(bins), from, 1e-12)
				want := int64(0)
				for _, v := range rows[g] {
					if v >= from && (v < to || v == to && next[g] == bins-1) {
						want++
					}
				}
				require.Equal(t, want, b.Column(3).(*array.Int64).Value(i), "%v to %v", from, to)
				next[g]++
			}
		}
		require.Equal(t, map[int64]int{0: bins, 1: bins}, next)
	}
	for _, refused := range []string{"hist(v, 0, 10)", "hist(v, 10, 0, 5)", "hist(v, 0, 10, 0)", "hist(v, 0, 10, 2.5)", "hist(v, n, 10, 5)", "hist(v, 0, 1e-320, 1000000)", "hist(distinct n, 0, 1, 2)"} {
		for _, err := range tab.Group(t.Context(), table.GroupOptions{Aggregates: refused}) {
			require.Error(t, err, refused)
		}
	}
}
