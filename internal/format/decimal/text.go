package decimal

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// String is the number as text, in the form of the General Decimal Arithmetic specification
// ("to-scientific-string"): it has all digits, so that [Parse] returns the same number, except
// for the payload of a NaN. 12.50, 1E+3, 0E-6176, -Infinity, NaN.
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

// Parse reads the text of [Decimal.String]: digits with an optional sign, point and exponent,
// Inf, Infinity or NaN in any case. It fails rather than round.
func Parse(s string) (Decimal, error) {
	bad := func(why string) (Decimal, error) {
		if len(s) > 60 {
			s = s[:60] + "…"
		}
		return Decimal{}, fmt.Errorf("%q is not a decimal: %s", s, why)
	}
	rest := s
	negative := false
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		negative, rest = rest[0] == '-', rest[1:]
	}
	switch strings.ToLower(rest) {
	case "inf", "infinity":
		return Infinity(negative), nil
	case "nan":
		d := NotANumber()
		d[15] |= byte(boolToInt(negative)) << 7
		return d, nil
	}
	var c u128
	n, exponent, zeros := 0, 0, 0 // digits, exponent, zeros held back at the end
	point := false
	i := 0
	for ; i < len(rest); i++ {
		ch := rest[i]
		if ch == '.' && !point {
			point = true
			continue
		}
		if ch < '0' || ch > '9' {
			break
		}
		n++
		if point {
			exponent--
		}
		if ch == '0' && c.hi|c.lo != 0 && digits(c.hi, c.lo)+zeros >= MaxDigits {
			zeros++ // may go into the exponent
			continue
		}
		grown, ok := scaleUp(c.hi, c.lo, zeros+1)
		if !ok || !less(grown.hi, grown.lo, pow10[MaxDigits]) {
			return bad("more than 34 digits")
		}
		zeros = 0
		c = grown
		c.lo += uint64(ch - '0') // the product is even, and below 2^128 - 9
		if c.lo < grown.lo {
			c.hi++
		}
	}
	if n == 0 {
		return bad("no digits")
	}
	if i < len(rest) {
		if rest[i]|0x20 != 'e' {
			return bad(fmt.Sprintf("unexpected %q", rest[i]))
		}
		e, err := strconv.Atoi(rest[i+1:])
		if err != nil || e > 1<<20 || e < -1<<20 {
			return bad("bad exponent")
		}
		exponent += e
	}
	return fit(negative, c, exponent+zeros, bad)
}

// fit moves zeros between coefficient and exponent to bring the exponent into range.
func fit(negative bool, c u128, exponent int, bad func(string) (Decimal, error)) (Decimal, error) {
	if c.hi|c.lo == 0 {
		exponent = min(max(exponent, MinExponent), MaxExponent)
	}
	ok := true
	if exponent > MaxExponent {
		c, ok = scaleUp(c.hi, c.lo, exponent-MaxExponent)
		exponent = MaxExponent
	} else if exponent < MinExponent {
		c, ok = scaleDown(c.hi, c.lo, MinExponent-exponent)
		exponent = MinExponent
	}
	if ok {
		if d, ok := FromCoefficient(negative, c.hi, c.lo, exponent); ok {
			return d, nil
		}
	}
	return bad("out of range")
}
