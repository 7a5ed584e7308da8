package browse

import (
	"context"

	"github.com/amudai/amudai-go/cmd/amudai/internal/browse/pages"

	tea "charm.land/bubbletea/v2"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
)

// search looks for the text again, from the next row on, or backward from the one before.
func (g *grid) search(forward bool) tea.Cmd {
	if g.wanted == "" {
		g.m.say("s searches")
		return nil
	}
	if forward {
		return g.searchFrom(g.row+1, true)
	}
	return g.searchFrom(g.row-1, false)
}

// searchFrom looks for the text in the columns of text, from a row on.
func (g *grid) searchFrom(row int64, forward bool) tea.Cmd {
	s := pages.Searcher{Text: g.wanted, Forward: forward}
	var numbers []int
	for i, f := range g.m.fields {
		if f.text {
			s.Columns = append(s.Columns, f.path)
			numbers = append(numbers, i)
		}
	}
	if s.Text == "" || row < 0 {
		return nil
	}
	if len(s.Columns) == 0 {
		g.m.say("no column has text")
		return nil
	}
	j, ctx := g.begin("searching row")
	v := g.view
	return g.m.run(ctx, func(ctx context.Context) result {
		found, column, err := s.Run(ctx, v, row, j.progress.Store)
		return func(m *model) tea.Cmd {
			switch {
			case m.rows.view != v || !m.rows.finish(j, err):
			case found < 0 && forward:
				m.say("no further row has " + terminal.Printable(s.Text))
			case found < 0:
				m.say("no row before has " + terminal.Printable(s.Text))
			default:
				m.rows.row, m.rows.col = found, numbers[column]
				if found < m.rows.top || found >= m.rows.top+m.rows.height() {
					m.rows.top = max(found-m.rows.height()/2, 0)
				}
			}
			return nil
		}
	})
}
