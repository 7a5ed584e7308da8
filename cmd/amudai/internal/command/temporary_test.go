package command_test

import (
	"bytes"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/internal/base/tempfile"
	"github.com/amudai/amudai-go/internal/testing/leaktest"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// TestTemporaryFilesFail has each operation on temporary files fail in turn, as on a full disk. Commands that need them fail with the operation and the
// file, print no wrong row, and leave no file.
func TestTemporaryFilesFail(t *testing.T) {
	t.Chdir(t.TempDir())
	var csv bytes.Buffer
	csv.WriteString("n,s\n")
	for i := range 30_000 {
		fmt.Fprintf(&csv, "%d,text %d\n", i*7919%30_000, i%9000)
	}
	require.NoError(t, os.WriteFile("t.csv", csv.Bytes(), 0o644))
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	for _, args := range [][]string{
		{"agg", "t.csv", "count(), max(n), first(s)", "--by", "n,s", "--memory", "20000", "--format", "csv"},
		{"agg", "t.csv", "count(distinct n)", "--by", "s", "--memory", "20000", "--format", "csv"},
		{"sort", "t.csv", "--by", "s,-n", "--memory", "20000", "--format", "csv"},
		{"distinct", "t.csv", "--memory", "20000", "--format", "csv"},
	} {
		t.Run(args[0]+" "+args[2], func(t *testing.T) {
			defer leaktest.Goroutines(t)()
			var done, fails atomic.Int64
			fails.Store(-1)
			tempfile.BeforeIO = func(string) error {
				if done.Add(1) == fails.Load() {
					return syscall.ENOSPC
				}
				return nil
			}
			defer func() { tempfile.BeforeIO = nil }()
			want := ok(t, args...)
			all := done.Load()
			require.Greater(t, all, int64(5), "operations on temporary files")
			for k := int64(1); k <= all; k += 1 + all/int64(sweep.Count(7, 40)) {
				done.Store(0)
				fails.Store(k)
				r := run(t, args...)
				require.Equal(t, app.ExitFailure, r.code, "operation %d of %d: %s", k, all, r.out[max(0, len(r.out)-100):])
				require.Regexp(t, `(write|read|seek|close) \S*amudai-\d+: no space left on device`, r.errout)
				require.True(t, len(r.out) <= len(want) && r.out == want[:len(r.out)], "wrong rows after operation %d", k)
				left, err := os.ReadDir(temp)
				require.NoError(t, err)
				require.Empty(t, left)
			}
		})
	}
}
