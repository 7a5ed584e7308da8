// Package rowset holds immutable sets of rows. The planner of a scan gets them from statistics, Bloom filters and
// indexes. Filters return them, and columns read them.
//
//	rows  0 1 2 3 4 5 6 7 8 9
//	set     x x x       x x      {1, 4}, {7, 9}
//
// A planner has few, long ranges. A filter may select tens of thousands of single rows, and every column reads
// them, block by block. A set therefore holds either ranges, or single rows of four bytes each where these take no
// more memory. The representation is private. A set is a view of memory that never changes, so that cutting or
// shifting it copies nothing.
//
// Operations return new sets, which may share memory with their operands. Row numbers near the greatest int64 do
// not overflow: rows beyond it are left out.
package rowset

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
)

// Range is the rows from From up to, but not including, To.
type Range struct{ From, To int64 }

// Len is the number of rows: 0 if To is not greater than From, and at most the greatest int64.
func (r Range) Len() int64 {
	if r.From >= r.To {
		return 0
	}
	return int64(min(uint64(r.To)-uint64(r.From), math.MaxInt64))
}

// Set is an immutable set of rows. The zero value is the empty set.
type Set struct {
	n      int64    // number of rows, at most the greatest int64
	by     int64    // added to the row numbers below
	window Range    // the part of the ranges or bits that counts; it cuts off no range completely
	ranges []Range  // ascending; none is empty, overlaps the next one or is adjacent to it
	rows   []uint32 // ascending; a set has either ranges or rows or bits
	bits   []byte   // of each row
}

// rowsOfRange is the number of single rows that take as much memory as a range.
const rowsOfRange = 4

// compact reports whether a set takes less memory as single rows. It has n rows in so many ranges, and the last row
// is this far behind the first.
func compact(n uint64, ranges int, reach uint64) bool {
	return n <= rowsOfRange*uint64(ranges) && reach <= math.MaxUint32
}

// setOf returns the rows of ascending ranges that neither overlap nor are adjacent.
func setOf(ranges []Range) Set {
	if len(ranges) == 0 {
		return Set{}
	}
	s := Set{window: Range{math.MinInt64, math.MaxInt64}, ranges: ranges}
	n := s.count()
	s.n = int64(min(n, math.MaxInt64))
	b := s.Bounds()
	if !compact(n, len(ranges), uint64(b.To)-uint64(b.From)) {
		return s
	}
	rows := make([]uint32, 0, n)
	for _, r := range ranges {
		for row := r.From; row < r.To; row++ {
			rows = append(rows, uint32(row-b.From))
		}
	}
	return Set{n: s.n, by: b.From, rows: rows}
}

// spans is the number of ranges or single rows that the set holds.
func (s *Set) spans() int { return len(s.ranges) + len(s.rows) }

// span returns range or single row i, as a range. Single rows may be adjacent.
func (s *Set) span(i int) Range {
	if s.rows != nil {
		row := s.by + int64(s.rows[i])
		return Range{row, row + 1}
	}
	r := s.ranges[i]
	return Range{s.by + max(r.From, s.window.From), s.by + min(r.To, s.window.To)}
}

// count is the number of rows of ranges, less than 2^64.
func (s *Set) count() (n uint64) {
	for i := range s.ranges {
		r := s.span(i)
		n += uint64(r.To) - uint64(r.From)
	}
	return n
}

