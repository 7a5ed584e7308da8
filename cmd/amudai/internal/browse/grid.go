package browse

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"github.com/amudai/amudai-go/cmd/amudai/internal/browse/pages"

	tea "charm.land/bubbletea/v2"
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/filter"
)

// grid is the tab of the rows.
type grid struct {
	m      *model
	first  string // the condition to begin with
	where  string // the condition, or ""
	wanted string // text that is searched for
	view   *pages.View
	pages  pages.Cache
	loader *pages.Loader

	top, row  int64 // row of the first line, and of the cursor
	left, col int   // first column behind the frozen one, and that of the cursor
	widths    []int // of columns, as far as their values were seen
	shown     []place

	job       *job                // that moves the cursor or reads what is on the screen
	counts    *job                // that counts the rows of the view
	broken    bool                // reading failed: it is tried again with the next key
	samples   map[string][]string // values of columns, by path, for completion
	unsampled []string            // columns whose values are to be read
	atEnd     bool                // the cursor goes to the last row as soon as this is known
	toEnd     bool                // the job that failed last was to find the last row
}

// place is where a column is on the screen.
type place struct{ column, width int }

// job is something that is being read.
type job struct {
	cancel   context.CancelFunc
	name     string // for people
	progress atomic.Int64
	first    pages.ID // of pages that are read
	last     int64    // -1: the job reads no pages
	slow     bool     // it has taken a while
}

func newGrid(m *model) grid {
	return grid{m: m, view: newView(&m.table, filter.Expr{}), pages: pages.NewCache(), loader: &pages.Loader{}, widths: make([]int, len(m.fields)), samples: map[string][]string{}}
}

// begin replaces the job.
func (g *grid) begin(name string) (*job, context.Context) {
	g.stop()
	ctx, cancel := context.WithCancel(g.m.ctx)
	g.job = &job{cancel: cancel, name: name, last: -1}
	return g.job, ctx
}

// stop cancels the job.
func (g *grid) stop() {
	if g.job != nil {
		g.job.cancel()
		g.job = nil
	}
	g.atEnd = false
}

// finish ends a job. It reports whether the job was not replaced by another one.
func (g *grid) finish(j *job, err error) bool {
	j.cancel()
	if g.job != j {
		return false
	}
	g.job = nil
	if err != nil {
		g.broken = !errors.Is(err, context.Canceled)
		g.m.fail(err)
	}
	return err == nil
}

// filter shows the rows that meet a condition, or all rows if it is blank.
func (g *grid) filter(where string) (tea.Cmd, error) {
	e, err := g.condition(where)
	if err != nil {
		return nil, err
	}
	if e.IsZero() {
		where = ""
	}
	return g.reset(where, e), nil
}

// condition parses a condition on the table.
func (g *grid) condition(where string) (filter.Expr, error) {
	e, err := filter.Parse(where)
	if err == nil && !e.IsZero() {
		_, err = filter.Bind(e, g.m.table.Schema)
	}
	return e, err
}

// reset forgets all that was read.
func (g *grid) reset(where string, e filter.Expr) tea.Cmd {
	g.stop()
	if g.counts != nil {
		g.counts.cancel()
		g.counts = nil
	}
	old := g.loader
	g.where, g.view, g.pages, g.loader = where, newView(&g.m.table, e), pages.NewCache(), &pages.Loader{}
	g.top, g.row, g.broken = 0, 0, false
	closing := g.m.run(g.m.ctx, func(context.Context) result {
		err := old.Close()
		return func(m *model) tea.Cmd { m.fail(err); return nil }
	})
	if e.IsZero() {
		return closing
	}
	return tea.Batch(closing, g.count())
}

// retyped shows the rows of the table with other types.
func (g *grid) retyped(toEnd bool) tea.Cmd {
	top, row, col := g.top, g.row, g.col
	e, err := g.condition(g.where)
	if err != nil { // it does not suit the other types
		g.m.fail(err)
		g.where, e = "", filter.Expr{}
	}
	g.widths, g.samples, g.unsampled = make([]int, len(g.m.fields)), map[string][]string{}, nil
	cmd := g.reset(g.where, e)
	g.top, g.row, g.col = top, row, col
	if toEnd {
		return tea.Batch(cmd, g.end())
	}
	return cmd
}

// count counts the rows that meet the condition.
func (g *grid) count() tea.Cmd {
	ctx, cancel := context.WithCancel(g.m.ctx)
	j, v := &job{cancel: cancel}, g.view
	g.counts = j
	return g.m.run(ctx, func(ctx context.Context) result {
		err := v.Count(ctx, j.progress.Store)
		return func(m *model) tea.Cmd {
			cancel()
			if m.rows.counts == j {
				m.rows.counts = nil
				m.rows.atEnd = m.rows.atEnd && err == nil
				m.fail(err)
				m.rows.clamp()
			}
			return nil
		}
	})
}

// height is the number of rows on the screen.
func (g *grid) height() int64 { return int64(max(g.m.height-4, 1)) }

// clamp moves the cursor and the screen to rows that exist.
func (g *grid) clamp() {
	if n := g.view.Rows(); n >= 0 {
		if g.atEnd {
			g.row, g.atEnd = n-1, false
		}
		g.row = min(g.row, n-1)
		g.top = min(g.top, max(n-g.height(), 0))
	}
	g.row = max(g.row, 0)
	g.top = max(min(g.top, g.row), g.row-g.height()+1, 0)
}

// groupOf is the group of columns that a column is read with, and its number in it.
func (g *grid) groupOf(column int) (group, k int) {
	if !g.view.Seeks {
		return 0, column
	}
	return column / pages.Columns, column % pages.Columns
}

