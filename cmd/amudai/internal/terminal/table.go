package terminal

import (
	"slices"
	"strings"
)

// Table is a table for people: a header, a line below it, and columns two spaces apart.
type Table struct {
	// Narrowest is the minimum width to which texts are cut before columns are left out, on a narrow screen. With
	// 0, columns are left out first.
	Narrowest int
	// Widest is the width beyond which cells are cut on a screen. 0 means no limit.
	Widest int

	columns []column
	rows    [][]string
}

type column struct {
	title    string
	numbers  bool // aligned to the right, never cut
	optional bool // the first to be left out
	hidden   bool
	most     int // width beyond which cells are cut; 0: no limit
}

// NewTable returns a table of columns with plain titles.
func NewTable() *Table { return &Table{} }

// Text adds columns that are aligned to the left.
func (t *Table) Text(titles ...string) *Table { return t.add(column{}, titles) }

// Numbers adds columns that are aligned to the right.
func (t *Table) Numbers(titles ...string) *Table { return t.add(column{numbers: true}, titles) }

func (t *Table) add(c column, titles []string) *Table {
	for _, title := range titles {
		c.title = Printable(title)
		t.columns = append(t.columns, c)
	}
	return t
}

// Optional marks columns, by title, that are left out on a narrow screen.
func (t *Table) Optional(titles ...string) *Table {
	for i := range t.columns {
		t.columns[i].optional = t.columns[i].optional || slices.Contains(titles, t.columns[i].title)
	}
	return t
}

// Row adds a row. Cells are made printable unless they are [Styled]. Surplus cells are dropped.
func (t *Table) Row(cells ...any) {
	row := make([]string, len(t.columns))
	for i := range min(len(cells), len(row)) {
		if s, ok := cells[i].(string); ok {
			row[i] = Printable(s)
		} else {
			row[i] = Format("%v", cells[i]).text
		}
	}
	t.rows = append(t.rows, row)
}

// Texts adds a row of texts, as Row does.
func (t *Table) Texts(cells ...string) {
	row := make([]string, len(t.columns))
	for i := range min(len(cells), len(row)) {
		row[i] = Printable(cells[i])
	}
	t.rows = append(t.rows, row)
}

// fit reduces the table to a width: first optional columns are left out, then texts are cut, then the last columns
// are left out. It returns the number of columns left out.
func (t *Table) fit(width int) (hidden int) {
	widths := make([]int, len(t.columns))
	for i := range t.columns {
		c := &t.columns[i]
		c.most = t.Widest
		widths[i] = Width(c.title)
		for _, r := range t.rows {
			w := Width(r[i])
			if c.most > 0 {
				w = min(w, c.most)
			}
			widths[i] = max(widths[i], w)
		}
	}
	excess := func() int {
		sum := -2 - width
		for i, c := range t.columns {
			if !c.hidden {
				sum += widths[i] + 2
			}
		}
		return sum
	}
	for i := len(t.columns) - 1; i >= 0 && excess() > 0; i-- {
		if t.columns[i].optional {
			t.columns[i].hidden = true
			hidden++
		}
	}
	for t.Narrowest > 0 && excess() > 0 {
		widest := -1
		for i, c := range t.columns {
			if !c.hidden && !c.numbers && widths[i] > max(t.Narrowest, len(c.title)) && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
		t.columns[widest].most = widths[widest]
	}
	for i := len(t.columns) - 1; i > 0 && excess() > 0; i-- {
		if !t.columns[i].hidden {
			t.columns[i].hidden = true
			hidden++
		}
	}
	return hidden
}

// Table prints a table that fits the screen. It returns the number of columns left out.
func (s Screen) Table(t *Table, indent string) (hidden int) {
	if s.Width > 0 {
		hidden = t.fit(max(s.Width-Width(indent), 20))
	}
	for _, line := range strings.Split(s.render(t), "\n") {
		s.Printf("%s\n", Styled{indent + line})
	}
	return hidden
}

// TableOr prints a table. If columns do not fit on the screen, a line tells how to see them.
func (s Screen) TableOr(t *Table, indent, hint string) {
	if hidden := s.Table(t, indent); hidden > 0 {
		s.Printf("%s%s\n", indent, s.Paint(Dim, "… and "+Plural(hidden, "more column")+": "+hint))
	}
}

// render gives the lines of a table, which end at their last character.
func (s Screen) render(t *Table) string {
	var shown []int
	var header []string
	for i, c := range t.columns {
		if !c.hidden {
			shown = append(shown, i)
			header = append(header, s.Paint(Bold, c.title).text)
		}
	}
	rows := [][]string{header}
	for _, r := range t.rows {
		row := make([]string, len(shown))
		for k, i := range shown {
			row[k] = Clip(r[i], t.columns[i].most)
		}
		rows = append(rows, row)
	}
	widths := make([]int, len(shown))
	for _, row := range rows {
		for k, cell := range row {
			widths[k] = max(widths[k], Width(cell))
		}
	}
	lines := make([]string, 0, len(rows)+1)
	width := 0
	for _, row := range rows {
		for k, cell := range row {
			row[k] = Pad(cell, widths[k], t.columns[shown[k]].numbers)
		}
		line := strings.TrimRight(strings.Join(row, "  "), " ")
		width = max(width, Width(line))
		lines = append(lines, line)
	}
	return strings.Join(slices.Insert(lines, 1, strings.Repeat("─", width)), "\n")
}