// after returns the index of the first span, from a given one on, that ends behind a row. A near one is found
// fast.
func (s *Set) after(from int, row int64) int {
	lo, hi := from, s.spans()
	for step := 1; lo+step < hi; step *= 2 {
		if s.span(lo+step).To > row {
			hi = lo + step
			break
		}
		lo += step
	}
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); s.span(mid).To > row {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// All returns the rows from 0 up to n.
func All(n int64) Set {
	if n <= 0 {
		return Set{}
	}
	return setOf([]Range{{0, n}})
}

// Of returns the rows in any of the ranges, which may be unordered, overlapping or empty.
func Of(ranges ...Range) Set {
	out := make([]Range, 0, len(ranges))
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
	return setOf(joined)
}

// join adds a range that does not begin before the last one.
func join(s []Range, r Range) []Range {
	if last := len(s) - 1; last >= 0 && r.From <= s[last].To {
		s[last].To = max(s[last].To, r.To)
		return s
	}
	return append(s, r)
}

// FromRows returns a set of rows, which are given in ascending order and may be repeated. The greatest int64 is
// not a valid row.
func FromRows(rows []int64) Set {
	n := 0
	for i, row := range rows {
		if i == 0 || row > rows[i-1]+1 {
			n++
		}
	}
	out := make([]Range, 0, n)
	for _, row := range rows {
		if row < math.MaxInt64 {
			out = join(out, Range{row, row + 1})
		}
	}
	return setOf(out)
}

// FromPositions returns a set of rows, which are given in ascending order, each once. The set refers to the slice, which must not
// change any more.
func FromPositions(rows []uint32) Set {
	if len(rows) == 0 {
		return Set{}
	}
	s := Set{n: int64(len(rows)), rows: rows}
	n := s.NumRanges()
	if compact(uint64(len(rows)), n, math.MaxUint32) {
		return s
	}
	out := make([]Range, 0, n)
	for i := 0; i < len(rows); {
		from := i
		for i++; i < len(rows) && rows[i] == rows[i-1]+1; i++ {
		}
		out = append(out, Range{int64(rows[from]), int64(rows[i-1]) + 1})
	}
	return setOf(out)
}

// Len is the number of rows, at most the greatest int64.
func (s Set) Len() int64 { return s.n }

// Empty reports whether the set has no rows.
func (s Set) Empty() bool { return s.n == 0 }

// Bounds is the range from the first row to the last. It is empty for the empty set.
func (s Set) Bounds() Range {
	if s.bits != nil {
		return Range{s.by + s.window.From, s.by + s.window.To}
	}
	if s.spans() == 0 {
		return Range{}
	}
	return Range{s.span(0).From, s.span(s.spans() - 1).To}
}

// Contains reports whether the set contains a row.
func (s Set) Contains(row int64) bool {
	if i := row - s.by; s.bits != nil {
		return i >= s.window.From && i < s.window.To && s.bits[i/8]>>(i%8)&1 != 0
	}
	i := s.after(0, row)
	return i < s.spans() && s.span(i).From <= row
}

// Row is row i of the set, counted from 0.
func (s Set) Row(i int64) int64 {
	s = s.Listed()
	if s.rows != nil {
		return s.by + int64(s.rows[i])
	}
	k := 0
	for ; s.span(k).Len() <= i; k++ {
		i -= s.span(k).Len()
	}
	return s.span(k).From + i
}

// cursor iterates over the ranges of a set.
type cursor struct {
	Range
	set  *Set
	next int // index of the next span
}

func cursorOf(s Set) cursor {
	s = s.Listed()
	return cursor{set: &s}
}

// move goes to the next range, and joins adjacent spans. ok is false after the last one.
func (c *cursor) move() (ok bool) {
	n := c.set.spans()
	if c.next == n {
		return false
	}
	c.Range = c.set.span(c.next)
	for c.next++; c.next < n; c.next++ {
		r := c.set.span(c.next)
		if r.From != c.To {
			break
		}
		c.To = r.To
	}
	return true
}

// Ranges yields the ranges of the set in ascending order. None is empty, overlaps the next one or is adjacent to
// it.
func (s Set) Ranges() iter.Seq[Range] {
	return func(yield func(Range) bool) {
		for c := cursorOf(s); c.move() && yield(c.Range); {
		}
	}
}

// NumRanges is the number of ranges that Ranges yields.
func (s Set) NumRanges() int {
	s = s.Listed()
	if len(s.rows) == 0 {
		return len(s.ranges)
	}
	n := 1
	for i, row := range s.rows[1:] {
		if row != s.rows[i]+1 {
			n++
		}
	}
	return n
}

// Rows yields the rows in ascending order.
func (s Set) Rows() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		s := s.Listed()
		for _, row := range s.rows {
			if !yield(s.by + int64(row)) {
				return
			}
		}
		for i := range s.ranges {
			r := s.span(i)
			for row := r.From; row < r.To; row++ {
				if !yield(row) {
					return
				}
			}
		}
	}
}

// String returns a list of the ranges.
func (s Set) String() string { return fmt.Sprint(slices.Collect(s.Ranges())) }
