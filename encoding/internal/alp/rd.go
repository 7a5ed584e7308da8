package alp

import (
	"math/bits"
	"slices"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// Bits is the unsigned type of a [Float]: uint32 for float32, uint64 for float64. Other pairs must not be used.
type Bits interface{ uint32 | uint64 }

// RDParams define the split of ALP-RD ("real doubles"): the low RightBits of a value are stored, and the rest is an
// entry of Dict.
type RDParams struct {
	RightBits uint8    // 16 to 31 for float32, 48 to 63 for float64
	Dict      []uint16 // 1 to 8 left parts
}

// Lefts is the number of left parts that values of size bytes may have.
func (p RDParams) Lefts(size int) int { return 1 << (8*size - int(p.RightBits)) }

// maxDict is the maximum number of left parts.
const maxDict = 8

// ValidRD returns an error for invalid parameters of values of type F, as read from a file.
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

// sampleRD is the number of values in the sample of the search.
const sampleRD = 1024

// SearchRD chooses the split and the dictionary for values like data. ok is false if they would not be smaller, or if
// more than 5 % would be exceptions. The dictionary has 4 or 8 entries (unused ones repeat the first), because the
// reference then accepts the alignment of the parts that follow. The result depends on data only.
func SearchRD[F Float](data []F) (p RDParams, ok bool) {
	var room [sampleRD]F
	sample := spread(room[:], data)
	total := 8 * size[F]()
	tops := make([]uint16, len(sample)) // the highest 16 bits, sorted
	for i, v := range sample {
		tops[i] = uint16(bitsOf(v) >> (total - 16))
	}
	slices.Sort(tops)

	least := total * len(sample)
	for left := 1; left <= 16; left++ {
		lefts, hits := frequent(tops, 16-left)
		codeBits := max(1, bits.Len(uint(lefts.n-1)))
		misses := len(sample) - hits
		cost := len(sample)*(total-left+codeBits) + 48*misses
		if misses*20 <= len(sample) && cost < least {
			least, ok = cost, true
			p.RightBits = uint8(total - left)
			p.Dict = append(p.Dict[:0], lefts.values[:lefts.n]...)
		}
	}
	for ok && len(p.Dict)%4 != 0 {
		p.Dict = append(p.Dict, p.Dict[0])
	}
	return p, ok
}

// top holds the most frequent values in order, with their numbers of occurrences.
type top struct {
	values [maxDict]uint16
	counts [maxDict]int
	n      int
}

// add inserts a value, after those with the same number of occurrences.
func (t *top) add(value uint16, count int) {
	if t.n == maxDict && count <= t.counts[maxDict-1] {
		return
	}
	t.n = min(t.n+1, maxDict)
	i := t.n - 1
	for ; i > 0 && t.counts[i-1] < count; i-- {
		t.values[i], t.counts[i] = t.values[i-1], t.counts[i-1]
	}
	t.values[i], t.counts[i] = value, count
}

// frequent returns the most frequent of the sorted values without their low bits, and the number of values with them.
func frequent(sorted []uint16, low int) (t top, hits int) {
	for from := 0; from < len(sorted); {
		v := sorted[from] >> low
		to := from + 1
		for to < len(sorted) && sorted[to]>>low == v {
			to++
		}
		t.add(v, to-from)
		from = to
	}
	for _, n := range t.counts[:t.n] {
		hits += n
	}
	return t, hits
}

// EncodeRD sets codes[i] and right[i] to the parts of src[i]. If a left part is not in the dictionary, its code is 0,
// its position is appended to exc, and the left part to lefts. codes, right and src have the same length; table is memory for
// an entry for each left part, as many as p.Lefts says.
func EncodeRD[F Float, U Bits](codes []uint16, right []U, src []F, p RDParams, table []uint8, exc []uint32, lefts []uint16) ([]uint32, []uint16) {
	clear(table) // the code of a left part, plus 1
	for code, left := range slices.Backward(p.Dict) {
		if int(left) < len(table) { // else no value has it
			table[left] = uint8(code + 1)
		}
	}
	mask := uint64(1)<<p.RightBits - 1
	codes, right = codes[:len(src)], right[:len(src)]
	for i, v := range src {
		b := bitsOf(v)
		left := b >> p.RightBits
		right[i] = U(b & mask)
		code := table[left]
		if code == 0 {
			code = 1
			exc, lefts = append(exc, uint32(i)), append(lefts, uint16(left))
		}
		codes[i] = uint16(code - 1)
	}
	return exc, lefts
}