// columnsOf are the paths of a group of columns; nil means all.
func (g *grid) columnsOf(group int) []string {
	if !g.view.Seeks || len(g.m.fields) <= pages.Columns {
		return nil
	}
	var paths []string
	for _, f := range g.m.fields[group*pages.Columns : min((group+1)*pages.Columns, len(g.m.fields))] {
		paths = append(paths, f.path)
	}
	return paths
}

// fetch reads the first page on the screen that is not in memory.
func (g *grid) fetch() tea.Cmd {
	g.clamp()
	g.layout()
	if g.broken || g.atEnd || g.view.Rows() == 0 || g.m.tab != rowsTab || len(g.m.fields) == 0 {
		return nil
	}
	from, to := g.top/pages.Rows, (g.top+g.height()-1)/pages.Rows
	if n := g.view.Rows(); n >= 0 {
		to = min(to, (n-1)/pages.Rows)
	}
	for _, p := range append([]place{{0, 0}}, g.shown...) {
		group, _ := g.groupOf(p.column)
		for id := from; id <= to; id++ {
			if _, ok := g.pages.Get(pages.ID{Page: id, Group: group}); !ok {
				return g.load(group, id, to)
			}
		}
	}
	return nil
}

// load reads pages, unless they are being read.
func (g *grid) load(group int, first, last int64) tea.Cmd {
	if j := g.job; j != nil {
		if j.last < 0 || j.first.Group == group && j.first.Page <= first && (first <= j.last || !g.view.Seeks) {
			return nil
		}
	}
	j, ctx := g.begin("reading row")
	j.first, j.last = pages.ID{Page: first, Group: group}, last
	v, l, columns := g.view, g.loader, g.columnsOf(group)
	return g.m.run(ctx, func(ctx context.Context) result {
		list, err := l.Load(ctx, v, group, columns, first, last, j.progress.Store)
		return func(m *model) tea.Cmd {
			if m.rows.view == v {
				m.rows.pages.Add(list)
			}
			if m.rows.finish(j, err) && len(list) == 0 && first == m.rows.top/pages.Rows && v.Rows() > first*pages.Rows {
				m.rows.broken = true // fewer rows than there should be
				m.fail(errors.New("the table has changed: r reads it anew"))
			}
			return nil
		}
	})
}

// end moves the cursor to the last row.
func (g *grid) end() tea.Cmd {
	if n := g.view.Rows(); n >= 0 {
		g.row = n - 1
		return nil
	}
	if g.view.Seeks && g.counts != nil {
		g.stop()
		g.atEnd = true
		return nil
	}
	j, ctx := g.begin("reading row")
	g.atEnd = true
	v, l, columns := g.view, g.loader, g.columnsOf(0)
	return g.m.run(ctx, func(ctx context.Context) result {
		list, err := l.End(ctx, v, 0, columns, j.progress.Store)
		return func(m *model) tea.Cmd {
			if m.rows.view != v {
				return nil
			}
			m.rows.pages.Add(list)
			if m.rows.toEnd = m.rows.job == j && err != nil; m.rows.finish(j, err) {
				return nil
			}
			if m.rows.atEnd = false; m.rows.toEnd && len(list) > 0 { // the last row before the error
				last := list[len(list)-1]
				m.rows.row = last.Page*pages.Rows + last.NumRows() - 1
			}
			return nil
		}
	})
}

// page is the page of a value, if it is in memory, and the number of its column in it.
func (g *grid) page(row int64, column int) (p *pages.Page, k int) {
	group, k := g.groupOf(column)
	p, _ = g.pages.Get(pages.ID{Page: row / pages.Rows, Group: group})
	return p, k
}

// cell finds a value that is in memory.
func (g *grid) cell(row int64, column int) (arrow.Array, int, bool) {
	p, k := g.page(row, column)
	if p == nil {
		return nil, 0, false
	}
	return p.Cell(k, int(row%pages.Rows))
}

// text is the text of a cell that is in memory.
func (g *grid) text(row int64, column int) (string, bool) {
	p, k := g.page(row, column)
	if p == nil {
		return "", false
	}
	return p.Text(k, int(row%pages.Rows)), true
}

// size is the number of rows as text.
func (g *grid) size() string {
	n := g.view.Rows()
	switch {
	case g.where != "" && n >= 0 && g.m.table.Rows >= 0:
		return terminal.Count(n) + " of " + terminal.Plural(g.m.table.Rows, "row")
	case n >= 0:
		return terminal.Plural(n, "row")
	case g.counts != nil:
		return "≥ " + terminal.Plural(g.counts.progress.Load(), "row")
	}
	return "rows"
}

// position tells where the cursor is.
func (g *grid) position() string {
	if len(g.m.fields) == 0 {
		return "no columns"
	}
	var parts []string
	if n := g.view.Rows(); n == 0 {
		parts = append(parts, "no rows")
	} else {
		parts = append(parts, "row "+terminal.Count(g.row+1))
	}
	f := g.m.fields[g.col]
	parts = append(parts, f.name+": "+f.typ)
	if g.where != "" {
		parts = append(parts, "where "+terminal.Printable(g.where))
	}
	return strings.Join(parts, " · ")
}

// working tells what is being read, if it takes a while.
func (g *grid) working() string {
	if g.job == nil || !g.job.slow {
		if g.atEnd && g.job == nil {
			return "counting rows"
		}
		return ""
	}
	if n := g.job.progress.Load(); n > 0 {
		return g.job.name + " " + terminal.Count(n) + " …"
	}
	return g.job.name + " …"
}
