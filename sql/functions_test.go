//go:build cgo && duckdb_arrow

package sql

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUnsettled finds all functions of this DuckDB whose values are not settled among those that are known.
func TestUnsettled(t *testing.T) {
	c, err := NewConnector("", Options{})
	require.NoError(t, err)
	defer c.Close()
	rows, err := c.planner.db.QueryContext(t.Context(), "select distinct function_name from duckdb_functions() where stability <> 'CONSISTENT'")
	require.NoError(t, err)
	defer rows.Close()
	found := 0
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		require.True(t, unsettled[name], name)
		found++
	}
	require.NoError(t, rows.Err())
	require.Greater(t, found, 20)
}
