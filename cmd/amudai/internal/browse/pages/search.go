package pages

import (
	"context"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/engine/pattern"
	"github.com/amudai/amudai-go/internal/text/values"
)

// Searcher looks for a text in rows, regardless of case if the text has no capital letters.
type Searcher struct {
	Text    string
	Columns []string // paths of those that are searched
	Forward bool
}

// Run returns the first row from a row on that has the text, or backward the last one, and its column among those searched. It is -1 if there is none.
func (s *Searcher) Run(ctx context.Context, v *View, row int64, progress func(int64)) (found int64, column int, err error) {
	if s.Forward {
		return s.between(ctx, v, row, -1, progress)
	}
	step := int64(plainSpan)
	if !v.Seeks {
		step = row + 1
	}
	for end := row + 1; end > 0; end -= min(step, end) {
		if found, column, err = s.between(ctx, v, max(end-step, 0), end, progress); found >= 0 || err != nil {
			return found, column, err
		}
	}
	return -1, 0, nil
}

// between searches the rows from one up to, but without, another, which is -1 for the last. It returns the first row with the
// text, or backward the last.
func (s *Searcher) between(ctx context.Context, v *View, from, to int64, progress func(int64)) (found int64, column int, err error) {
	found = -1
	wanted := pattern.Contains(s.Text, strings.ToLower(s.Text) == s.Text)
	err = v.walk(ctx, s.Columns, from, func(b arrow.RecordBatch, first int64) (bool, error) {
		progress(first + b.NumRows())
		n := b.NumRows()
		if to >= 0 {
			n = min(n, to-first)
		}
		if i, k := s.batch(b, int(n), wanted); i >= 0 {
			found, column = first+int64(i), k
			return s.Forward, ctx.Err()
		}
		return to >= 0 && first+n >= to, ctx.Err()
	})
	return found, column, err
}

// batch returns the first of n rows with the text, or backward the last, or -1.
func (s *Searcher) batch(b arrow.RecordBatch, n int, wanted *pattern.Pattern) (row, column int) {
	match := make([]func(int) bool, b.NumCols())
	for k, c := range b.Columns() {
		match[k] = matcher(c, wanted)
	}
	for i := range n {
		if !s.Forward {
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
func matcher(c arrow.Array, wanted *pattern.Pattern) func(i int) bool {
	if a, ok := c.(*array.Dictionary); ok {
		known := make([]int8, a.Dictionary().Len()) // 1: it has the text, -1: it has not
		of := matcher(a.Dictionary(), wanted)
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
	var scratch pattern.Scratch
	return func(i int) bool {
		if values.IsNull(c, i) {
			return false
		}
		buf = text(buf[:0], i)
		return wanted.Match(buf, &scratch)
	}
}
