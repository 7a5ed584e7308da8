package browse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/table/provider"
)

// mostCopy is the number of bytes that terminals take for their clipboard: 100 kB, in base64.
const mostCopy = 74_000

// copy gives a text to the clipboard of the terminal.
func (m *model) copy(s, name string) tea.Cmd {
	if len(s) > mostCopy {
		m.fail(fmt.Errorf("%s has %s, a terminal copies up to %s; :w FILE writes rows to a file", name, terminal.Plural(len(s), "byte"), terminal.Count(mostCopy)))
		return nil
	}
	m.say(fmt.Sprintf("copied %s, %s", name, terminal.Plural(len(s), "byte")))
	return tea.SetClipboard(s)
}

// copyCell copies the value of the cursor.
func (m *model) copyCell() tea.Cmd {
	a, i, ok := m.rows.cell(m.rows.row, m.rows.col)
	if !ok {
		return nil
	}
	s, ok := whole(a, i)
	if !ok {
		m.fail(errors.New("null cannot be copied"))
		return nil
	}
	return m.copy(s, "the value")
}

// copyRow copies the row of the cursor as JSON.
func (m *model) copyRow() tea.Cmd {
	return m.readRow(m.rows.row, func(m *model, _, _ []string, object string) tea.Cmd { return m.copy(object, "the row") })
}

// rowOf reads a row: the names of its columns, its values, and a JSON object of them. Without such a row, names is nil.
func rowOf(ctx context.Context, v *view, row int64) (names, vals []string, object string, err error) {
	c := v.cursor(nil, pageRows, row)
	defer func() { err = errors.Join(err, c.close()) }()
	for {
		b, first, err := c.next(ctx)
		if err != nil || b == nil {
			return nil, nil, "", err
		}
		if row >= c.row {
			b.Release()
			continue
		}
		names, vals, object = rowText(b, int(row-first))
		b.Release()
		return names, vals, object, nil
	}
}

// rowText is a row of a batch as texts, and as a JSON object.
func rowText(b arrow.RecordBatch, row int) (names, vals []string, object string) {
	names = []string{}
	var j strings.Builder
	j.WriteByte('{')
	for i, col := range b.Columns() {
		names = append(names, terminal.Printable(b.ColumnName(i)))
		s, ok := whole(col, row)
		if !ok {
			s = nullText
		}
		vals = append(vals, s)
		if i > 0 {
			j.WriteByte(',')
		}
		key, _ := json.Marshal(b.ColumnName(i)) // a string has no error
		j.Write(key)
		j.WriteByte(':')
		j.Write(values.JSON(col)(nil, row))
	}
	j.WriteByte('}')
	return names, vals, j.String()
}

// export writes the rows of the view to a file.
func (m *model) export(file string) (tea.Cmd, error) {
	if m.table.Export == nil {
		return nil, errors.New("these rows cannot be written")
	}
	j, ctx := m.rows.begin("writing")
	j.last = -1
	o := provider.ReadOptions{Filter: m.rows.view.filter}
	return m.run(ctx, func(ctx context.Context) result {
		n, err := m.table.Export(ctx, file, o)
		return func(m *model) tea.Cmd {
			if m.rows.finish(j, err) {
				m.say("wrote " + terminal.Plural(n, "row") + " to " + terminal.Printable(file))
			}
			return nil
		}
	}), nil
}
