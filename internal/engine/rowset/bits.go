package rowset

import (
	"encoding/binary"
	"iter"
	"math"
	"math/bits"

	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// FromBits returns the set of the rows base+i whose bit is 1, for the first n bits of a bitmap from bit off on.
// Bits are in Arrow's order, the least significant first. Bits beyond the end of the bitmap count as 0.
//
// The loops are by hand, not those of bits-and-blooms/bitset: that one takes whole words, so Arrow's bytes would be
// copied first, and finds edges and members one call at a time. BenchmarkBitset compares the two.
func FromBits(data []byte, off, n int, base int64) Set { return fromBits(data, off, n, base, 0) }

// FromClearBits is [FromBits] of the bits that are 0. Bits beyond the end of the bitmap count as 1.
func FromClearBits(data []byte, off, n int, base int64) Set {
	return fromBits(data, off, n, base, ^uint64(0))
}

// flipped are bits of which some are turned round: those that flip has.
type flipped struct {
	bitmap.Bits
	flip uint64
}

func (b *flipped) word(i int) uint64 {
	if i+64 <= b.Len && b.Off&7 == 0 {
		return binary.LittleEndian.Uint64(b.Data[(b.Off+i)>>3:]) ^ b.flip
	}
	return (b.Word(i) ^ b.flip) & (^uint64(0) >> max(64-(b.Len-i), 0))
}

func fromBits(data []byte, off, n int, base int64, flip uint64) Set {
	if n <= 0 || off < 0 || off/8 >= len(data) {
		return Set{}
	}
	if len(data) < math.MaxInt/8 {
		n = min(n, 8*len(data)-off)
	}
	if base > math.MaxInt64-int64(n) {
		n = int(math.MaxInt64 - base)
	}
	view := &flipped{bitmap.Bits{Data: data, Off: off, Len: n}, flip}
	edges, ones := 0, 0
	for i, carry := 0, uint64(0); i < n; i += 64 {
		w := view.word(i)
		edges += bits.OnesCount64(w ^ (w<<1 | carry))
		ones += bits.OnesCount64(w)
		carry = w >> 63
	}
	switch ranges := (edges + 1) / 2; {
	case ones == 0:
		return Set{}
	case compact(uint64(ones), ranges, uint64(n)):
		return Set{n: int64(ones), by: base, rows: members(make([]uint32, ones), view)}
	default:
		return setOf(rangesOf(make([]Range, ranges), view, base))
	}
}

// members fills out with the indices of the set bits.
func members(out []uint32, view *flipped) []uint32 {
	at := 0
	for i := 0; i < view.Len; i += 64 {
		for w := view.word(i); w != 0; w &= w - 1 {
			out[at] = uint32(i + bits.TrailingZeros64(w))
			at++
		}
	}
	return out
}

// rangesOf fills out with the ranges of set bits, each shifted by base.
func rangesOf(out []Range, view *flipped, base int64) []Range {
	at := 0
	for i, carry := 0, uint64(0); i < view.Len; i += 64 {
		w := view.word(i)
		// Bits that differ from their predecessor: a range begins and ends in turn.
		for e := w ^ (w<<1 | carry); e != 0; e &= e - 1 {
			row := base + int64(i+bits.TrailingZeros64(e))
			if at&1 == 0 {
				out[at/2].From = row
			} else {
				out[at/2].To = row
			}
			at++
		}
		carry = w >> 63
	}
	if at&1 != 0 {
		out[at/2].To = base + int64(view.Len)
	}
	return out
}

// PutBits writes whether each row from base up to base+n is a member into n bits of a bitmap from bit off on. The
// bitmap must have these bits.
func (s Set) PutBits(data []byte, off, n int, base int64) {
	bitmap.ClearRange(data, off, n)
	end := add(base, int64(n))
	if s.bits != nil {
		if from, to := max(base, s.by+s.window.From), min(end, s.by+s.window.To); from < to {
			bitmap.Bits{Data: s.bits, Off: int(from - s.by), Len: int(to - from)}.CopyTo(data, off+int(from-base))
		}
		return
	}
	for i := s.after(0, base); i < s.spans(); i++ {
		r := s.span(i)
		if r.From, r.To = max(r.From, base), min(r.To, end); r.From >= r.To {
			return
		}
		bitmap.SetRange(data, off+int(r.From-base), int(r.Len()))
	}
}

// add returns a+b, at most the greatest int64. b is not negative.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

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
		s := s.Listed()
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
