package browse

import (
	"context"
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/browse/pages"
	"github.com/amudai/amudai-go/internal/engine/profile"

	tea "charm.land/bubbletea/v2"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/table/provider"
)

// columnList is the tab of the columns.
type columnList struct {
	m        *model
	row, top int
	facts    []*facts // by column; nil: not known yet
	asked    bool     // statistics of the file were asked for
	encoded  []bool   // columns whose encodings were asked for
	running  int      // commands that read statistics
}

// facts are what is known of the values of a column, as text that is safe to print.
type facts struct {
	nulls, distinct, min, max, bytes, encoding string

	rows int64 // they are of the first rows, if it is not 0
}

func newColumnList(m *model) columnList {
	return columnList{m: m, facts: make([]*facts, len(m.fields)), encoded: make([]bool, len(m.fields))}
}

// height is the number of columns on the screen.
func (c *columnList) height() int { return max(c.m.height-3, 1) }

// fetch reads the facts of the columns on the screen: what the file records, else a sample.
func (c *columnList) fetch() tea.Cmd {
	c.row = max(min(c.row, len(c.m.fields)-1), 0)
	c.top = max(min(c.top, c.row), c.row-c.height()+1, 0)
	if c.m.tab != columnsTab || c.running > 0 || len(c.m.fields) == 0 {
		return nil
	}
	if !c.asked {
		c.asked = true
		if c.m.table.Statistics != nil {
			return c.read(func(ctx context.Context) (func(), error) {
				s, err := c.m.table.Statistics(ctx)
				return func() { c.record(s) }, err
			})
		}
	}
	for i := c.top; i < min(c.top+c.height(), len(c.m.fields)); i++ {
		if c.facts[i] == nil {
			return c.sample(i)
		}
	}
	if c.m.table.Encodings == nil {
		return nil
	}
	for i := c.top; i < min(c.top+c.height(), len(c.m.fields)); i++ {
		if c.encoded[i] {
			continue
		}
		c.encoded[i] = true
		return c.read(func(ctx context.Context) (func(), error) {
			text, err := c.m.table.Encodings(ctx, i)
			return func() { c.facts[i].encoding = terminal.Printable(text) }, err
		})
	}
	return nil
}

// read runs a function that reads, and then the function that it returns.
func (c *columnList) read(do func(ctx context.Context) (func(), error)) tea.Cmd {
	c.running++
	return c.m.run(c.m.ctx, func(ctx context.Context) result {
		set, err := do(ctx)
		return func(m *model) tea.Cmd {
			c.running--
			m.fail(err)
			set()
			return nil
		}
	})
}

// record takes over what the file records.
func (c *columnList) record(s *provider.Statistics) {
	if s == nil || s.Hidden > 0 { // a sample shows no hidden values
		return
	}
	at := map[string]*provider.ColumnStatistics{}
	for i := range s.Columns {
		at[s.Columns[i].Path] = &s.Columns[i]
	}
	for i, f := range c.m.fields {
		if col := at[f.path]; col != nil {
			c.facts[i] = storedFacts(col)
		}
	}
}

// storedFacts are the facts that a file records.
func storedFacts(s *provider.ColumnStatistics) *facts {
	f := &facts{nulls: countText(s.Nulls), distinct: countText(s.Distinct), bytes: countText(s.Bytes)}
	if s.DistinctEstimated && s.Distinct >= 0 {
		f.distinct = "≈" + f.distinct
	}
	if s.Min != nil && s.Min.Len() > 0 {
		f.min = pages.Short(s.Min, 0)
	}
	if s.Max != nil && s.Max.Len() > 0 {
		f.max = pages.Short(s.Max, 0)
	}
	if !s.Exact && f.min != "" {
		f.min = "≥ " + f.min
	}
	if !s.Exact && f.max != "" {
		f.max = "≤ " + f.max
	}
	return f
}

func countText(n int64) string {
	if n < 0 {
		return ""
	}
	return terminal.Count(n)
}

// sample reads the first rows of the columns of a group.
func (c *columnList) sample(column int) tea.Cmd {
	from := column / pages.Columns * pages.Columns
	to := min(from+pages.Columns, len(c.m.fields))
	var paths []string
	for _, f := range c.m.fields[from:to] {
		paths = append(paths, f.path)
	}
	v := newView(&c.m.table, filter.Expr{})
	return c.read(func(ctx context.Context) (func(), error) {
		p, err := pages.Describe(ctx, v, paths)
		return func() {
			for i := from; i < to; i++ {
				if c.facts[i] == nil {
					c.facts[i] = &facts{rows: p.Rows}
				}
			}
			for i := from; len(p.Columns) > 0; p.Columns = p.Columns[1:] {
				if col := p.Columns[0]; col.Depth == 0 {
					c.facts[i] = sampleFacts(col, p.Rows)
					i++
				}
			}
		}, err
	})
}

