package alp

import (
	"math/bits"
	"slices"

	"github.com/amudai/amudai-go/fault"
)

// Bits is the unsigned type that belongs to a [Float]: uint32 to float32,
// uint64 to float64. Other pairs must not be mixed.
type Bits interface{ uint32 | uint64 }

// RDParams say how ALP-RD ("real doubles") cuts the bits of values in two: the
// low RightBits are kept as they are, the rest is looked up in Dict.
type RDParams struct {
	RightBits uint8
	Dict      []uint16 // 1 to 8 left parts
}

// maxDict is the largest number of left parts.
const maxDict = 8

// ValidRD says what is wrong with parameters read from a file for values of type F.
func ValidRD[F Float](p RDParams) error {
	total := 8 * size[F]()
	if r := int(p.RightBits); r < total-16 || r >= total {
		return fault.Corruptf("ALPRD right part of %d bits in values of %d", r, total)
	}
	if n := len(p.Dict); n < 1 || n > maxDict {
		return fault.Corruptf("ALPRD dictionary of %d entries", n)
	}
	return nil
}

// SearchRD chooses the cut and the dictionary for the sample. ok is false if
// the values would not get smaller, or more than 5 % of them would be
// exceptions. The dictionary has 4 or 8 entries (unused ones repeat the first):
// with that the reference accepts the alignment of what follows.
func SearchRD[F Float](sample []F) (p RDParams, ok bool) {
	total := 8 * size[F]()
	best := total * len(sample)
	for left := 1; left <= 16; left++ {
		dict, hits := topLefts(sample, total-left)
		misses := len(sample) - hits
		cost := len(sample)*(total-left+max(1, bits.Len(uint(len(dict)-1)))) + 48*misses
		if misses*20 <= len(sample) && cost < best {
			best, ok = cost, true
			p = RDParams{uint8(total - left), dict}
		}
	}
	for ok && len(p.Dict)%4 != 0 {
		p.Dict = append(p.Dict, p.Dict[0])
	}
	return p, ok
}

// topLefts are the most frequent left parts, and how many values have one of them.
func topLefts[F Float](sample []F, right int) (dict []uint16, hits int) {
	counts := make(map[uint16]int)
	for _, v := range sample {
		counts[uint16(bitsOf(v)>>right)]++
	}
	for left := range counts {
		dict = append(dict, left)
	}
	slices.SortFunc(dict, func(a, b uint16) int {
		if d := counts[b] - counts[a]; d != 0 {
			return d
		}
		return int(a) - int(b)
	})
	dict = dict[:min(len(dict), maxDict)]
	for _, left := range dict {
		hits += counts[left]
	}
	return dict, hits
}

// EncodeRD sets codes[i] and right[i] to the parts of src[i]. It appends to exc
// the positions of values whose left part is not in the dictionary (their code
// is 0) and to lefts those left parts. codes, right and src have the same length.
func EncodeRD[F Float, U Bits](codes []uint16, right []U, src []F, p RDParams, exc []uint32, lefts []uint16) ([]uint32, []uint16) {
	mask := uint64(1)<<p.RightBits - 1
	codes, right = codes[:len(src)], right[:len(src)]
	for i, v := range src {
		b := bitsOf(v)
		left := uint16(b >> p.RightBits)
		right[i] = U(b & mask)
		code := slices.Index(p.Dict, left)
		if code < 0 {
			code = 0
			exc, lefts = append(exc, uint32(i)), append(lefts, left)
		}
		codes[i] = uint16(code)
	}
	return exc, lefts
}
