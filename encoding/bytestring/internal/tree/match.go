package tree

import (
	"bytes"
	"iter"
	"math/bits"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/base/search"
)

// Required is what values must have so that a condition holds: all parts, and they begin with the prefix, or are it.
type Required struct {
	Parts  [][]byte
	Prefix []byte
	Equal  bool // to Prefix

	Decide search.Decide // tells whether the values of a shape meet the condition; nil if it is not known
}

// Decide divides some slots by the shapes of their values: it sets the bits of those that meet a condition in sure, and of those that may or may not in maybe.
// ok is false, and the bits arbitrary, if the block has no shapes.
func (b *Block) Decide(sure, maybe []byte, slots iter.Seq[int64], decide search.Decide) (ok bool) {
	t := &b.t
	if t.row.Shapes == nil || decide == nil {
		return false
	}
	codes, n, shape := t.row.Shapes(t)
	decided := scratch.Slice(&t.scratch.decided, n) // by code: 0 for not yet, or a bit for sure, and one for maybe, and another
	clear(decided)
	clear(sure)
	clear(maybe)
	for i := range slots {
		if uint64(codes[i]) >= uint64(n) { // decoding tells
			maybe[i/8] |= 1 << (i % 8)
			continue
		}
		d := &decided[codes[i]]
		if *d == 0 {
			some, all := decide(shape(int(codes[i])))
			*d = 4 | 2*byte(bitmap.Bit(some && !all)) | byte(bitmap.Bit(all))
		}
		sure[i/8] |= *d & 1 << (i % 8)
		maybe[i/8] |= *d >> 1 & 1 << (i % 8)
	}
	if t.Nulls > 0 {
		for i, valid := range t.Present().Data[:(t.N+7)/8] {
			sure[i] &= valid
			maybe[i] &= valid
		}
	}
	return true
}

// MayMatch is [Block.MayContain] for values that have what is required. It also compares lengths and beginnings.
func (b *Block) MayMatch(dst []byte, r Required) (ok bool) {
	if begins := b.t.row.Begins; begins != nil && len(r.Prefix) > 0 && begins(&b.t, dst, r) {
		return true
	}
	return b.MayContain(dst, r.Parts) || r.Equal && b.MayBeLong(dst, len(r.Prefix))
}

// MayBeLong sets the bits of those slots, and clears the others, whose values have a length; ok is false, and dst
// arbitrary, if the block does not tell, or nearly all have it.
func (b *Block) MayBeLong(dst []byte, length int) (ok bool) {
	t, count := &b.t, 0
	if t.Fixed > 0 || len(t.Offsets) <= t.N && len(t.Lengths) != t.N {
		return false
	}
	clear(dst)
	for i := range t.N {
		if len(t.Offsets) > t.N && t.Offsets[i+1]-t.Offsets[i] == uint64(length) || len(t.Offsets) <= t.N && t.Lengths[i] == uint32(length) {
			dst[i/8] |= 1 << (i % 8)
			count++
		}
	}
	return 4*count < 3*t.N
}

// MayContain sets the bits of those slots, and clears the others, whose values may
// contain all parts, if the block can tell without decoding them; ok is false,
// and dst arbitrary, if it cannot, or nearly all may.
func (b *Block) MayContain(dst []byte, parts [][]byte) (ok bool) {
	longest, row := 0, b.t.row
	for _, part := range parts {
		longest = max(longest, len(part))
	}
	if longest == 0 {
		return false
	}
	switch {
	case row.Find != nil:
		return row.Find(&b.t, dst, parts)
	case row.Contains == nil:
		return false
	}
	keep := row.Contains(&b.t, parts) // 1 for the codes whose values may
	if bytes.IndexByte(keep, 1) < 0 {
		clear(dst)
		return true
	}
	count, n := 0, b.t.N
	for i := range dst {
		w := byte(0)
		for k, c := range b.t.Codes[min(8*i, n):min(8*i+8, n)] {
			w |= keep[c] << k
		}
		dst[i] = w
		count += bits.OnesCount8(w)
	}
	return 4*count < 3*n
}
