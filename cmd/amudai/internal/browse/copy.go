package browse

import (
	"context"
	"errors"
	"fmt"

	"github.com/amudai/amudai-go/cmd/amudai/internal/browse/pages"

	tea "charm.land/bubbletea/v2"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
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
	s, ok := pages.Whole(a, i)
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

// export writes the rows of the view to a file.
func (m *model) export(file string) (tea.Cmd, error) {
	if m.table.Export == nil {
		return nil, errors.New("these rows cannot be written")
	}
	j, ctx := m.rows.begin("writing")
	o := provider.ReadOptions{Filter: m.rows.view.Filter}
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
