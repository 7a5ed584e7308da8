package command_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSQLWithoutEngine tells how to get the engine. docs/sql.md has sessions with it, which the tests of the module sql run.
func TestSQLWithoutEngine(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	r := run(t, "sql", "select 1")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errout, "amudai-sql, which has the engine for SQL, is neither beside amudai nor in PATH (hint: ")
	require.Equal(t, 2, run(t, "sql", "select 1", "--format", "none").code)
}
