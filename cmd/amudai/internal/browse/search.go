package browse

import (
	"context"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/text/values"
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
	s := searcher{text: g.wanted, forward: forward}
	var columns []string
	for i, f := range g.m.fields {
		if f.text {
			columns = append(columns, f.path)
			s.numbers = append(s.numbers, i)
		}
	}
	if s.text == "" || row < 0 {
		return nil
	}
	if len(columns) == 0 {
		g.m.say("no column has text")
		return nil
	}
	s.fold = strings.ToLower(s.text) == s.text
	j, ctx := g.begin("searching row")
	j.last = -1
	v := g.view
	return g.m.run(ctx, func(ctx context.Context) result {
		found, column, err := s.run(ctx, v, columns, row, j.progress.Store)
		return func(m *model) tea.Cmd {
			switch {
			case m.rows.view != v || !m.rows.finish(j, err):
			case found < 0 && forward:
				m.say("no further row has " + terminal.Printable(s.text))
			case found < 0:
				m.say("no row before has " + terminal.Printable(s.text))
			default:
				m.rows.row, m.rows.col = found, column
				if found < m.rows.top || found >= m.rows.top+m.rows.height() {
					m.rows.top = max(found-m.rows.height()/2, 0)
				}
			}
			return nil
		}
	})
}

// searcher looks for a text in rows.
type searcher struct {
	text    string
	fold    bool // regardless of case: the text has no capital letters
	forward bool
	numbers []int // of the columns that are searched
}

// run returns the first row that has the text, and its column, or -1.
func (s *searcher) run(ctx context.Context, v *view, columns []string, row int64, progress func(int64)) (found int64, column int, err error) {
	if s.forward {
		return s.between(ctx, v, columns, row, -1, progress)
	}
	step := int64(plainSpan)
	if !v.seeks {
		step = row + 1
	}
	for end := row + 1; end > 0; end -= min(step, end) {
		if found, column, err = s.between(ctx, v, columns, max(end-step, 0), end, progress); found >= 0 || err != nil {
			return found, column, err
		}
	}
	return -1, 0, nil
}

// between searches the rows from one up to, but without, another, which is -1 for the last. It returns the first row with the
// text, or backward the last.
func (s *searcher) between(ctx context.Context, v *view, columns []string, from, to int64, progress func(int64)) (found int64, column int, err error) {
	found = -1
	err = v.walk(ctx, columns, from, func(b arrow.RecordBatch, first int64) (bool, error) {
		progress(first + b.NumRows())
		n := b.NumRows()
		if to >= 0 {
			n = min(n, to-first)
		}
		if i, k := s.batch(b, int(n)); i >= 0 {
			found, column = first+int64(i), s.numbers[k]
			return s.forward, ctx.Err()
		}
		return to >= 0 && first+n >= to, ctx.Err()
	})
	return found, column, err
}

// batch returns the first of n rows with the text, or backward the last, or -1.
func (s *searcher) batch(b arrow.RecordBatch, n int) (row, column int) {
	match := make([]func(int) bool, b.NumCols())
	for k, c := range b.Columns() {
		match[k] = s.matcher(c)
	}
	for i := range n {
		if !s.forward {
			i = n - 1 - i
		}
		for k := range match {
			if match[k](i) {
				return i, k
			}
		}
	}
	return -1, 0
}

// matcher reports for the values of an array whether they have the text.
func (s *searcher) matcher(c arrow.Array) func(i int) bool {
	switch a := c.(type) {
	case array.StringLike:
		return func(i int) bool { return a.IsValid(i) && s.in(a.Value(i)) }
	case *array.Dictionary:
		known := make([]int8, a.Dictionary().Len()) // 1: it has the text, -1: it has not
		of := s.matcher(a.Dictionary())
		return func(i int) bool {
			if !a.IsValid(i) {
				return false
			}
			code := a.GetValueIndex(i)
			if known[code] == 0 {
				known[code] = -1
				if of(code) {
					known[code] = 1
				}
			}
			return known[code] > 0
		}
	}
	text := values.Text(c)
	var buf []byte
	return func(i int) bool {
		if values.IsNull(c, i) {
			return false
		}
		buf = text(buf[:0], i)
		return s.in(string(buf))
	}
}

// in reports whether a value has the text.
func (s *searcher) in(value string) bool {
	if !s.fold {
		return strings.Contains(value, s.text)
	}
	if strings.IndexFunc(s.text, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 {
		return strings.Contains(strings.ToLower(value), s.text)
	}
	return containsFold(value, s.text)
}

// containsFold reports whether s contains a lower-case ASCII text in any case.
func containsFold(s, text string) bool {
	for i := 0; i+len(text) <= len(s); i++ {
		k := 0
		for k < len(text) {
			c := s[i+k]
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			if c != text[k] {
				break
			}
			k++
		}
		if k == len(text) {
			return true
		}
	}
	return false
}
