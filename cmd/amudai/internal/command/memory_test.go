package command_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRunsLeaveNothing runs a command often in one process, as a session does: its flags, of a megabyte, do not stay in memory.
func TestRunsLeaveNothing(t *testing.T) {
	live := func() (m runtime.MemStats) {
		ok(t, "version")
		runtime.GC()
		runtime.GC() // what a finalizer or a pool held
		runtime.ReadMemStats(&m)
		return m
	}
	before := live()
	for range 20 {
		ok(t, "version")
	}
	after := live()
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(2<<20), "bytes of 20 runs")
}
