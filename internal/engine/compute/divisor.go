package compute

import "math/bits"

// divisor divides by a number that is not known when the program is compiled: by a multiplication and a shift, which take a fraction of
// the time of a division (T. Granlund, P. L. Montgomery: Division by invariant integers using multiplication, 1994).
type divisor struct {
	factor uint64 // 2^(63+shift) / d, rounded up
	shift  uint
}

// newDivisor returns a divisor from 1 to 2^62.
func newDivisor(d int64) divisor {
	shift := uint(bits.Len64(uint64(d) - 1))
	hi, lo := uint64(0), uint64(1)<<63
	if shift > 0 {
		hi, lo = 1<<(shift-1), 0
	}
	factor, rest := bits.Div64(hi, lo, uint64(d))
	if rest > 0 {
		factor++
	}
	return divisor{factor, shift}
}

// of is n / d, rounded down, for n below 2^63.
func (d divisor) of(n uint64) uint64 {
	hi, _ := bits.Mul64(n<<1, d.factor)
	return hi >> (d.shift & 63)
}
