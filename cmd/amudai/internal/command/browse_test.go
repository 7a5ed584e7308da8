package command_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/command"
)

// TestBrowseNeedsTerminal refuses a pipe as stdout.
func TestBrowseNeedsTerminal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(path, []byte("a\n1\n"), 0o644))
	var out, errs bytes.Buffer
	code := command.Main(t.Context(), app.Env{Args: []string{"browse", path}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs})
	require.Equal(t, app.ExitUsage, code)
	require.Empty(t, out.String())
	require.Contains(t, errs.String(), "browse needs a terminal")
}

// TestInteropBrowse presses keys in terminals that tmux makes.
func TestInteropBrowse(t *testing.T) {
	program := os.Getenv("AMUDAI_PROGRAM")
	if program == "" {
		t.Skip("AMUDAI_PROGRAM names no program: make interop sets it")
	}
	_, err := exec.LookPath("tmux")
	require.NoError(t, err, "tmux is not installed")
	folder := t.TempDir()
	var rows strings.Builder
	rows.WriteString("id,origin,note\n")
	for i := range 5000 {
		fmt.Fprintf(&rows, "%d,%s,remark %d 日本 👍\n", i, []string{"SFO", "LAX", "JFK"}[i%3], i)
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "t.csv"), []byte(rows.String()), 0o644))
	for i, part := range []string{"0:2000", "2000:5000"} { // of several inputs
		out, err := exec.Command(program, "cat", filepath.Join(folder, "t.csv"), "--rows", part, "--output", filepath.Join(folder, []string{"part-1.parquet", "part-2.csv"}[i])).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	out, err := exec.Command(program, "convert", "-q", filepath.Join(folder, "t.csv"), filepath.Join(folder, "t.amudai.shard")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, file := range []string{"t.csv", "t.amudai.shard", "part-*"} {
		for _, size := range [][2]string{{"80", "24"}, {"200", "50"}, {"40", "10"}} {
			t.Run(file+" "+size[0]+"x"+size[1], func(t *testing.T) { browseInTmux(t, program, folder, file, size[0], size[1]) })
		}
	}
}

func browseInTmux(t *testing.T, program, folder, file, width, height string) {
	socket := fmt.Sprintf("amudai-browse-%d-%s-%s", os.Getpid(), file, width)
	tmux := func(args ...string) string {
		out, err := exec.Command("tmux", append([]string{"-u", "-L", socket, "-f", os.DevNull}, args...)...).CombinedOutput()
		require.NoError(t, err, "%v: %s", args, out)
		return string(out)
	}
	script := "'" + program + "' browse " + file + "; echo left with $?; exec sleep 60"
	tmux("new-session", "-d", "-s", "b", "-x", width, "-y", height, "-c", folder, script)
	defer tmux("kill-session", "-t", "b")
	see := func(text string) {
		t.Helper()
		screen := ""
		for range 600 { // 30 s
			if screen = tmux("capture-pane", "-p", "-t", "b"); strings.Contains(screen, text) {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		require.Contains(t, screen, text)
	}
	press := func(keys ...string) { tmux(append([]string{"send-keys", "-t", "b"}, keys...)...) }
	see("LAX")
	see("row 1 ")
	press("Down", "Right")
	see("row 2 · origin")
	press("End")
	see("5,000")
	press("Home", "/")
	see("where")
	press("-l", "origin = 'JFK' and id > 4990")
	press("Enter")
	see("4991")
	press("Escape")
	see("  0  SFO")
	press("-l", "s4321 ")
	press("Enter")
	see("row 4,322")
	press("Enter")
	see("line 1 of 1")
	see("remark 4321 日本 👍")
	press("q") // not Escape, which a terminal takes for Alt if a key follows at once
	press("2")
	see("distinct")
	press("1", "?")
	see("keys")
	tmux("resize-window", "-t", "b", "-x", "50", "-y", "12")
	press("q", "Home")
	see("row 1 ")
	press("C-c")
	see("left with 130")
	require.NotContains(t, tmux("capture-pane", "-p", "-t", "b"), "origin", "the screen is restored")
}