// sampleFacts are the facts of the first rows.
func sampleFacts(c *profile.Column, rows int64) *facts {
	f := &facts{nulls: terminal.Count(c.Nulls), distinct: countText(c.Distinct), rows: rows}
	if !c.DistinctExact && c.Distinct >= 0 {
		f.distinct = "≈" + f.distinct
	}
	if c.Min != nil {
		f.min, f.max = terminal.Clip(terminal.Printable(c.Min.Text), 400), terminal.Clip(terminal.Printable(c.Max.Text), 400)
	}
	return f
}

// key handles a key.
func (c *columnList) key(name string) tea.Cmd {
	switch name {
	case "enter":
		c.m.rows.col = max(min(c.row, len(c.m.fields)-1), 0)
		c.m.show(rowsTab)
	case "y":
		if c.row < len(c.m.fields) {
			return c.m.copy(filter.Col(c.m.fields[c.row].path).String(), "the name")
		}
	default:
		c.row, c.top = moved(name, c.row, c.top, c.height(), len(c.m.fields)-1)
	}
	c.top = max(c.top, 0)
	return nil
}

// position tells which column the cursor is at.
func (c *columnList) position() string {
	if len(c.m.fields) == 0 {
		return "no columns"
	}
	f := c.m.fields[c.row]
	text := "column " + terminal.Count(c.row+1) + " · " + f.name + ": " + f.typ
	if s := c.facts[c.row]; s != nil && s.rows > 0 {
		text += " · ~ of the first " + terminal.Plural(s.rows, "row")
	}
	return text
}

// view draws the list.
func (c *columnList) view(height int) []string {
	titles := []string{"column", "type", "nulls", "distinct", "min", "max", "bytes", "encoding"}
	right := []bool{false, false, true, true, false, false, true, false}
	rows := [][]string{titles}
	for i := c.top; i < min(c.top+height-1, len(c.m.fields)); i++ {
		f, s := c.m.fields[i], c.facts[i]
		row := []string{f.name, f.typ, "…", "", "", "", "", ""}
		if s != nil {
			mark := ""
			if s.rows > 0 {
				mark = "~"
			}
			row = []string{f.name, f.typ, marked(mark, s.nulls), marked(mark, s.distinct), marked(mark, s.min), marked(mark, s.max), s.bytes, s.encoding}
		}
		rows = append(rows, row)
	}
	widths := c.widths(rows)
	lines := make([]string, 0, len(rows))
	for i, row := range rows {
		var cells []string
		for k, text := range row {
			if widths[k] > 0 {
				cells = append(cells, c.m.fit(text, widths[k], right[k]))
			}
		}
		line, style := c.m.clip(strings.Join(cells, "  "), c.m.width), plain
		switch {
		case i == 0:
			style = bold
		case c.top+i-1 == c.row:
			style = reverse
		}
		lines = append(lines, paint(style, line))
	}
	return lines
}

func marked(mark, s string) string {
	if s == "" {
		return ""
	}
	return mark + s
}

// widths divides the screen among the properties. The last ones are left out first.
func (c *columnList) widths(rows [][]string) []int {
	wanted := make([]int, len(rows[0]))
	most := []int{max(c.m.width/3, 10), 24, 14, 14, 40, 40, 16, 40}
	for k := range wanted {
		some := k < 3
		for i, row := range rows {
			wanted[k] = max(wanted[k], min(c.m.method.StringWidth(row[k]), most[k]))
			some = some || i > 0 && row[k] != ""
		}
		if !some {
			wanted[k] = 0
		}
	}
	room := c.m.width + 2
	widths := make([]int, len(wanted))
	for k, w := range wanted {
		if w = min(w, 12); w > 0 && room >= w+2 {
			widths[k], room = w, room-w-2
		}
	}
	for _, k := range []int{0, 1, 4, 5, 2, 3, 6, 7} {
		if widths[k] > 0 {
			more := min(wanted[k]-widths[k], room)
			widths[k], room = widths[k]+more, room-more
		}
	}
	return widths
}
