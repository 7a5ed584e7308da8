//go:build cgo && duckdb_arrow

package sql_test

import (
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/sql"
)

var update = flag.Bool("update", false, "write outputs into docs/sql.md")

// TestDocs runs the sessions of docs/sql.md, and compares their outputs.
func TestDocs(t *testing.T) {
	program := commandIn(t)
	path, err := filepath.Abs("../docs/sql.md")
	require.NoError(t, err)
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	t.Setenv("PATH", filepath.Dir(program)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	var out []string
	session := false
	for line := range strings.SplitSeq(string(page), "\n") {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case line == "```console":
			session = true
		case line == "```":
			session = false
		case session && !isCommand:
			continue
		}
		out = append(out, line)
		if session && isCommand {
			printed, _ := exec.Command("bash", "-c", command).CombinedOutput() // errors of some are wanted
			if text := strings.TrimSuffix(string(printed), "\n"); text != "" {
				out = append(out, text)
			}
		}
	}
	got := strings.Join(out, "\n")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	require.Equal(t, string(page), got)
}

// commandIn is the path of the command, beside which its engine is.
func commandIn(t *testing.T) string {
	t.Helper()
	program := os.Getenv("AMUDAI_PROGRAM")
	if program == "" {
		require.Empty(t, os.Getenv("CI"), "AMUDAI_PROGRAM is not set")
		t.Skip("AMUDAI_PROGRAM names no program: make test-sql sets it")
	}
	return program
}

// TestInterrupt ends a question that would take hours, by Ctrl-C. There is no output then, and no process is left, as both have closed stderr.
func TestInterrupt(t *testing.T) {
	program := commandIn(t)
	t.Chdir(t.TempDir())
	write(t, open(t, sql.Options{NoHints: true}), "select i from range(100000) r(i)", "x.amudai.shard", shard.WriterOptions{})
	for _, query := range []string{
		"select count(*) from 'x.amudai.shard' a, 'x.amudai.shard' b, 'x.amudai.shard' c where a.i + b.i * c.i = 77", // before the first row
		"select a.i from 'x.amudai.shard' a, 'x.amudai.shard' b where a.i < b.i order by 1",                          // with more rows than fit into memory
	} {
		cmd := exec.CommandContext(t.Context(), program, "sql", "--memory", "100MB", query, "--output", "out.csv")
		stderr, err := cmd.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		time.AfterFunc(time.Second, func() { cmd.Process.Signal(os.Interrupt) })
		text, err := io.ReadAll(stderr)
		require.NoError(t, err)
		require.Error(t, cmd.Wait())
		require.Equal(t, 130, cmd.ProcessState.ExitCode(), string(text))
		require.NoFileExists(t, "out.csv")
	}
}
