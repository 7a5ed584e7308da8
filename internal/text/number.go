package text

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/google/uuid"
)

// Errors of numbers. Callers add the text.
var (
	ErrSyntax       = errors.New("is not a number")
	ErrDigits       = errors.New("has more digits than the float holds")
	ErrRange        = errors.New("is out of range")
	ErrLeadingZeros = errors.New("has leading zeros, which a number would lose")
)

// parseUint reads digits only.
func parseUint(b []byte) (uint64, error) {
	if len(b) == 0 {
		return 0, ErrSyntax
	}
	v := uint64(0)
	for i, c := range b {
		d := uint64(c - '0')
		if d > 9 {
			return 0, ErrSyntax
		}
		if i >= 19 && (v > math.MaxUint64/10 || v*10 > math.MaxUint64-d) {
			for _, c := range b[i:] {
				if c-'0' > 9 {
					return 0, ErrSyntax
				}
			}
			return 0, ErrRange
		}
		v = v*10 + d
	}
	return v, nil
}

// ParseInt reads an integer. Strictly, it has no leading zeros or plus, and is not -0.
func ParseInt(b []byte, mode Mode) (neg bool, mag uint64, err error) {
	digits := b
	if len(b) > 0 && (b[0] == '-' || b[0] == '+' && mode == Lenient) {
		neg, digits = b[0] == '-', b[1:]
	}
	if mag, err = parseUint(digits); err != nil {
		return false, 0, err
	}
	if mode == Strict && digits[0] == '0' && (len(digits) > 1 || neg) {
		return false, 0, ErrLeadingZeros
	}
	return neg, mag, nil
}

// ParseIntegral reads an integer with a fraction or an exponent, such as 1.0 or 1e3.
func ParseIntegral(b []byte) (neg bool, mag uint64, ok bool) {
	if !IsNumber(b) {
		return false, 0, false
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) > 1<<53 || significant(b) > 17 {
		return false, 0, false
	}
	return v < 0, uint64(math.Abs(v)), true
}

// IsNumber reports whether b is [-](digits[.digits] | .digits)[e[±]digits].
func IsNumber(b []byte) bool {
	i := 0
	if i < len(b) && b[i] == '-' {
		i++
	}
	whole := CountDigits(b[i:])
	i += whole
	fraction := 0
	if i < len(b) && b[i] == '.' {
		i++
		fraction = CountDigits(b[i:])
		i += fraction
	}
	if whole+fraction == 0 {
		return false
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '-' || b[i] == '+') {
			i++
		}
		n := CountDigits(b[i:])
		if n == 0 {
			return false
		}
		i += n
	}
	return i == len(b)
}

// CountDigits is the number of digits at the start of b.
func CountDigits(b []byte) int {
	for i, c := range b {
		if c-'0' > 9 {
			return i
		}
	}
	return len(b)
}

// significant counts the digits of a number without leading and trailing zeros.
func significant(b []byte) int {
	first, last, n := -1, -1, 0
	for _, c := range b {
		if c == 'e' || c == 'E' {
			break
		}
		if c-'0' > 9 {
			continue
		}
		if c != '0' {
			if first < 0 {
				first = n
			}
			last = n
		}
		n++
	}
	if first < 0 {
		return 0
	}
	return last - first + 1
}

// ParseFloat reads a float. Strict parsing refuses more significant digits than the shortest text of any float has
// (17, or 9 in 32 bits), integers that would change, leading zeros, overflow and underflow.
func ParseFloat(b []byte, bits int, mode Mode) (float64, error) {
	switch string(b) {
	case "NaN", "nan":
		return math.NaN(), nil
	case "Inf", "inf", "Infinity", "+Inf":
		return math.Inf(1), nil
	case "-Inf", "-inf", "-Infinity":
		return math.Inf(-1), nil
	}
	if mode == Lenient && len(b) > 0 && b[0] == '+' {
		b = b[1:]
	}
	if !IsNumber(b) {
		return 0, ErrSyntax
	}
	v, err := strconv.ParseFloat(string(b), bits)
	if err != nil {
		return 0, ErrRange
	}
	if mode == Lenient {
		return v, nil
	}
	digits := significant(b)
	most := 17
	if bits == 32 {
		most = 9
	}
	switch {
	case v == 0 && digits > 0:
		return 0, ErrRange
	case digits > most:
		return 0, ErrDigits
	case leadingZero(b):
		return 0, ErrLeadingZeros
	case math.Abs(v) >= 1<<24 && CountDigits(bytes.TrimPrefix(b, []byte("-"))) == len(bytes.TrimPrefix(b, []byte("-"))):
		if string(strconv.AppendFloat(nil, v, 'f', -1, 64)) != string(b) {
			return 0, ErrDigits
		}
	}
	return v, nil
}

