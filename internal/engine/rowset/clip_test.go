package rowset

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestRangesOfRows cuts and shifts ranges, and finds their rows, as lists of rows tell.
func TestRangesOfRows(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rows := slices.Sorted(slices.Values(rapid.SliceOfNDistinct(rapid.Int64Range(0, 40), 0, 20, rapid.ID).Draw(r, "rows")))
		ranges := Ranges(rows)
		require.EqualValues(t, len(rows), Count(ranges))
		for i, row := range rows {
			require.Equal(t, row, Row(ranges, int64(i)))
		}
		n := rapid.Int64Range(0, 45).Draw(r, "n")
		var below, behind []int64
		for _, row := range rows {
			if row < n {
				below = append(below, row)
			} else {
				behind = append(behind, row-n)
			}
		}
		require.Equal(t, Ranges(below), Clip(ranges, n))
		require.Equal(t, Ranges(behind), Shift(ranges, n))
	})
	require.Nil(t, Clip(nil, 5))
	require.Nil(t, Shift(nil, 5))
	require.EqualValues(t, 7, Row(nil, 7))
	require.Equal(t, []Range{{2, 9}}, Clip([]Range{{2, math.MaxInt64}}, 9))
}
