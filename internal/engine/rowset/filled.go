package rowset

import (
	"encoding/binary"
	"iter"
)

// A set may also be read with all rows from its first to its last one, and the gaps filled by rows from the end, whose order does not matter:
// that moves as many values as there are gaps, where closing the gaps moves all.
//
//	set {10, 12}, {13, 16}    10 11 . 13 14 15 → 10 11 15 13 14

// Fillable reports whether so few rows lie in gaps that it pays to read them, too.
func (s Set) Fillable() bool {
	gaps := s.Bounds().Len() - s.n
	return gaps > 0 && gaps <= s.n/16
}

// Filled yields the moves that fill the gaps: positions behind the first row, to and from.
func (s Set) Filled() iter.Seq2[int, int] {
	return func(yield func(to, from int) bool) {
		first, k := s.Bounds().From, s.spans()
		last := Range{} // rows that are still to be moved
		at := int64(0)
		for i := 0; at < s.n; i++ {
			r := s.span(i)
			for end := min(r.From-first, s.n); at < end; at++ {
				for last.From == last.To {
					k--
					last = s.span(k)
				}
				if last.To--; !yield(int(at), int(last.To-first)) {
					return
				}
			}
			at = r.To - first
		}
	}
}

// FilledOrder has the place of each row of a filled set among those of the set in their order.
func (s Set) FilledOrder() []int64 {
	out := make([]int64, s.Bounds().Len())
	place := int64(0)
	for row := range s.Rows() {
		out[row-s.Bounds().From] = place
		place++
	}
	for to, from := range s.Filled() {
		out[to] = out[from]
	}
	return out[:s.n]
}

// FillBytes fills the gaps among values of a width in bytes: all from the first row to the last.
func FillBytes(values []byte, width int, rows Set) {
	for to, from := range rows.Filled() {
		if width == 8 {
			binary.LittleEndian.PutUint64(values[8*to:], binary.LittleEndian.Uint64(values[8*from:]))
			continue
		}
		copy(values[to*width:(to+1)*width], values[from*width:])
	}
}

// FillBits fills the gaps among bits: all from the first row to the last.
func FillBits(data []byte, rows Set) {
	for to, from := range rows.Filled() {
		data[to/8] = data[to/8]&^(1<<(to%8)) | data[from/8]>>(from%8)&1<<(to%8)
	}
}
