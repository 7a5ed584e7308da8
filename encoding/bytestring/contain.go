package bytestring

import (
	"bytes"
	"math/bits"
)

// Required is what values must have so that a condition holds: all parts, and they begin with the prefix, or are it.
type Required struct {
	Parts  [][]byte
	Prefix []byte
	Equal  bool // to Prefix
}

// MayMatch is [Block.MayContain] for values that have what is required. It also compares lengths and beginnings.
func (b *Block) MayMatch(dst []byte, r Required) (ok bool) {
	if b.row.begins != nil && len(r.Prefix) > 0 && b.row.begins(b, dst, r) {
		return true
	}
	return b.MayContain(dst, r.Parts) || r.Equal && b.MayBeLong(dst, len(r.Prefix))
}

// MayBeLong sets the bits of those slots, and clears the others, whose values have a length; ok is false, and dst
// arbitrary, if the block does not tell, or decoding those that have it takes about as long as decoding all.
func (b *Block) MayBeLong(dst []byte, length int) (ok bool) {
	if !b.hasLengths() {
		return false
	}
	clear(dst)
	decoded := 0
	for i := range b.n {
		if b.lengthOf(i) != length {
			continue
		}
		dst[i/8] |= 1 << (i % 8)
		if decoded++; b.front.rests != nil {
			decoded += i % b.front.restart // those before it, from the restart on
		}
	}
	return 4*decoded < 3*b.n
}

func (b *Block) hasLengths() bool {
	if b.front.rests != nil {
		return b.front.rests.hasLengths()
	}
	return b.fixed == 0 && (len(b.offsets) > b.n || b.n > 0 && len(b.lengths) >= b.n)
}

// lengthOf is the length of the value of a slot, in a block that has lengths.
func (b *Block) lengthOf(slot int) int {
	switch {
	case b.front.rests != nil:
		return int(b.prefixes[slot]) + b.front.rests.lengthOf(slot)
	case len(b.offsets) > b.n:
		return int(b.offsets[slot+1] - b.offsets[slot])
	}
	return int(b.lengths[slot])
}

// MayContain sets the bits of those slots, and clears the others, whose values may
// contain all parts, if the block can tell without decoding them; ok is false,
// and dst arbitrary, if it cannot, or nearly all may.
func (b *Block) MayContain(dst []byte, parts [][]byte) (ok bool) {
	longest := 0
	for _, part := range parts {
		longest = max(longest, len(part))
	}
	if longest == 0 {
		return false
	}
	switch {
	case b.row.find != nil:
		return b.row.find(b, dst, parts)
	case b.row.contains == nil:
		return false
	}
	keep := b.row.contains(b, parts) // 1 for the codes whose values may
	if bytes.IndexByte(keep, 1) < 0 {
		clear(dst)
		return true
	}
	count := 0
	for i := range dst {
		w := byte(0)
		for k, c := range b.codes[min(8*i, b.n):min(8*i+8, b.n)] {
			w |= keep[c] << k
		}
		dst[i] = w
		count += bits.OnesCount8(w)
	}
	return 4*count < 3*b.n
}
