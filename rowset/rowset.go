// Package rowset holds sets of rows as ranges. It is what statistics, Bloom
// filters and indexes give the planner of a scan, and what a scan asks columns
// for.
//
//	rows  0 1 2 3 4 5 6 7 8 9
//	set     x x x       x x      Set{{1, 4}, {7, 9}}
//
// A set is never changed once it is made: operations give new sets, which may
// share memory with the old ones. Numbers at the end of what an int64 holds do
// not overflow; rows that would lie beyond are left out.
package rowset

import (
	"cmp"
	"iter"
	"math"
	"slices"
)

// Range is the rows from From up to (not including) To.
type Range struct{ From, To int64 }

// Len is the number of rows, 0 if To is not above From.
func (r Range) Len() int64 { return Set{r}.Len() }

// Set is a set of rows: ranges in ascending order none of which is empty,
// overlaps the next or touches it, so that equal sets are equal slices. nil is
// the empty set. [Of] makes a set of any ranges; methods of a Set that is none
// give some result without a meaning.
type Set []Range

// All is the rows from 0 up to n.
func All(n int64) Set { return Of(Range{0, n}) }

// Of is the rows that lie in any of the ranges, which may come in any order,
// overlap, and be empty.
func Of(ranges ...Range) Set {
	var out Set
	for _, r := range ranges {
		if r.From < r.To {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Range) int { return cmp.Compare(a.From, b.From) })
	joined := out[:0]
	for _, r := range out {
		joined = join(joined, r)
	}
	return joined
}

// join adds a range that begins at or behind the beginning of the last one.
func join(s Set, r Range) Set {
	if last := len(s) - 1; last >= 0 && r.From <= s[last].To {
		s[last].To = max(s[last].To, r.To)
		return s
	}
	return append(s, r)
}

// FromRows is a set of single rows in ascending order; a row may be repeated.
// The greatest int64 is no row.
func FromRows(rows []int64) Set {
	n := 0
	for i, row := range rows {
		if i == 0 || row > rows[i-1]+1 {
			n++
		}
	}
	out := make(Set, 0, n)
	for _, row := range rows {
		if row < math.MaxInt64 {
			out = join(out, Range{row, row + 1})
		}
	}
	return out
}

// Len is the number of rows, at most the greatest int64.
func (s Set) Len() int64 {
	total := uint64(0)
	for _, r := range s {
		if r.From < r.To {
			total += uint64(r.To) - uint64(r.From) // ranges do not overlap: less than 2^64
		}
	}
	return int64(min(total, math.MaxInt64))
}

// Bounds is the range from the first row to the last, empty if there is none.
func (s Set) Bounds() Range {
	if len(s) == 0 {
		return Range{}
	}
	return Range{s[0].From, s[len(s)-1].To}
}

// after is the index of the first range that ends behind a row.
func (s Set) after(row int64) int {
	lo, hi := 0, len(s)
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); s[mid].To > row {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// Contains tells whether a row is in the set.
func (s Set) Contains(row int64) bool {
	i := s.after(row)
	return i < len(s) && s[i].From <= row
}

// Clip is the rows of the set from from up to (not including) to.
func (s Set) Clip(from, to int64) Set {
	if from >= to {
		return nil
	}
	s = s[s.after(from):]
	end := s.after(to)
	if end < len(s) && s[end].From < to {
		end++
	}
	s = s[:end:end]
	if len(s) == 0 {
		return nil
	}
	if s[0].From < from || s[end-1].To > to {
		s = slices.Clone(s)
		s[0].From = max(s[0].From, from)
		s[end-1].To = min(s[end-1].To, to)
	}
	return s
}

// Shift is the set with by added to every row.
func (s Set) Shift(by int64) Set {
	if by == 0 {
		return s
	}
	out := make(Set, 0, len(s))
	for _, r := range s {
		if r = (Range{add(r.From, by), add(r.To, by)}); r.From < r.To {
			out = append(out, r)
		}
	}
	return out
}

// add is a+b, or the end of what an int64 holds.
func add(a, b int64) int64 {
	sum := a + b
	switch {
	case b > 0 && sum < a:
		return math.MaxInt64
	case b < 0 && sum > a:
		return math.MinInt64
	}
	return sum
}

// And is the rows that are in both sets.
func (s Set) And(o Set) Set {
	b := s.Bounds()
	o = o.Clip(b.From, b.To)
	b = o.Bounds()
	s = s.Clip(b.From, b.To)
	if len(s) == 0 || len(o) == 0 {
		return nil
	}
	out := make(Set, 0, max(len(s), len(o)))
	for len(s) > 0 && len(o) > 0 {
		both := Range{max(s[0].From, o[0].From), min(s[0].To, o[0].To)}
		if both.From < both.To {
			out = append(out, both)
		}
		if s[0].To < o[0].To {
			s = s[1:]
		} else {
			o = o[1:]
		}
	}
	return out
}

// Or is the rows that are in any of the two sets.
func (s Set) Or(o Set) Set {
	if len(o) == 0 {
		return s
	}
	if len(s) == 0 {
		return o
	}
	out := make(Set, 0, len(s)+len(o))
	for len(s) > 0 || len(o) > 0 {
		if len(o) == 0 || len(s) > 0 && s[0].From <= o[0].From {
			out, s = join(out, s[0]), s[1:]
		} else {
			out, o = join(out, o[0]), o[1:]
		}
	}
	return out
}

// Not is the rows from 0 up to n that are not in the set.
func (s Set) Not(n int64) Set {
	s = s.Clip(0, n)
	out := make(Set, 0, len(s)+1)
	at := int64(0)
	for _, r := range s {
		if at < r.From {
			out = append(out, Range{at, r.From})
		}
		at = r.To
	}
	if at < n {
		out = append(out, Range{at, n})
	}
	return out
}

// Rows yields every row, in ascending order.
func (s Set) Rows() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for _, r := range s {
			for row := r.From; row < r.To; row++ {
				if !yield(row) {
					return
				}
			}
		}
	}
}
