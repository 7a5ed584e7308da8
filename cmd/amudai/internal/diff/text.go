package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/table"
)

// Text prints differences for people.
type Text struct {
	Screen   terminal.Screen
	Old, New string   // names of the tables
	Keys     []string // names of the values of the key
	Limit    int64    // most rows that are shown, negative for all

	columns table.DiffColumns
	rows    int64
	keys    int64 // that several rows have
	headed  bool
}

const (
	cellWidth = 40 // most of a value on a terminal
	shownKeys = 10 // most keys of several rows that are named, unless all rows are shown
)

// Columns implements [Printer].
func (t *Text) Columns(c table.DiffColumns) error {
	t.columns = c
	if !c.Changed() {
		return nil
	}
	if err := t.head(); err != nil {
		return err
	}
	for _, column := range c.All {
		if err := t.column(column); err != nil {
			return err
		}
	}
	if c.Ordered {
		return nil
	}
	old, new := c.Orders()
	return t.Screen.Printf("%s columns in another order: %s → %s\n", t.mark(table.RowChanged), strings.Join(old, ", "), strings.Join(new, ", "))
}

// head prints the names of both tables, once.
func (t *Text) head() error {
	if t.headed {
		return nil
	}
	t.headed = true
	return t.Screen.Printf("%s\n%s\n", t.Screen.Paint(terminal.Red, "--- "+t.Old), t.Screen.Paint(terminal.Green, "+++ "+t.New))
}

// mark is the first character of a line.
func (t *Text) mark(k table.DiffKind) terminal.Styled {
	switch k {
	case table.RowRemoved:
		return t.Screen.Paint(terminal.Red, "-")
	case table.RowAdded:
		return t.Screen.Paint(terminal.Green, "+")
	}
	return t.Screen.Paint(terminal.Cyan, "~")
}

// column prints a column that differs.
func (t *Text) column(c table.DiffColumn) error {
	switch {
	case !c.Changed:
		return nil
	case c.New == nil:
		return t.Screen.Printf("%s column %s: %s\n", t.mark(table.RowRemoved), c.Name, text.Type(c.Old))
	case c.Old == nil:
		return t.Screen.Printf("%s column %s: %s\n", t.mark(table.RowAdded), c.Name, text.Type(c.New))
	}
	note := "its values are not compared"
	if c.Common != nil {
		note = "values are compared as " + text.Type(c.Common)
	}
	return t.Screen.Printf("%s column %s: %s → %s (%s)\n", t.mark(table.RowChanged), c.Name,
		t.Screen.Paint(terminal.Red, text.Type(c.Old)), t.Screen.Paint(terminal.Green, text.Type(c.New)), note)
}

// Stored implements [Printer].
func (t *Text) Stored(s *table.DiffStored) error {
	if err := t.head(); err != nil {
		return err
	}
	list := terminal.NewTable().Text("stored").Numbers("old bytes", "new bytes", "change").Text("encodings")
	row := func(name string, old, new *table.StoredField) {
		var bytes [2]string
		var encodings []string
		change := ""
		for i, f := range []*table.StoredField{old, new} {
			if f == nil {
				continue
			}
			bytes[i] = terminal.Count(f.Bytes)
			names := make([]string, len(f.Encodings))
			for k, e := range f.Encodings {
				names[k] = e.Name
			}
			if text := strings.Join(names, ", "); text != "" && !slices.Contains(encodings, text) {
				encodings = append(encodings, text)
			}
		}
		if old != nil && new != nil && old.Bytes > 0 {
			change = fmt.Sprintf("%+.1f %%", 100*float64(new.Bytes-old.Bytes)/float64(old.Bytes))
		}
		list.Row(name, bytes[0], bytes[1], change, strings.Join(encodings, " → "))
	}
	alike := 0
	for _, f := range s.Fields {
		if storedAlike(f.Old, f.New) {
			alike++
			continue
		}
		row(cmp.Or(f.Old, f.New).Path, f.Old, f.New)
	}
	row("(all)", &table.StoredField{Bytes: s.Old}, &table.StoredField{Bytes: s.New})
	t.Screen.Table(list, "")
	if alike > 0 {
		return t.Screen.Printf("%s\n", t.Screen.Paint(terminal.Dim, terminal.Plural(alike, "field")+" stored alike"))
	}
	return nil
}

