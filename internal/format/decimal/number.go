package decimal

import (
	"cmp"
	"math/big"
	"math/bits"
	"strconv"

	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// u128 is hi·2^64 + lo.
type u128 struct{ hi, lo uint64 }

// pow10 holds the powers of ten that fit, up to 10^38.
var pow10 = func() (p [39]u128) {
	p[0] = u128{0, 1}
	for i := 1; i < len(p); i++ {
		hi, lo := bits.Mul64(p[i-1].lo, 10)
		p[i] = u128{hi + 10*p[i-1].hi, lo}
	}
	return p
}()

func less(hi, lo uint64, than u128) bool { return hi < than.hi || hi == than.hi && lo < than.lo }

// digits is the number of decimal digits, 0 for 0.
func digits(hi, lo uint64) int {
	n := bits.Len64(lo)
	if hi != 0 {
		n = 64 + bits.Len64(hi)
	}
	d := n * 1233 >> 12 // n·log10(2), at most one too low
	if d < len(pow10) && !less(hi, lo, pow10[d]) {
		d++
	}
	return d
}

// scaleUp is the coefficient times 10^n; false if it does not fit into 128 bits.
func scaleUp(hi, lo uint64, n int) (u128, bool) {
	if hi|lo == 0 || n == 0 {
		return u128{hi, lo}, true
	}
	if n >= len(pow10) {
		return u128{}, false
	}
	p := pow10[n]
	if hi != 0 && p.hi != 0 {
		return u128{}, false
	}
	rh, rl := bits.Mul64(lo, p.lo)
	c1h, c1 := bits.Mul64(hi, p.lo)
	c2h, c2 := bits.Mul64(lo, p.hi)
	rh, carry1 := bits.Add64(rh, c1, 0)
	rh, carry2 := bits.Add64(rh, c2, 0)
	return u128{rh, rl}, c1h|c2h|carry1|carry2 == 0
}

// scaleDown is the coefficient divided by 10^n; false if there is a remainder.
func scaleDown(hi, lo uint64, n int) (u128, bool) {
	for n > 0 && hi|lo != 0 {
		k := min(n, 19)
		d := pow10[k].lo
		qh, r := hi/d, hi%d
		ql, r := bits.Div64(r, lo, d)
		if r != 0 {
			return u128{}, false
		}
		hi, lo = qh, ql
		n -= k
	}
	return u128{hi, lo}, true
}

// Compare orders numbers by value: -1, 0 or 1. 1.0 and 1.00 are equal, so are 0
// and -0. NaNs are equal to each other and above all other numbers.
func (d Decimal) Compare(e Decimal) int {
	if d == e {
		return 0
	}
	dh, dl := d.words()
	if eh, el := e.words(); (dh^eh)<<1 == 0 && (dl|el)>>60 == 0 && dh&(1<<46-1) == 0 {
		if digit, _, class := head(dh); digit == 0 && class == Finite { // same exponent, 18 digits at most
			return cmp.Compare(small(dh, dl), small(eh, el))
		}
	}
	p, q := d.Parts(), e.Parts()
	if p.Class == NaN || q.Class == NaN {
		return bitmap.Bit(p.Class == NaN) - bitmap.Bit(q.Class == NaN)
	}
	ps, qs := p.sign(), q.sign()
	if ps != qs {
		return cmp.Compare(ps, qs)
	}
	return ps * p.compareMagnitude(q)
}

func (p Parts) sign() int {
	if p.Class == Finite && p.Hi|p.Lo == 0 {
		return 0
	}
	return 1 - 2*bitmap.Bit(p.Negative)
}

func (p Parts) compareMagnitude(q Parts) int {
	if p.Class != Finite || q.Class != Finite {
		return bitmap.Bit(p.Class != Finite) - bitmap.Bit(q.Class != Finite)
	}
	if p.Exponent != q.Exponent {
		if c := cmp.Compare(digits(p.Hi, p.Lo)+p.Exponent, digits(q.Hi, q.Lo)+q.Exponent); c != 0 {
			return c
		}
		// As many digits before the point: bringing one to the exponent of
		// the other gives no more digits than that one has.
		if diff := p.Exponent - q.Exponent; diff > 0 {
			s, _ := scaleUp(p.Hi, p.Lo, diff)
			p.Hi, p.Lo = s.hi, s.lo
		} else {
			s, _ := scaleUp(q.Hi, q.Lo, -diff)
			q.Hi, q.Lo = s.hi, s.lo
		}
	}
	if p.Hi != q.Hi {
		return cmp.Compare(p.Hi, q.Hi)
	}
	return cmp.Compare(p.Lo, q.Lo)
}

// Rescale is d × 10^scale as a two's complement number of 128 bits: the
// unscaled value of a decimal column with that scale. It is false if that is
// not an integer of 128 bits, or d is not finite. The sign of -0 is lost.
func (d Decimal) Rescale(scale int) (hi int64, lo uint64, ok bool) {
	p := d.Parts()
	if p.Class != Finite {
		return 0, 0, false
	}
	var v u128
	if n := p.Exponent + scale; n >= 0 {
		v, ok = scaleUp(p.Hi, p.Lo, n)
	} else {
		v, ok = scaleDown(p.Hi, p.Lo, -n)
	}
	if !ok || v.hi>>63 != 0 {
		return 0, 0, false
	}
	if p.Negative {
		nl, borrow := bits.Sub64(0, v.lo, 0)
		nh, _ := bits.Sub64(0, v.hi, borrow)
		v = u128{nh, nl}
	}
	return int64(v.hi), v.lo, true
}

// maxBigScale bounds the size of the numbers that Big makes.
const maxBigScale = 2 * (MaxExponent + MaxDigits)

// Big is d × 10^scale. It is false if that is not an integer, d is not finite,
// or the result would have more than 12,000 digits.
func (d Decimal) Big(scale int) (*big.Int, bool) {
	p := d.Parts()
	n := p.Exponent + scale
	if p.Class != Finite || n > maxBigScale {
		return nil, false
	}
	v := new(big.Int).SetUint64(p.Hi)
	v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(p.Lo))
	if n < 0 {
		q, ok := scaleDown(p.Hi, p.Lo, -n)
		if !ok {
			return nil, false
		}
		v.SetUint64(q.hi)
		v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(q.lo))
	} else if v.Sign() != 0 {
		v.Mul(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil))
	}
	if p.Negative {
		v.Neg(v)
	}
	return v, true
}

