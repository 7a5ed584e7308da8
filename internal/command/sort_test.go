package command_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/command"
	"github.com/amudai/amudai-go/internal/testing/leaktest"
)

// TestSortInterrupted stops commands that have moved rows to temporary files. No file is left behind.
func TestSortInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a.jsonl", []byte("{\"n\":1,\"s\":\"some text\"}\n"), 0o644))
	for _, args := range [][]string{
		{"sort", "-", "--by", "n,s"}, {"sort", "-", "--by", "s", "--limit", "100000"}, {"sort", "-", "--by", "n", "--output", "o.parquet"},
		{"distinct", "-", "--count"}, {"diff", "-", "a.jsonl", "--key", "n"}, {"diff", "a.jsonl", "-", "--key", "n"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			defer leaktest.Goroutines(t)()
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			ctx, cancel := context.WithCancel(t.Context())
			in := &endless{begun: make(chan struct{})}
			go func() {
				<-in.begun
				cancel()
			}()
			done := make(chan result)
			args := append(args, "--from", "jsonl", "--sample-bytes", "1MiB", "--memory", "1MiB")
			go func() { done <- runContext(ctx, command.Env{Args: args, Stdin: in}) }()
			select {
			case r := <-done:
				require.Equal(t, command.ExitInterrupted, r.code, r.errout)
				require.Equal(t, "amudai: interrupted\n", r.errout)
			case <-time.After(time.Minute):
				require.Fail(t, "did not stop")
			}
			left, err := os.ReadDir(temp)
			require.NoError(t, err)
			require.Empty(t, left)
			_, err = os.Stat("o.parquet")
			require.ErrorIs(t, err, os.ErrNotExist)
		})
	}
}
