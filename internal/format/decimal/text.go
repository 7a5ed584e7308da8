package decimal

import (
	"math/big"
	"strconv"
)

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
