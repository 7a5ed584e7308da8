package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	if os.Getenv("AMUDAI_RUN_MAIN") != "" { // set in the process that TestClosedPipe starts
		main()
	}
	os.Exit(m.Run())
}

// TestClosedPipe closes the stdout of a command that writes more than a pipe buffers. The command exits without an
// error, and leaves no temporary file.
func TestClosedPipe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows: the reader of a pipe does not leave like that")
	}
	dir := t.TempDir()
	in := filepath.Join(dir, "t.csv")
	require.NoError(t, os.WriteFile(in, []byte("text\n"+strings.Repeat(strings.Repeat("0123456789", 100)+"\n", 2000)), 0o644))
	for _, to := range []string{"csv", "shard"} {
		temp := t.TempDir()
		args := []string{"convert", in, "-", "--to", to}
		if to == "shard" {
			args = append(args, "--profile", "plain") // more than a pipe buffers
		}
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), "AMUDAI_RUN_MAIN=1", "TMPDIR="+temp)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		var errors strings.Builder
		cmd.Stderr = &errors
		require.NoError(t, cmd.Start())
		_, err = io.ReadFull(out, make([]byte, 10))
		require.NoError(t, err)
		require.NoError(t, out.Close())
		require.NoError(t, cmd.Wait(), "%s: %s", to, errors.String())
		left, err := os.ReadDir(temp)
		require.NoError(t, err)
		require.Empty(t, left, to)
		require.Empty(t, errors.String(), to)
	}
}
