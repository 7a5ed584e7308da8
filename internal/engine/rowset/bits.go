package rowset

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// FromBits is the set of the rows base + i for the set ones among n bits of a
// bitmap from bit off on, least significant bit first, as in Arrow. Bits that
// the bitmap does not have count as clear.
func FromBits(bitmap []byte, off, n int, base int64) Set {
	if n <= 0 || off < 0 || off/8 >= len(bitmap) {
		return Set{}
	}
	bitmap, off = bitmap[off/8:], off%8
	if len(bitmap) < math.MaxInt/8 {
		n = min(n, 8*len(bitmap)-off)
	}
	if base > math.MaxInt64-int64(n) {
		n = int(math.MaxInt64 - base)
	}
	edges, ones := 0, 0
	for i, carry := 0, uint64(0); i < n; i += 64 {
		w := next64(bitmap, off+i, n-i)
		edges += bits.OnesCount64(w ^ (w<<1 | carry))
		ones += bits.OnesCount64(w)
		carry = w >> 63
	}
	switch ranges := (edges + 1) / 2; {
	case ones == 0:
		return Set{}
	case compact(uint64(ones), ranges, uint64(n)):
		return Set{n: int64(ones), by: base, rows: onesOf(make([]uint32, ones), bitmap, off, n)}
	default:
		return setOf(rangesOf(make([]Range, ranges), bitmap, off, n, base))
	}
}

// onesOf sets out to the places of the set bits among n.
func onesOf(out []uint32, bitmap []byte, off, n int) []uint32 {
	at := 0
	for i := 0; i < n; i += 64 {
		for w := next64(bitmap, off+i, n-i); w != 0; w &= w - 1 {
			out[at] = uint32(i + bits.TrailingZeros64(w))
			at++
		}
	}
	return out
}

// rangesOf sets out to the ranges of set bits among n.
func rangesOf(out []Range, bitmap []byte, off, n int, base int64) []Range {
	at := 0
	for i, carry := 0, uint64(0); i < n; i += 64 {
		w := next64(bitmap, off+i, n-i)
		// Bits that differ from the one before: a range begins and ends in turn.
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
		out[at/2].To = base + int64(n)
	}
	return out
}

// next64 is up to 64 of n bits from bit off on, which mostly begin where a byte does.
func next64(bitmap []byte, off, n int) uint64 {
	if off&7 == 0 && n >= 64 {
		return binary.LittleEndian.Uint64(bitmap[off>>3:])
	}
	return word(bitmap, off, min(n, 64))
}

// word is n bits, up to 64, from bit off on, the first in the lowest.
func word(bitmap []byte, off, n int) uint64 {
	mask := ^uint64(0) >> (64 - n)
	d, shift := bitmap[off>>3:], uint(off&7)
	if len(d) >= 9 {
		return (binary.LittleEndian.Uint64(d)>>shift | uint64(d[8])<<(64-shift)) & mask
	}
	w := uint64(d[0]) >> shift
	for k := 1; k < len(d); k++ {
		w |= uint64(d[k]) << (8*k - int(shift))
	}
	return w & mask
}

// PutBits sets the bits of the rows from base up to base+n, as far as they are
// in the set, in n bits of a bitmap from bit off on, and clears the others. The
// bitmap must have them.
func (s Set) PutBits(bitmap []byte, off, n int, base int64) {
	fill(bitmap, off, n, false)
	s = s.Clip(base, add(base, int64(n)))
	for i := range s.spans() {
		r := s.span(i)
		fill(bitmap, off+int(r.From-base), int(r.Len()), true)
	}
}

// fill sets or clears n bits from bit off on.
func fill(bitmap []byte, off, n int, set bool) {
	for n > 0 {
		if off&7 == 0 && n >= 8 {
			value := byte(0)
			if set {
				value = 0xff
			}
			whole := bitmap[off>>3 : off>>3+n>>3]
			for i := range whole {
				whole[i] = value
			}
			off, n = off+8*len(whole), n&7
			continue
		}
		k := min(8-off&7, n)
		mask := byte(1<<k-1) << (off & 7)
		if set {
			bitmap[off>>3] |= mask
		} else {
			bitmap[off>>3] &^= mask
		}
		off, n = off+k, n-k
	}
}

// add is a+b, or the end of what an int64 holds; b is not negative.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
