package browse

import (
	"context"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/browse/pages"
	"github.com/amudai/amudai-go/cmd/amudai/internal/complete"

	tea "charm.land/bubbletea/v2"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/filter"
)

// offer finds the completions of the word before the cursor.
func (p *prompt) offer(m *model) {
	p.from, p.offered = m.names.Condition(p.text[:p.at], m.rows.valuesOf)
}

// valuesOf are frequent values of the column at a path, as conditions write them, as far as they are known.
func (g *grid) valuesOf(path string) []string {
	if _, asked := g.samples[path]; !asked {
		g.samples[path] = nil
		g.unsampled = append(g.unsampled, path)
	}
	return g.samples[path]
}

// sample reads values of the columns that completion asked for.
func (g *grid) sample() tea.Cmd {
	if len(g.unsampled) == 0 {
		return nil
	}
	path := g.unsampled[0]
	g.unsampled = g.unsampled[1:]
	v := newView(&g.m.table, filter.Expr{})
	return g.m.run(g.m.ctx, func(ctx context.Context) result {
		list, err := pages.Frequent(ctx, v, path)
		return func(m *model) tea.Cmd {
			m.fail(err)
			m.rows.samples[path] = list
			if m.prompt != nil && m.prompt.kind == wherePrompt && m.prompt.choice < 0 {
				m.prompt.offer(m)
			}
			return m.rows.sample()
		}
	})
}

// complete inserts what all completions have in common, or one after the other.
func (p *prompt) complete(m *model, forward bool) {
	if p.kind != wherePrompt || len(p.offered) == 0 {
		return
	}
	n := len(p.offered)
	switch {
	case n == 1:
		p.replace(p.offered[0] + " ")
		p.offer(m)
		return
	case p.choice < 0:
		if c := complete.Common(p.offered); len([]rune(c)) > p.at-p.from {
			p.replace(c)
			return
		}
		p.choice = 0
		if !forward {
			p.choice = n - 1
		}
	case forward:
		p.choice = (p.choice + 1) % n
	default:
		p.choice = (p.choice + n - 1) % n
	}
	p.replace(p.offered[p.choice])
}

// replace puts another word before the cursor.
func (p *prompt) replace(word string) {
	if strings.HasSuffix(word, "( ") {
		word = strings.TrimSuffix(word, " ")
	}
	p.text = slices.Replace(p.text, p.from, p.at, []rune(word)...)
	p.at = p.from + len([]rune(word))
}

// offers is the line of the completions.
func (p *prompt) offers(m *model) string {
	if p.kind != wherePrompt {
		return paint(dim, m.clip(map[promptKind]string{
			searchPrompt:  "a text in the columns of text; capital letters make a difference if it has any",
			rowPrompt:     "the number of a row, from 1",
			commandPrompt: "NUMBER goes to a row, w FILE writes the rows, q leaves",
		}[p.kind], m.width))
	}
	first := max(p.choice-2, 0)
	line, room := "", m.width
	for i := first; i < len(p.offered) && room > 3; i++ {
		word := m.clip(terminal.Printable(p.offered[i]), room-1)
		room -= m.method.StringWidth(word) + 2
		style := dim
		if i == p.choice {
			style = reverse
		}
		line += paint(style, word) + "  "
	}
	return strings.TrimRight(line, " ")
}
