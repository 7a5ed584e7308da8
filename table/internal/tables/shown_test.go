package tables_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/internal/tables"
	"github.com/amudai/amudai-go/table/provider"
)

// Numbers of rows and positions are each other's inverse. A position without a row is an error: another read has found it, so that the table has changed.
func TestShown(t *testing.T) {
	var s tables.Shown
	s.Add(5, []provider.RowRange{{From: 2, To: 4}, {From: 7, To: 20}})
	s.Add(1, nil) // follows
	rows := []int64{2, 3, 7, 8, 9, 10}
	require.NoError(t, s.Number(rows))
	require.Equal(t, []int64{0, 1, 2, 3, 4, 5}, rows)
	s.Locate(rows)
	require.Equal(t, []int64{2, 3, 7, 8, 9, 10}, rows)
	require.EqualValues(t, 12, s.Position(7))
	for _, row := range []int64{0, 5, 11} {
		require.ErrorIs(t, s.Number([]int64{row}), storage.ErrChanged)
	}
	rows = []int64{4, 11}
	require.NoError(t, new(tables.Shown).Number(rows))
	require.Equal(t, []int64{4, 11}, rows)
}
