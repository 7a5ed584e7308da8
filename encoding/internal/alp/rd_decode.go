package alp

import (
	"unsafe"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// DecodeRD joins codes and right parts to values, and the left parts of exceptions to the values at their positions.
// dst, codes and right have the same length, as have exc and lefts. p must be valid (see [ValidRD]). A code beyond
// the dictionary, or a position beyond dst, is an error.
func DecodeRD[F Float, U Bits](dst []F, codes []uint16, right []U, p RDParams, exc []uint32, lefts []uint16) error {
	var dict [maxDict]uint64
	for i, left := range p.Dict {
		dict[i] = uint64(left) << p.RightBits
	}
	codes, right = codes[:len(dst)], right[:len(dst)]
	var all uint16
	for i := range dst {
		code := codes[i]
		all = max(all, code)
		dst[i] = fromBits[F](dict[code%maxDict] | uint64(right[i]))
	}
	if len(dst) > 0 && int(all) >= len(p.Dict) {
		return fault.Corruptf("ALPRD code %d in a dictionary of %d", all, len(p.Dict))
	}
	lefts = lefts[:len(exc)]
	for i, at := range exc {
		if int64(at) >= int64(len(dst)) {
			return fault.Corruptf("ALPRD exception at %d of %d values", at, len(dst))
		}
		dst[at] = fromBits[F](uint64(lefts[i])<<p.RightBits | uint64(right[at]))
	}
	return nil
}

// fromBits is the inverse of bitsOf.
func fromBits[F Float](b uint64) F {
	if size[F]() == 4 {
		low := uint32(b)
		return *(*F)(unsafe.Pointer(&low))
	}
	return *(*F)(unsafe.Pointer(&b))
}
