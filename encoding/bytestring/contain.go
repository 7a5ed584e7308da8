package bytestring

import (
	"bytes"
	"math/bits"

	"github.com/amudai/amudai-go/encoding"
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
	var keep []byte // 1 for the codes whose values may
	switch b.code {
	case encoding.Template:
		keep = b.templatesWith(parts)
	case encoding.BlockDictionary:
		keep = b.entriesWith(parts)
	default:
		return false
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

// templatesWith looks for parts in the templates.
func (b *Block) templatesWith(parts [][]byte) []byte {
	keep := grown(&b.s.keep, b.s.templates.Len())
	for i := range keep {
		keep[i] = 1
	}
	for _, part := range parts {
		b.s.templates.Containing(keep, part, &b.s.part)
	}
	return keep
}

// entriesWith looks for parts in the distinct values of a dictionary; null has none.
func (b *Block) entriesWith(parts [][]byte) []byte {
	keep := grown(&b.s.keep, b.dict.N+1)
	clear(keep)
	for i := range b.dict.N {
		value, all := b.dict.At(i), true
		for _, part := range parts {
			all = all && bytes.Contains(value, part)
		}
		if all {
			keep[i+1] = 1
		}
	}
	return keep
}
