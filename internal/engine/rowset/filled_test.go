package rowset

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Filled moves rows behind the number of rows of a set into its gaps, each once, and FilledOrder is what becomes of the places of rows.
func TestFilled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfDistinct(rapid.Int64Range(-60, 60), rapid.ID).Draw(t, "rows")
		if rapid.Bool().Draw(t, "dense") {
			all := slices.Collect(All(120).Rows())
			rows = slices.DeleteFunc(all, func(row int64) bool { return slices.Contains(rows, row) })
		}
		slices.Sort(rows)
		s := FromRows(rows)
		values := slices.Collect(Of(s.Bounds()).Rows())
		for to, from := range s.Filled() {
			require.Less(t, to, len(rows))
			require.GreaterOrEqual(t, from, len(rows))
			require.False(t, s.Contains(values[to]))
			values[to] = values[from]
		}
		values = values[:len(rows)]
		order := s.FilledOrder()
		require.Len(t, order, len(rows))
		for i, place := range order {
			require.Equal(t, rows[place], values[i])
		}
		slices.Sort(values)
		require.True(t, slices.Equal(rows, values))
	})
}
