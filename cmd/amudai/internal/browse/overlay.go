package browse

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/browse/pages"

	tea "charm.land/bubbletea/v2"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
)

// overlay is a text over the whole tab: a value, a row, or the help.
type overlay struct {
	title string
	text  string   // to copy
	paras []string // safe to print
	top   int

	lines []string // of a width
	width int
}

const mostDetail = 1 << 20 // bytes of a value that are shown

// showCell shows the value of the cursor as a whole.
func (m *model) showCell() {
	a, i, ok := m.rows.cell(m.rows.row, m.rows.col)
	if !ok {
		return
	}
	f := m.fields[m.rows.col]
	s, ok := pages.Whole(a, i)
	if !ok {
		s = pages.NullText + " (null)"
	}
	m.overlay = &overlay{
		title: fmt.Sprintf("%s: %s, row %s", f.name, f.typ, terminal.Count(m.rows.row+1)),
		text:  s, paras: paragraphs(s),
	}
}

// paragraphs are the lines of a value, of JSON with indents.
func paragraphs(s string) []string {
	more := ""
	if len(s) > mostDetail {
		more = fmt.Sprintf("… and %s more", terminal.Plural(len(s)-mostDetail, "byte"))
		s = strings.ToValidUTF8(s[:mostDetail], "")
	} else if t := strings.TrimSpace(s); t != "" && (t[0] == '{' || t[0] == '[') {
		var b bytes.Buffer
		if json.Indent(&b, []byte(t), "", "  ") == nil && b.Len() <= 4*mostDetail {
			s = b.String()
		}
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = terminal.Printable(strings.ReplaceAll(strings.TrimSuffix(l, "\r"), "\t", "    "))
	}
	if more != "" {
		lines = append(lines, more)
	}
	return lines
}

func newHelp() *overlay {
	o := &overlay{title: "keys"}
	for _, h := range help {
		line := paint(bold, h.meaning)
		if h.keys != "" {
			line = fmt.Sprintf("  %-22s %s", h.keys, h.meaning)
		} else if len(o.paras) > 0 {
			o.paras = append(o.paras, "")
		}
		o.paras = append(o.paras, line)
	}
	return o
}

// key handles a key over the tab.
func (o *overlay) key(m *model, name string) tea.Cmd {
	h := max(m.height-3, 1)
	switch name {
	case "esc", "q", "enter", "?", "v", "left", "h":
		m.overlay = nil
	case "y":
		return m.copy(o.text, "the value")
	default:
		o.top, _ = moved(name, o.top, o.top, h, len(o.lines))
	}
	o.top = max(min(o.top, len(o.lines)-h), 0)
	return nil
}

// view draws the text.
func (o *overlay) view(m *model, height int) []string {
	if o.width != m.width || o.lines == nil {
		o.width, o.lines = m.width, []string{}
		for _, p := range o.paras {
			o.lines = append(o.lines, strings.Split(m.method.Hardwrap(p, m.width, true), "\n")...)
		}
	}
	h := max(height-1, 1)
	o.top = max(min(o.top, len(o.lines)-h), 0)
	lines := []string{paint(bold+";"+under, m.clip(o.title, m.width))}
	return append(lines, o.lines[o.top:min(o.top+h, len(o.lines))]...)
}

// position tells which lines are on the screen.
func (o *overlay) position() string {
	return fmt.Sprintf("line %s of %s", terminal.Count(o.top+1), terminal.Count(len(o.lines)))
}

// showRow shows all values of a row, one below the other.
func (m *model) showRow() tea.Cmd {
	row := m.rows.row
	return m.readRow(row, func(m *model, names []string, vals []string, _ string) tea.Cmd {
		o := &overlay{title: "row " + terminal.Count(row+1)}
		width := 0
		for _, f := range m.fields {
			width = max(width, min(m.method.StringWidth(f.name), 24))
		}
		for i, name := range names {
			for k, line := range paragraphs(vals[i]) {
				if k > 0 {
					name = ""
				}
				o.paras = append(o.paras, m.fit(name, width, false)+"  "+line)
			}
		}
		o.text = strings.Join(vals, "\n")
		m.overlay = o
		return nil
	})
}

// readRow reads all columns of a row, and calls show with their names, their texts and the row as JSON.
func (m *model) readRow(row int64, show func(m *model, names, vals []string, object string) tea.Cmd) tea.Cmd {
	j, ctx := m.rows.begin("reading row")
	v := m.rows.view
	return m.run(ctx, func(ctx context.Context) result {
		names, vals, object, err := pages.Row(ctx, v, row)
		return func(m *model) tea.Cmd {
			if !m.rows.finish(j, err) || names == nil {
				return nil
			}
			return show(m, names, vals, object)
		}
	})
}
