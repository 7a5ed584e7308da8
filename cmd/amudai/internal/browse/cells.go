package browse

import (
	"encoding/hex"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
)

const (
	nullText  = "·"
	cellBytes = 400 // of a value that is prepared for a cell; the detail pane has it whole
	cellWidth = 40  // of a column that is not alone
)

// field is a column of the table.
type field struct {
	name   string // safe to print
	path   string // for filters and projections
	typ    string
	arrow  arrow.DataType
	number bool // aligned to the right
	text   bool // of strings, or with strings in it
}

func newField(f arrow.Field, path string) field {
	t, _ := extension.Unwrap(f.Type)
	id := t.ID()
	return field{
		name: terminal.Printable(f.Name), path: path, typ: terminal.Printable(text.Type(f.Type)), arrow: f.Type,
		number: arrow.IsInteger(id) || arrow.IsFloating(id) || arrow.IsDecimal(id), text: kinds.HasID(t, arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW),
	}
}

// column has the texts of the cells of a column in a page, as far as they were shown.
type column struct {
	texts []string
	known []bool
}

// textOf returns a function that appends the text of a value, which is not null.
func textOf(a arrow.Array) values.Appender {
	if ids, ok := a.(*array.FixedSizeBinary); ok { // ids and hashes, as people know them
		return func(dst []byte, row int) []byte { return hex.AppendEncode(dst, ids.Value(row)) }
	}
	return values.Text(a)
}

// whole is the text of a value. ok is false for null.
func whole(a arrow.Array, row int) (s string, ok bool) {
	if values.IsNull(a, row) {
		return "", false
	}
	if s, ok := a.(array.StringLike); ok {
		return s.Value(row), true
	}
	return string(textOf(a)(nil, row)), true
}

// short is the beginning of the text of a value, safe to print.
func short(a arrow.Array, row int) string {
	s, ok := whole(a, row)
	if !ok {
		return nullText
	}
	if len(s) > cellBytes {
		n := cellBytes
		for n > cellBytes-utf8.UTFMax && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n] + "…"
	}
	return terminal.Printable(s)
}

// text is what a cell shows: the beginning of a value, or the sign of null.
func (p *page) text(k, row int) string {
	if p.cells == nil && len(p.batches) > 0 {
		p.cells = make([]*column, p.batches[0].NumCols())
	}
	if k >= len(p.cells) {
		return ""
	}
	c := p.cells[k]
	if c == nil {
		n := p.rows()
		c = &column{make([]string, n), make([]bool, n)}
		p.cells[k] = c
	}
	if row < len(c.texts) && !c.known[row] {
		if a, i, ok := p.cell(k, row); ok {
			c.texts[row], c.known[row] = short(a, i), true
		}
	}
	if row >= len(c.texts) {
		return ""
	}
	return c.texts[row]
}
