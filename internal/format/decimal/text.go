package decimal

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/amudai/amudai-go/internal/base/bitmap"
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
// Inf, Infinity or NaN in any case. It fails rather than round. Only tests need it.
func Parse(s string) (Decimal, error) {
	rest, negative := strings.CutPrefix(strings.ToLower(s), "-")
	if !negative {
		rest = strings.TrimPrefix(rest, "+")
	}
	switch rest {
	case "inf", "infinity":
		return Infinity(negative), nil
	case "nan":
		d := NotANumber()
		d[15] |= byte(bitmap.Bit(negative)) << 7
		return d, nil
	}
	mantissa, power, scientific := strings.Cut(rest, "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits, exponent, err := whole+fraction, 0, error(nil)
	if scientific {
		exponent, err = strconv.Atoi(power)
	}
	if err != nil || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return Decimal{}, fmt.Errorf("%.60q is not a decimal", s)
	}
	exponent -= len(fraction)
	// Zeros move between coefficient and exponent to bring both into range.
	digits = strings.TrimLeft(digits, "0")
	for strings.HasSuffix(digits, "0") && (len(digits) > MaxDigits || exponent < MinExponent) {
		digits, exponent = digits[:len(digits)-1], exponent+1
	}
	for digits != "" && len(digits) < MaxDigits && exponent > MaxExponent {
		digits, exponent = digits+"0", exponent-1
	}
	if digits == "" {
		exponent = min(max(exponent, MinExponent), MaxExponent)
	}
	v, _ := new(big.Int).SetString("0"+digits, 10)
	d, ok := FromCoefficient(negative, new(big.Int).Rsh(v, 64).Uint64(), v.Uint64(), exponent)
	if !ok || len(digits) > MaxDigits {
		return Decimal{}, fmt.Errorf("%.60q is out of the range of decimals", s)
	}
	return d, nil
}
