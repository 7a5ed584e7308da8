package rows

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
)

// prompt asks questions that are typed on a terminal, until Ctrl-D. Ctrl-C ends a question that runs.
func (g group) prompt(ctx context.Context, e *engine, create app.CreateSink, tty *os.File) error {
	ctx = context.WithoutCancel(ctx)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt) // the engine, in the same group of processes, gets it, too
	defer signal.Stop(ended)
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{tty, g.Stderr}, "sql> ")
	h := openHistory(g.Getenv("HOME"))
	defer h.close()
	t.History = h
	c := &completer{list: e.list, show: t, columns: map[string][]string{}}
	t.AutoCompleteCallback = c.complete
	for {
		question, err := g.typed(t, tty, c)
		if err == io.EOF { // Ctrl-D
			return nil
		}
		if err != nil {
			return err
		}
		if err := e.print(ctx, question, create); err != nil {
			if errors.Is(err, errNoAnswer) {
				return err
			}
			g.PrintError(err)
		}
	}
}

// typed is what is typed up to a semicolon.
func (g group) typed(t *term.Terminal, tty *os.File, c *completer) (string, error) {
	fd := int(tty.Fd())
	cooked, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	defer term.Restore(fd, cooked)
	if g.Width > 0 {
		t.SetSize(g.Width, 25)
	}
	defer t.SetPrompt("sql> ")
	var lines []string
	for {
		c.before = strings.Join(append(lines, ""), "\n")
		line, err := t.ReadLine()
		if err != nil && !errors.Is(err, term.ErrPasteIndicator) {
			return "", err
		}
		lines = append(lines, line)
		if all := strings.TrimSpace(strings.Join(lines, "\n")); strings.HasSuffix(all, ";") {
			return all, nil
		} else if all == "" {
			lines = nil
			continue
		}
		t.SetPrompt("...> ")
	}
}

// keptLines is the number of lines that a history recalls.
const keptLines = 1000

// history is the lines that were typed, in a file too, if there is a home.
type history struct {
	lines []string // the oldest first
	file  *os.File // nil if there is none
}

func openHistory(home string) *history {
	h := &history{}
	if home == "" {
		return h
	}
	f, err := os.OpenFile(filepath.Join(home, ".amudai_sql_history"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return h
	}
	h.file = f
	for lines := bufio.NewScanner(f); lines.Scan(); {
		h.keep(lines.Text())
	}
	return h
}

func (h *history) keep(line string) {
	h.lines = append(h.lines, line)
	if len(h.lines) > keptLines {
		h.lines = h.lines[1:]
	}
}

// Add implements [term.History].
func (h *history) Add(line string) {
	if strings.TrimSpace(line) == "" {
		return
	}
	h.keep(line)
	if h.file != nil {
		h.file.WriteString(line + "\n") // a line that is not kept is no failure
	}
}

// Len implements [term.History].
func (h *history) Len() int { return len(h.lines) }

// At implements [term.History]. The last line is at 0.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }

func (h *history) close() {
	if h.file != nil {
		h.file.Close()
	}
}
