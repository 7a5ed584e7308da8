//go:build cgo && duckdb_arrow

package sql_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write outputs into docs/sql.md")

// TestDocs runs the sessions of docs/sql.md, and compares their outputs.
func TestDocs(t *testing.T) {
	program := os.Getenv("AMUDAI_PROGRAM")
	if program == "" {
		require.Empty(t, os.Getenv("CI"), "AMUDAI_PROGRAM is not set")
		t.Skip("AMUDAI_PROGRAM names no program: make test-sql sets it")
	}
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
