package rowset

import (
	"math"
	"slices"

	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Clip returns the rows of the set from from up to, but not including, to.
func (s Set) Clip(from, to int64) Set {
	b := s.Bounds()
	if from <= b.From && to >= b.To {
		return s
	}
	from, to = max(from, b.From), min(to, b.To)
	if s.bits != nil && from < to {
		s.window = Range{from - s.by, to - s.by}
		return s.trimmed()
	}
	i := s.after(0, from)
	end := s.after(i, to)
	if end < s.spans() && s.span(end).From < to {
		end++
	}
	switch {
	case from >= to || i >= end:
		return Set{}
	case s.rows != nil:
		s.rows = s.rows[i:end]
		s.n = int64(end - i)
	default:
		s.ranges = s.ranges[i:end]
		s.window = Range{from - s.by, to - s.by}
		s.n = int64(min(s.count(), math.MaxInt64))
	}
	return s
}

// Overlaps reports whether the set has rows from from up to, but not including, to.
func (s Set) Overlaps(from, to int64) bool {
	b := s.Bounds()
	if from, to = max(from, b.From), min(to, b.To); from >= to {
		return false
	}
	if s.bits == nil {
		i := s.after(0, from)
		return s.span(i).From < to
	}
	view := bitmap.Bits{Data: s.bits, Off: int(from - s.by), Len: int(to - from)}
	return next(view, 0, 0, view.Len, 0) < view.Len
}

// Split returns the first n rows of the set, and the rest.
func (s Set) Split(n int64) (first, rest Set) {
	if n <= 0 {
		return Set{}, s
	}
	if n >= s.n {
		return s, Set{}
	}
	at := s.Row(n)
	return s.Clip(math.MinInt64, at), s.Clip(at, math.MaxInt64)
}

// Shift returns the set with by added to every row.
func (s Set) Shift(by int64) Set {
	if by > 0 {
		s = s.Clip(math.MinInt64, math.MaxInt64-by)
	} else {
		s = s.Clip(math.MinInt64-by, math.MaxInt64)
	}
	if s.n > 0 {
		s.by += by // the sum may wrap around; sums with it then wrap back
	}
	return s
}

// Equal reports whether two sets have the same rows.
func (s Set) Equal(o Set) bool {
	if s.n != o.n {
		return false
	}
	for a, b := cursorOf(s), cursorOf(o); a.move(); {
		if !b.move() || a.Range != b.Range {
			return false
		}
	}
	return true
}

// And returns the rows that are in both sets.
func (s Set) And(o Set) Set {
	b := s.Bounds()
	o = o.Clip(b.From, b.To)
	if s.spans() == 1 {
		return o
	}
	b = o.Bounds()
	s = s.Clip(b.From, b.To)
	if o.spans() == 1 || s.same(o) {
		return s
	}
	switch {
	case s.rows != nil && o.bits != nil:
		return s.keep(o, true)
	case o.rows != nil && s.bits != nil:
		return o.keep(s, true)
	case s.bits != nil || o.bits != nil:
		if both, ok := s.combined(o, b, and); ok {
			return both
		}
		s, o = s.Listed(), o.Listed()
	}
	if o.spans() < s.spans() {
		s, o = o, s
	}
	if s.rows != nil {
		return s.keep(o, true)
	}
	out := make([]Range, 0, s.spans())
	i := 0
	for r := range s.Ranges() {
		for i = o.after(i, r.From); i < o.spans(); i++ {
			x := o.span(i)
			if x.From < r.To {
				out = join(out, Range{max(x.From, r.From), min(x.To, r.To)})
			}
			if x.To >= r.To { // the next range may be in it, too
				break
			}
		}
	}
	return setOf(out)
}

// same reports whether two sets are surely equal, because they share their memory.
func (s Set) same(o Set) bool {
	switch {
	case s.n != o.n || s.by != o.by || s.spans() != o.spans() || (s.bits == nil) != (o.bits == nil) || s.n == 0:
		return s.n == 0 && o.n == 0
	case s.bits != nil:
		return &s.bits[0] == &o.bits[0] && s.window == o.window
	case s.rows != nil:
		return o.rows != nil && &s.rows[0] == &o.rows[0]
	}
	return o.rows == nil && &s.ranges[0] == &o.ranges[0] && s.window == o.window
}

// keep returns those of single rows that are in another set, or those that are not.
func (s Set) keep(o Set, in bool) Set {
	rows := make([]uint32, 0, s.n)
	i, n := 0, o.spans()
	for _, r := range s.rows {
		row := s.by + int64(r)
		if i < n && o.span(i).To <= row {
			i = o.after(i+1, row)
		}
		if (i < n && o.span(i).From <= row || o.bits != nil && o.Contains(row)) == in {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return Set{}
	}
	return Set{n: int64(len(rows)), by: s.by, rows: rows}
}

// Minus returns the rows that are not in another set.
func (s Set) Minus(o Set) Set {
	b := s.Bounds()
	if o = o.Clip(b.From, b.To); o.n == 0 {
		return s
	}
	if s.same(o) {
		return Set{}
	}
	if s.rows != nil {
		return s.keep(o, false)
	}
	if s.bits != nil || o.bits != nil {
		if rest, ok := s.combined(o, b, minus); ok {
			return rest
		}
		s, o = s.Listed(), o.Listed()
		return s.Minus(o)
	}
	out := make([]Range, 0, s.spans()+o.spans())
	i := 0
	for r := range s.Ranges() {
		for i = o.after(i, r.From); i < o.spans() && r.From < r.To; i++ {
			x := o.span(i)
			if x.From >= r.To {
				break
			}
			if x.From > r.From {
				out = append(out, Range{r.From, x.From})
			}
			if r.From = x.To; x.To > r.To {
				break
			}
		}
		if r.From < r.To {
			out = append(out, r)
		}
	}
	return setOf(out)
}

// Or returns the rows that are in either set.
func (s Set) Or(o Set) Set {
	if o.n == 0 {
		return s
	}
	if s.n == 0 {
		return o
	}
	if s.bits != nil || o.bits != nil {
		a, b := s.Bounds(), o.Bounds()
		if both, ok := s.combined(o, Range{min(a.From, b.From), max(a.To, b.To)}, or); ok {
			return both
		}
	}
	x, y := cursorOf(s), cursorOf(o)
	out := make([]Range, 0, x.set.spans()+y.set.spans())
	for moreX, moreY := x.move(), y.move(); moreX || moreY; {
		if !moreY || moreX && x.From <= y.From {
			out = join(out, x.Range)
			moreX = x.move()
		} else {
			out = join(out, y.Range)
			moreY = y.move()
		}
	}
	return setOf(out)
}

// Clip returns the parts of ascending ranges within the first n rows. Nil stays nil.
func Clip(ranges []Range, n int64) []Range {
	if ranges == nil {
		return nil
	}
	within := make([]Range, 0, len(ranges))
	for _, r := range ranges {
		if r.To = min(r.To, n); r.From < r.To {
			within = append(within, r)
		}
	}
	return within
}

// Shift returns ascending ranges by their distance from a row, without the rows before it. Nil stays nil.
func Shift(ranges []Range, first int64) []Range {
	if ranges == nil {
		return nil
	}
	shifted := make([]Range, 0, len(ranges))
	for _, r := range ranges {
		if r.To > first {
			shifted = append(shifted, Range{max(r.From-first, 0), r.To - first})
		}
	}
	return shifted
}

// Count is the number of rows of ranges that do not overlap.
func Count(ranges []Range) (n int64) {
	for _, r := range ranges {
		n += r.Len()
	}
	return n
}

// Row returns the row with a number among the rows of ascending ranges. Nil stands for all rows.
func Row(ranges []Range, number int64) int64 {
	for _, r := range ranges {
		if number < r.Len() {
			return r.From + number
		}
		number -= r.Len()
	}
	return number
}

// Ranges are ascending rows as ranges.
func Ranges(rows []int64) []Range { return slices.AppendSeq([]Range{}, FromRows(rows).Ranges()) }