func leadingZero(b []byte) bool {
	b = bytes.TrimPrefix(b, []byte("-"))
	return len(b) > 1 && b[0] == '0' && b[1]-'0' <= 9
}

// ParseDecimal reads a number as an integer scaled by 10^scale, exactly.
func ParseDecimal(b []byte, precision, scale int32) (*big.Int, error) {
	if !IsNumber(b) || len(b) > 1000 {
		return nil, ErrSyntax
	}
	mantissa, exp := b, int64(0)
	if i := bytes.IndexAny(b, "eE"); i >= 0 {
		var err error
		mantissa = b[:i]
		if exp, err = strconv.ParseInt(string(b[i+1:]), 10, 32); err != nil || exp > 1000 || exp < -1000 {
			return nil, ErrRange
		}
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	shift := int64(scale) + exp - int64(len(fraction))
	v, ok := new(big.Int).SetString(string(whole)+string(fraction), 10)
	if !ok {
		return nil, ErrSyntax
	}
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(shift, -shift)), nil)
	if shift >= 0 {
		v.Mul(v, ten)
	} else {
		rest := new(big.Int)
		if v.QuoRem(v, ten, rest); rest.Sign() != 0 {
			return nil, fmt.Errorf("has more than %d digits after the point", scale)
		}
	}
	most := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil)
	if v.CmpAbs(most) >= 0 {
		return nil, ErrRange
	}
	return v, nil
}

// AppendFloat appends the shortest text that reads back as the same value, and cannot be read as an integer.
func AppendFloat(dst []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "Inf"...)
	case math.IsInf(v, -1):
		return append(dst, "-Inf"...)
	}
	if abs := math.Abs(v); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		return strconv.AppendFloat(dst, v, 'e', -1, bits)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, v, 'f', -1, bits)
	if slices.Contains(dst[start:], '.') {
		return dst
	}
	return append(dst, ".0"...)
}

// AppendDecimal appends v / 10^scale with exactly scale digits after the point.
func AppendDecimal(dst []byte, v *big.Int, scale int32) []byte {
	if scale <= 0 {
		dst = v.Append(dst, 10)
		if v.Sign() != 0 {
			for ; scale < 0; scale++ {
				dst = append(dst, '0')
			}
		}
		return dst
	}
	if v.Sign() < 0 {
		dst = append(dst, '-')
		v = new(big.Int).Neg(v)
	}
	digits := v.Append(nil, 10)
	for len(digits) <= int(scale) {
		digits = append([]byte{'0'}, digits...)
	}
	point := len(digits) - int(scale)
	dst = append(dst, digits[:point]...)
	dst = append(dst, '.')
	return append(dst, digits[point:]...)
}

// AppendUUID appends the 16 bytes of a UUID in the syntax of [ParseUUID].
func AppendUUID(dst, v []byte) []byte {
	for i, part := range [][]byte{v[:4], v[4:6], v[6:8], v[8:10], v[10:16]} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, part)
	}
	return dst
}

// ParseUUID reads 00112233-4455-6677-8899-aabbccddeeff.
func ParseUUID(b []byte) (v [16]byte, ok bool) {
	v, err := uuid.ParseBytes(b) // which reads other forms, too
	return v, err == nil && len(b) == 36
}

// ParseBool reads true and false in lower, upper and title case.
func ParseBool(b []byte) (v, ok bool) {
	switch string(b) {
	case "true", "True", "TRUE":
		return true, true
	case "false", "False", "FALSE":
		return false, true
	}
	return false, false
}
