package pages

import (
	"encoding/hex"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/text/values"
)

const (
	// NullText is what a cell shows for null.
	NullText  = "·"
	cellBytes = 400 // of a value that is prepared for a cell; the detail pane has it whole
)

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

// Whole is the text of a value. ok is false for null.
func Whole(a arrow.Array, row int) (s string, ok bool) {
	if values.IsNull(a, row) {
		return "", false
	}
	if s, ok := a.(array.StringLike); ok {
		return s.Value(row), true
	}
	return string(textOf(a)(nil, row)), true
}

// Short is the beginning of the text of a value, safe to print.
func Short(a arrow.Array, row int) string {
	s, ok := Whole(a, row)
	if !ok {
		return NullText
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

// Text is what a cell shows: the beginning of a value, or the sign of null.
func (p *Page) Text(k, row int) string {
	if p.cells == nil && len(p.batches) > 0 {
		p.cells = make([]*column, p.batches[0].NumCols())
	}
	if k >= len(p.cells) {
		return ""
	}
	c := p.cells[k]
	if c == nil {
		n := p.NumRows()
		c = &column{make([]string, n), make([]bool, n)}
		p.cells[k] = c
	}
	if row < len(c.texts) && !c.known[row] {
		if a, i, ok := p.Cell(k, row); ok {
			c.texts[row], c.known[row] = Short(a, i), true
		}
	}
	if row >= len(c.texts) {
		return ""
	}
	return c.texts[row]
}
