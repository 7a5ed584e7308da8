//go:build unix

package command_test

import (
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
)

// TestDevice writes to a named pipe instead of putting a file in its place, as with /dev/null. A shard, whose footer refers to
// positions in its file, is refused.
func TestDevice(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("t.csv", []byte("a\n1\n"), 0o644))
	require.NoError(t, syscall.Mkfifo("pipe", 0o600))
	require.NoError(t, syscall.Mkfifo("pipe.shard", 0o600))
	isPipe := func(name string) {
		info, err := os.Lstat(name)
		require.NoError(t, err)
		require.Equal(t, fs.ModeNamedPipe, info.Mode().Type(), name)
	}
	for _, args := range [][]string{
		{"convert", "--to", "jsonl", "t.csv", "pipe"},
		{"convert", "--force", "--to", "jsonl", "t.csv", "pipe"},
		{"cat", "t.csv", "--format", "jsonl", "--output", "pipe", "--force"},
	} {
		read := make(chan string)
		go func() {
			b, err := os.ReadFile("pipe")
			read <- string(b) + errorText(err)
		}()
		ok(t, args...)
		require.Equal(t, "{\"a\":1}\n", <-read, args)
		isPipe("pipe")
	}
	r := run(t, "convert", "--force", "t.csv", "pipe.shard")
	require.Equal(t, app.ExitFailure, r.code)
	require.Contains(t, r.errout, "not a file")
	isPipe("pipe.shard")
}

// errorText is the text of an error, or "".
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
