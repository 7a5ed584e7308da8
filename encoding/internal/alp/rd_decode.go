package alp

import (
	"slices"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/simd"
)

// DecodeRD joins codes and right parts to the bits of values, in place of the right parts, and the left parts of exceptions
// to those at their positions. values and codes have the same length, as have exc and lefts. p must be valid (see [ValidRD]).
// A code beyond the dictionary, or a position beyond values, is an error.
func DecodeRD[U Bits](values []U, codes []uint16, p RDParams, exc []uint32, lefts []uint16) error {
	var dict [maxDict]U
	for i, left := range p.Dict {
		dict[i] = U(left) << p.RightBits
	}
	if all := simd.Merge(values, codes, &dict); int(all) >= len(p.Dict) && len(codes) > 0 { // perhaps: it is no code
		if most := slices.Max(codes); int(most) >= len(p.Dict) {
			return fault.Corruptf("ALPRD code %d in a dictionary of %d", most, len(p.Dict))
		}
	}
	lefts = lefts[:len(exc)]
	right := U(1)<<p.RightBits - 1
	for i, at := range exc {
		if int64(at) >= int64(len(values)) {
			return fault.Corruptf("ALPRD exception at %d of %d values", at, len(values))
		}
		values[at] = U(lefts[i])<<p.RightBits | values[at]&right
	}
	return nil
}
