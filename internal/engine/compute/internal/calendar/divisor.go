package calendar

import (
	"math/bits"

	"github.com/amudai/amudai-go/internal/text"
)

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

// floorDivs sets dst to a / d, rounded down.
func floorDivs(dst, a []int64, d int64) {
	by, before := newDivisor(d), 1<<62/d
	above := uint64(before * d) // so that numbers are not negative, unless they are very large
	a = a[:len(dst)]
	for i, v := range a {
		if n := uint64(v) + above; n < 1<<63 {
			dst[i] = int64(by.of(n)) - before
		} else {
			dst[i], _ = text.FloorDiv(v, d)
		}
	}
}

// floorDivMods sets dst to what is left of a / d, rounded down, by a number; it is not negative.
func floorDivMods(dst, a []int64, d, mod int64) {
	by, wholes := newDivisor(d), newDivisor(mod)
	above := uint64(1 << 62 / (d * mod) * (d * mod))
	a = a[:len(dst)]
	for i, v := range a {
		if n := uint64(v) + above; n < 1<<63 {
			n = by.of(n)
			dst[i] = int64(n - wholes.of(n)*uint64(mod))
		} else {
			q, _ := text.FloorDiv(v, d)
			_, dst[i] = text.FloorDiv(q, mod)
		}
	}
}
