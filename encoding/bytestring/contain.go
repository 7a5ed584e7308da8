package bytestring

import (
	"math/bits"
)

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
