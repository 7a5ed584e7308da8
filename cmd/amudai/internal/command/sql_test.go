package command_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
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

// TestSQLEndsEarly has an engine that is killed between two batches, or after the last one: there is no output then.
func TestSQLEndsEarly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the engine is a shell script")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Chdir(dir)
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}}, nil))
	defer b.Release()
	out := bytes.NewBufferString("ok\n")
	w := ipc.NewWriter(out, ipc.WithSchema(b.Schema()))
	var ends []int // of the whole messages
	for range 3 {
		b.Field(0).(*array.Int64Builder).AppendValues([]int64{1, 2, 3}, nil)
		batch := b.NewRecordBatch()
		require.NoError(t, w.Write(batch))
		batch.Release()
		ends = append(ends, out.Len())
	}
	require.NoError(t, w.Close())
	ends = append(ends, out.Len())
	require.NoError(t, os.WriteFile("amudai-sql", []byte("#!/bin/sh\ncat answer\n"), 0o755))
	for _, end := range ends {
		require.NoError(t, os.WriteFile("answer", out.Bytes()[:end], 0o644))
		r := run(t, "sql", "select 1", "--output", "x.amudai.shard")
		require.Equal(t, 1, r.code, "%d of %d bytes", end, out.Len())
		require.Contains(t, r.errout, "amudai-sql has ended without an answer")
		require.NoFileExists(t, filepath.Join(dir, "x.amudai.shard"))
	}
	require.NoError(t, os.WriteFile("amudai-sql", []byte("#!/bin/sh\ncat answer\nkill -9 $$\n"), 0o755)) // as for want of memory
	r := run(t, "sql", "select 1", "--output", "x.amudai.shard")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errout, "signal: killed")
	require.NoError(t, os.WriteFile("answer", append(out.Bytes(), "end\n"...), 0o644))
	require.NoError(t, os.WriteFile("amudai-sql", []byte("#!/bin/sh\ncat answer\ncat >/dev/null\nsleep 60\n"), 0o755))
	r = run(t, "sql", "select 1", "--output", "none/x.csv") // an error of the command
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errout, "none")
	require.NoError(t, os.WriteFile("amudai-sql", []byte("#!/bin/sh\nhead -c 9 >/dev/null\ncat answer\n"), 0o755)) // after the question
	require.Equal(t, 0, run(t, "sql", "select 1", "--output", "x.amudai.shard").code)
	require.Equal(t, "9\n", ok(t, "count", "x.amudai.shard"))
}
