package command_test

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/command"
)

// TestSQLPrompt types two questions on a terminal, the first of which the engine refuses.
func TestSQLPrompt(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	engine := "#!/bin/sh\nfor n in 1 2; do head -c 10 >/dev/null; echo \"error \\\"no answer $n\\\"\"; done; cat >/dev/null\n"
	require.NoError(t, os.WriteFile(dir+"/amudai-sql", []byte(engine), 0o755))
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	defer keys.Close()
	fd := int(keys.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	terminal, err := os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	defer terminal.Close()
	screen := &typist{keys: keys, lines: []string{"select 1;\r", "select 2;\r", "\x04"}}
	var out bytes.Buffer
	code := command.Main(t.Context(), app.Env{Args: []string{"sql"}, Stdin: terminal, Stdout: &out, Stderr: screen, Progress: true})
	require.Equal(t, 0, code, screen.shown.String())
	require.Empty(t, screen.lines)
	require.Contains(t, screen.shown.String(), "no answer 2")
}

// typist types a line at each prompt, as the terminal takes keys as they are only then.
type typist struct {
	keys  *os.File
	lines []string

	lock  sync.Mutex // the engine writes, too
	shown bytes.Buffer
}

func (s *typist) Write(p []byte) (int, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if bytes.HasSuffix(p, []byte("sql> ")) && len(s.lines) > 0 {
		if _, err := s.keys.WriteString(s.lines[0]); err != nil {
			return 0, err
		}
		s.lines = s.lines[1:]
	}
	return s.shown.Write(p)
}
