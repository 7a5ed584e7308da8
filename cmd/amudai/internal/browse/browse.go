// Package browse shows a table on the whole terminal: its rows, its columns with statistics, and the structure of its
// file. It reads what is on the screen, and keeps a bounded part of the table in memory.
package browse

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/amudai/amudai-go/cmd/amudai/internal/browse/pages"
	"github.com/amudai/amudai-go/filter"

	tea "charm.land/bubbletea/v2"
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/cmd/amudai/internal/inspect"
	"github.com/amudai/amudai-go/table/provider"
)

// Table is the table to browse. Its functions are called by several goroutines at once. Those that are nil are not
// offered.
type Table struct {
	Name   string
	Schema *arrow.Schema
	Rows   int64 // exactly, or -1 if they are not known
	Seeks  bool  // Open reads rows without those before them; Rows are known

	// Open opens the table. It applies Columns, Filter and Rows.
	Open pages.Opener
	// Retype returns the table with the types that hold the values of all rows, for one whose types come from a sample that some value does not fit.
	Retype func(ctx context.Context) (Table, error)
	// Statistics is what the file records of its columns.
	Statistics func(ctx context.Context) (*provider.Statistics, error)
	// Encodings names the encodings of a column of the schema, by number.
	Encodings func(ctx context.Context, column int) (string, error)
	// Structure is the parts of the file.
	Structure func(ctx context.Context) ([]inspect.Node, error)
	// Export writes the rows that meet a condition to a file, and returns their number.
	Export func(ctx context.Context, file string, o provider.ReadOptions) (int64, error)
}

// Options are the terminal, and what is shown first.
type Options struct {
	Where   string    // the first condition
	Message string    // the first message
	In      io.Reader // keys; nil: the terminal of the process, as stdin is none
	Out     io.Writer
	Environ []string
}

// Run shows a table until the user leaves or ctx ends.
func Run(ctx context.Context, t Table, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newModel(ctx, t, o)
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithOutput(o.Out), tea.WithEnvironment(o.Environ)}
	if o.In != nil {
		options = append(options, tea.WithInput(o.In))
	}
	_, err := tea.NewProgram(m, options...).Run()
	cancel()
	if errors.Is(err, tea.ErrInterrupted) {
		err = context.Canceled
	}
	m.work.wait()
	return errors.Join(err, m.rows.loader.Close())
}

// newView is the rows of a table that meet a condition.
func newView(t *Table, e filter.Expr) *pages.View { return pages.NewView(t.Open, t.Rows, t.Seeks, e) }

// work is the commands that run. They are waited for at the end.
type work struct {
	lock   sync.Mutex
	group  sync.WaitGroup
	closed bool
}

// begin reports whether a command may run. It must call end.
func (w *work) begin() bool {
	w.lock.Lock()
	defer w.lock.Unlock()
	if !w.closed {
		w.group.Add(1)
	}
	return !w.closed
}

func (w *work) end() { w.group.Done() }

// wait lets no more commands begin, and waits for the others.
func (w *work) wait() {
	w.lock.Lock()
	w.closed = true
	w.lock.Unlock()
	w.group.Wait()
}