// Row implements [Printer].
func (t *Text) Row(r table.DiffRow) error {
	if r.Kind == table.RowDuplicate {
		return t.duplicate(r)
	}
	if t.rows++; t.Limit >= 0 && t.rows > t.Limit {
		return nil
	}
	if err := t.head(); err != nil {
		return err
	}
	if r.Kind == table.RowChanged {
		return t.changed(r)
	}
	row := r.Old
	color := terminal.Red
	if r.Kind == table.RowAdded {
		row, color = r.New, terminal.Green
	}
	var cells []string
	for i, c := range t.columns.All {
		if row.Arrays[i] != nil {
			cells = append(cells, c.Name+"="+t.cell(row.Arrays[i], row.Index))
		}
	}
	line := strings.Join(cells, " ") // the key is among them
	if r.Position >= 0 {
		line = t.label(r, row) + ": " + line
	}
	if t.Screen.Width > 0 {
		line = terminal.Clip(terminal.Printable(line), t.Screen.Width-2)
	}
	return t.Screen.Printf("%s %s\n", t.mark(r.Kind), t.Screen.Paint(color, line))
}

// changed prints the old and the new values of a row.
func (t *Text) changed(r table.DiffRow) error {
	line := terminal.Format("%s %s:", t.mark(table.RowChanged), t.label(r, r.Old))
	for n, i := range r.Columns {
		if n > 0 {
			line = terminal.Format("%s,", line)
		}
		line = terminal.Format("%s %s: %s → %s", line, t.columns.All[i].Name,
			t.Screen.Paint(terminal.Red, t.cell(r.Old.Arrays[i], r.Old.Index)),
			t.Screen.Paint(terminal.Green, t.cell(r.New.Arrays[i], r.New.Index)))
	}
	return t.Screen.Printf("%s\n", line)
}

// label names a row by its key, or else by its position.
func (t *Text) label(r table.DiffRow, row table.DiffValues) string {
	if r.Position >= 0 {
		return "row " + terminal.Count(r.Position)
	}
	return t.key(row)
}

func (t *Text) key(row table.DiffValues) string {
	parts := make([]string, len(row.Keys))
	for i, k := range row.Keys {
		parts[i] = t.Keys[i] + "=" + t.cell(k, row.Index)
	}
	return strings.Join(parts, " ")
}

// cell is a value as text, cut on a terminal.
func (t *Text) cell(a arrow.Array, row int) string {
	if values.IsNull(a, row) {
		return "null"
	}
	s := terminal.Printable(string(values.Text(a)(nil, row)))
	if t.Screen.Width > 0 {
		s = terminal.Clip(s, cellWidth)
	}
	return quoted(s)
}

// quoted puts a value in quotes that could be misread.
func quoted(s string) string {
	if s == "" || s == "null" || strings.ContainsAny(s, " ,'=") {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return s
}

func (t *Text) duplicate(r table.DiffRow) error {
	if t.keys++; t.Limit >= 0 && t.keys > min(t.Limit, shownKeys) {
		return nil
	}
	if err := t.head(); err != nil {
		return err
	}
	row, inNew := second(r)
	name := t.Old
	if inNew {
		name = t.New
	}
	return t.Screen.Printf("! several rows of %s have %s\n", name, t.key(row))
}

// Summary implements [Printer].
func (t *Text) Summary(s table.DiffSummary, differs bool) error {
	if hidden := t.rows - t.Limit; t.Limit >= 0 && hidden > 0 {
		t.Screen.Printf("%s\n", t.Screen.Paint(terminal.Dim, "… and "+terminal.Plural(int(hidden), "more row")+": --limit -1 shows all"))
	}
	if s.DuplicateKeys > 0 {
		t.Screen.Printf("! duplicate keys: %s; rows of the same key are compared in their order\n", terminal.Count(s.DuplicateKeys))
	}
	if !differs {
		return t.Screen.Printf("no difference in %s\n", terminal.Plural(int(s.Equal), "row"))
	}
	if s.Rows() == 0 {
		return t.Screen.Printf("the columns differ, not the values in %s\n", terminal.Plural(int(s.Equal), "row"))
	}
	return t.Screen.Printf("%s changed, %s removed, %s added, %s equal\n",
		terminal.Plural(int(s.Changed), "row"), terminal.Count(s.Removed), terminal.Count(s.Added), terminal.Count(s.Equal))
}
