package browse

import (
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/browse/pages"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
)

// measure is the width of a column: that of its name and of the values on the screen that are in memory. It only grows.
func (g *grid) measure(column int) int {
	w := g.widths[column]
	if w == 0 {
		f := g.m.fields[column]
		w = max(min(g.m.method.StringWidth(f.name), 24), min(len(f.typ), 12), 1)
	}
	for row := g.top; row < g.top+g.height(); row++ {
		if s, ok := g.text(row, column); ok {
			w = max(w, g.m.method.StringWidth(s))
		}
	}
	g.widths[column] = w
	return w
}

// numbersWidth is the width of the row numbers on the left.
func (g *grid) numbersWidth() int {
	return max(len(terminal.Count(g.top+g.height())), 3)
}

const gap = 2 // columns between cells

// layout places columns on the screen, so that the one of the cursor is whole, if it can be.
func (g *grid) layout() {
	g.shown = g.shown[:0]
	if len(g.m.fields) == 0 {
		return
	}
	room := g.m.width - g.numbersWidth() - gap
	frozen := g.frozen(room)
	rest := room - frozen - gap
	g.left = max(min(g.left, len(g.m.fields)-1), 1)
	if g.col > 0 {
		from := min(g.left, g.col)
		g.left = g.col
		sum := min(g.measure(g.col), cellWidth)
		for k := g.col - 1; k >= from; k-- { // only columns that fit are measured
			if sum += min(g.measure(k), cellWidth) + gap; sum > rest {
				break
			}
			g.left = k
		}
	}
	g.shown = append(g.shown, place{0, frozen})
	wide := -1 // the last column that is cut
	for k := g.left; k < len(g.m.fields) && rest > 0; k++ {
		w := min(g.measure(k), cellWidth)
		if g.widths[k] > w {
			wide = len(g.shown)
		}
		if w > rest && rest < 4 {
			break
		}
		w = min(w, rest)
		g.shown = append(g.shown, place{k, w})
		rest -= w + gap
	}
	if last := g.shown[len(g.shown)-1].column; wide >= 0 && last == len(g.m.fields)-1 && rest+gap > 0 {
		p := &g.shown[wide]
		p.width += max(min(rest+gap, g.widths[p.column]-p.width), 0)
	}
}

// frozen is the width of the first column, which leaves room for others.
func (g *grid) frozen(room int) int {
	w := g.measure(0)
	if len(g.m.fields) == 1 {
		return max(min(w, room), 1)
	}
	return max(min(w, cellWidth, room/3), 1)
}

// viewLines draws the rows below the names and types of the columns.
func (g *grid) viewLines(height int) []string {
	if len(g.m.fields) == 0 {
		return []string{"the table has no columns"}
	}
	margin := strings.Repeat(" ", g.numbersWidth()+gap)
	names, types := margin, margin
	for i, p := range g.shown {
		f := g.m.fields[p.column]
		style := bold
		if p.column == g.col {
			style = bold + ";" + under
		}
		space := strings.Repeat(" ", gap)
		if i == len(g.shown)-1 {
			space = ""
		}
		names += paint(style, g.m.fit(f.name, p.width, f.number)) + space
		types += paint(dim, g.m.fit(f.typ, p.width, f.number)) + space
	}
	lines := []string{names, types}
	n := g.view.Rows()
	for row := g.top; len(lines) < height; row++ {
		if n >= 0 && row >= n {
			break
		}
		lines = append(lines, g.line(row))
	}
	if n == 0 {
		text := "no rows"
		if g.where != "" {
			text = "no row meets the condition"
		}
		lines = append(lines, margin+paint(dim, text))
	}
	return lines[:min(len(lines), height)]
}

// line draws a row.
func (g *grid) line(row int64) string {
	var b strings.Builder
	number := g.m.fit(terminal.Count(row+1), g.numbersWidth(), true)
	style := dim
	if row == g.row {
		style = bold
	}
	b.WriteString(paint(style, number))
	for _, p := range g.shown {
		b.WriteString(strings.Repeat(" ", gap))
		s, ok := g.text(row, p.column)
		style := plain
		switch {
		case !ok:
			s, style = "…", dim
		case s == pages.NullText:
			style = dim
		}
		if row == g.row && p.column == g.col {
			style = reverse
		}
		b.WriteString(paint(style, g.m.fit(s, p.width, g.m.fields[p.column].number)))
	}
	return b.String()
}