// Reduce is the equal number without zeros at the end of the coefficient, as far as the
// exponent does not rise above 0: the form in which the reference implementation stores a
// column of scale s > 0. 12.50 becomes 12.5, 1200 (as 120000E-2) becomes 1200.
func (d Decimal) Reduce() Decimal {
	p := d.Parts()
	if p.Class != Finite || p.Exponent >= 0 {
		return d
	}
	if p.Hi|p.Lo == 0 {
		p.Exponent = 0
	}
	for step := 16; step > 0; step /= 2 {
		for p.Exponent <= -step {
			v, ok := scaleDown(p.Hi, p.Lo, step)
			if !ok {
				break
			}
			p.Hi, p.Lo, p.Exponent = v.hi, v.lo, p.Exponent+step
		}
	}
	r, _ := FromCoefficient(p.Negative, p.Hi, p.Lo, p.Exponent)
	return r
}

// Within reports whether d × 10^scale is finite and has at most that many digits
// before the point.
func (d Decimal) Within(precision, scale int) bool {
	p := d.Parts()
	return p.Class == Finite && (p.Hi|p.Lo == 0 || digits(p.Hi, p.Lo)+p.Exponent+scale <= precision)
}

// String is the number as text, in the form of the General Decimal Arithmetic specification
// ("to-scientific-string"): it has all digits. The payload of a NaN is left out. 12.50, 1E+3, 0E-6176, -Infinity, NaN.
func (d Decimal) String() string { return string(d.AppendText(nil)) }

// AppendText appends the text of [Decimal.String].
func (d Decimal) AppendText(b []byte) []byte {
	p := d.Parts()
	if p.Negative {
		b = append(b, '-')
	}
	switch p.Class {
	case NaN:
		return append(b, "NaN"...)
	case Infinite:
		return append(b, "Infinity"...)
	}
	var buf [40]byte
	text := appendUint128(buf[:0], p.Hi, p.Lo)
	adjusted := p.Exponent + len(text) - 1
	if p.Exponent > 0 || adjusted < -6 {
		b = append(b, text[0])
		if len(text) > 1 {
			b = append(append(b, '.'), text[1:]...)
		}
		b = append(b, 'E')
		if adjusted > 0 {
			b = append(b, '+')
		}
		return strconv.AppendInt(b, int64(adjusted), 10)
	}
	point := len(text) + p.Exponent // digits before the point
	if point <= 0 {
		b = append(b, '0', '.')
		for ; point < 0; point++ {
			b = append(b, '0')
		}
		return append(b, text...)
	}
	b = append(b, text[:point]...)
	if p.Exponent < 0 {
		b = append(append(b, '.'), text[point:]...)
	}
	return b
}

func appendUint128(b []byte, hi, lo uint64) []byte {
	if hi == 0 {
		return strconv.AppendUint(b, lo, 10)
	}
	v := new(big.Int).SetUint64(hi)
	return v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(lo)).Append(b, 10)
}
