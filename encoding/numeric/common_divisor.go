package numeric

import (
	"math/bits"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/fastlanes"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// CommonDivisor, code 0x8002 (edition 2026), integers (T of size bytes, U the
// unsigned type of that size):
//
//	02 80 | T base | U divisor | zeros up to H | tree of n U
//
// H is 2 + 2*size rounded up to 8; value = base + divisor * quotient, modulo
// 2^bits. A divisor of 0 is an error. Dates as ticks are the case that it is for: they are multiples of a day.
// Example, int16 1000, 1300, 1100, the quotients as Plain:
//
//	02 80 | e8 03 | 64 00 | 00 00 | 01 00 00 00 03 00 01 00
func decodeCommonDivisor[U word](dst []U, tree []byte, t Type, s *Scratch) error {
	d, payload, err := parseCommonDivisor[U](tree)
	if err != nil {
		return err
	}
	p, ok, err := parsePacked[U](payload, t.unsigned(), len(dst))
	if err != nil {
		return err
	}
	if !ok {
		if err := decode(dst, payload, t.unsigned(), s); err != nil {
			return err
		}
		d.multiply(dst)
		return nil
	}
	for at := 0; at < len(dst); at += fastlanes.ChunkLen {
		c := dst[at:min(at+fastlanes.ChunkLen, len(dst))]
		p.chunk(c, at, s)
		d.multiply(c)
	}
	return nil
}

type divided[U word] struct{ base, divisor U }

func parseCommonDivisor[U word](tree []byte) (d divided[U], payload []byte, err error) {
	size := sizeOf[U]()
	header, payload, err := split(tree, 2*size)
	if err != nil {
		return d, nil, err
	}
	d = divided[U]{loadOne[U](header), loadOne[U](header[size:])}
	if d.divisor == 0 {
		return d, nil, fault.Corruptf("divisor 0")
	}
	return d, payload, nil
}

// multiply turns quotients into values, in place.
func (d divided[U]) multiply(dst []U) {
	base, divisor := d.base, d.divisor
	for i, q := range dst {
		dst[i] = base + q*divisor
	}
}

// appendCommonDivisor divides the distances from the least value by what p says,
// or by their greatest common divisor.
func appendCommonDivisor[U word](e *enc, dst []byte, in input[U], p *plan) []byte {
	low, _ := in.bounds()
	mark := e.scratch.mark()
	quotients := take[U](&e.scratch, len(in.values))
	divisor := divide(quotients, in.values, low, U(p.reference))
	start := len(dst)
	dst = appendCode(dst, encoding.CommonDivisor)
	dst = padTree(storeOne(storeOne(dst, low), divisor), start)
	dst = appendTree(e, dst, in.child(quotients, in.t.unsigned(), encoding.CommonDivisor, 0), p.kids[0])
	e.scratch.release(mark)
	return dst
}

// divide sets quotients to (values - low) / divisor. It begins with a guess of
// the divisor, 0 for none, and returns the one that divides all.
//
// A division that is exact is a product with the inverse of the divisor modulo
// 2^bits, and a rotation for its factors 2; a quotient that is too large shows
// that it is not exact (Granlund and Montgomery, "Division by Invariant Integers
// using Multiplication", 1994, section 9).
func divide[U word](quotients, values []U, low, divisor U) U {
	for {
		if divisor <= 1 {
			divisor = commonDivisor(values, low, divisor)
		}
		shift := bits.TrailingZeros64(uint64(divisor))
		inverse, most := inverseOf(divisor>>shift), ^U(0)/divisor
		done := true
		for i, v := range values {
			q := (v - low) * inverse
			q = q>>shift | q<<(bitsOf[U]()-shift)
			if q > most {
				divisor, done = gcd(divisor, v-low), false
				if divisor == 1 {
					done = true
				}
				break
			}
			quotients[i] = q
		}
		if done && divisor > 1 {
			return divisor
		}
		if divisor <= 1 {
			for i, v := range values {
				quotients[i] = v - low
			}
			return 1
		}
	}
}

// commonDivisor is the greatest divisor of all distances from low, at least 1. It
// is 1 at once if the guess was 1.
func commonDivisor[U word](values []U, low, guess U) U {
	if guess == 1 {
		return 1
	}
	d := U(0)
	for _, v := range values {
		if d = gcd(d, v-low); d == 1 {
			break
		}
	}
	return max(d, 1)
}

func gcd[U word](a, b U) U {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// inverseOf is the inverse of an odd number modulo 2^bits, by Newton's method:
// each step doubles the number of bits that are right, of which d has 3.
func inverseOf[U word](d U) U {
	x := d
	for range 5 {
		x *= 2 - d*x
	}
	return x
}
