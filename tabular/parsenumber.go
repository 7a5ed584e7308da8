package tabular

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
)

var (
	errSyntax       = errors.New("is not a number")
	errRange        = errors.New("is out of range")
	errLeadingZeros = errors.New("has leading zeros, which a number would lose")
)

// parseUint reads digits alone.
func parseUint(b []byte) (uint64, error) {
	if len(b) == 0 {
		return 0, errSyntax
	}
	v := uint64(0)
	for i, c := range b {
		d := uint64(c - '0')
		if d > 9 {
			return 0, errSyntax
		}
		if i >= 19 && (v > math.MaxUint64/10 || v*10 > math.MaxUint64-d) {
			for _, c := range b[i:] {
				if c-'0' > 9 {
					return 0, errSyntax
				}
			}
			return 0, errRange
		}
		v = v*10 + d
	}
	return v, nil
}

// parseInt reads an integer. Strictly, it has no leading zeros or plus, and is not -0.
func parseInt(b []byte, strict strictness) (neg bool, mag uint64, err error) {
	digits := b
	if len(b) > 0 && (b[0] == '-' || b[0] == '+' && !bool(strict)) {
		neg, digits = b[0] == '-', b[1:]
	}
	if mag, err = parseUint(digits); err != nil {
		return false, 0, err
	}
	if bool(strict) && digits[0] == '0' && (len(digits) > 1 || neg) {
		return false, 0, errLeadingZeros
	}
	return neg, mag, nil
}

// integral reads a number with a fraction or exponent that is an integer all the same, such as 1.0 or 1e3.
func integral(b []byte) (neg bool, mag uint64, ok bool) {
	if !numberSyntax(b) {
		return false, 0, false
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) > 1<<53 || significant(b) > 17 {
		return false, 0, false
	}
	return v < 0, uint64(math.Abs(v)), true
}

func signedSetter[T int8 | int16 | int32 | int64](t arrow.DataType, bits int, strict strictness, add func(T)) setter {
	most := uint64(1) << (bits - 1)
	return func(text []byte) error {
		neg, mag, err := parseInt(text, strict)
		if err == errSyntax {
			ok := false
			if neg, mag, ok = integral(text); ok {
				err = nil
			}
		}
		if err == nil && (mag > most || mag == most && !neg) {
			err = errRange
		}
		if err != nil {
			return numberError(text, t, err)
		}
		v := int64(mag)
		if neg {
			v = -v
		}
		add(T(v))
		return nil
	}
}

func unsignedSetter[T uint8 | uint16 | uint32 | uint64](t arrow.DataType, bits int, strict strictness, add func(T)) setter {
	most := uint64(math.MaxUint64) >> (64 - bits)
	return func(text []byte) error {
		neg, mag, err := parseInt(text, strict)
		if err == errSyntax {
			ok := false
			if neg, mag, ok = integral(text); ok {
				err = nil
			}
		}
		if err == nil && (mag > most || neg && mag != 0) {
			err = errRange
		}
		if err != nil {
			return numberError(text, t, err)
		}
		add(T(mag))
		return nil
	}
}

func numberError(text []byte, t arrow.DataType, err error) error {
	switch err {
	case errSyntax:
		return unfit(text, t)
	case errRange:
		return fmt.Errorf("%q is out of the range of %s", clip(string(text)), TypeText(t))
	}
	return fmt.Errorf("%q %w", clip(string(text)), err)
}

func integerSetter(b array.Builder, strict strictness) setter {
	switch b := b.(type) {
	case *array.Int8Builder:
		return signedSetter(b.Type(), 8, strict, b.Append)
	case *array.Int16Builder:
		return signedSetter(b.Type(), 16, strict, b.Append)
	case *array.Int32Builder:
		return signedSetter(b.Type(), 32, strict, b.Append)
	case *array.Int64Builder:
		return signedSetter(b.Type(), 64, strict, b.Append)
	case *array.Uint8Builder:
		return unsignedSetter(b.Type(), 8, strict, b.Append)
	case *array.Uint16Builder:
		return unsignedSetter(b.Type(), 16, strict, b.Append)
	case *array.Uint32Builder:
		return unsignedSetter(b.Type(), 32, strict, b.Append)
	case *array.Uint64Builder:
		return unsignedSetter(b.Type(), 64, strict, b.Append)
	}
	return nil
}

// numberSyntax tells whether b is [-](digits[.digits] | .digits)[e[±]digits].
func numberSyntax(b []byte) bool {
	i := 0
	if i < len(b) && b[i] == '-' {
		i++
	}
	whole := digitRun(b[i:])
	i += whole
	fraction := 0
	if i < len(b) && b[i] == '.' {
		i++
		fraction = digitRun(b[i:])
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
		n := digitRun(b[i:])
		if n == 0 {
			return false
		}
		i += n
	}
	return i == len(b)
}

func digitRun(b []byte) int {
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

var errDigits = errors.New("has more digits than the float holds")

// parseFloat reads a float. Strictly, text with more significant digits than any
// shortest form has (17, or 9 in 32 bits) is refused, and so are integers that
// would change, leading zeros, and what over- or underflows.
func parseFloat(b []byte, bits int, strict strictness) (float64, error) {
	switch string(b) {
	case "NaN", "nan":
		return math.NaN(), nil
	case "Inf", "inf", "Infinity", "+Inf":
		return math.Inf(1), nil
	case "-Inf", "-inf", "-Infinity":
		return math.Inf(-1), nil
	}
	if !strict && len(b) > 0 && b[0] == '+' {
		b = b[1:]
	}
	if !numberSyntax(b) {
		return 0, errSyntax
	}
	v, err := strconv.ParseFloat(string(b), bits)
	if err != nil {
		return 0, errRange
	}
	if !strict {
		return v, nil
	}
	digits := significant(b)
	most := 17
	if bits == 32 {
		most = 9
	}
	switch {
	case v == 0 && digits > 0:
		return 0, errRange
	case digits > most:
		return 0, errDigits
	case leadingZero(b):
		return 0, errLeadingZeros
	case math.Abs(v) >= 1<<24 && digitRun(bytes.TrimPrefix(b, []byte("-"))) == len(bytes.TrimPrefix(b, []byte("-"))):
		if string(strconv.AppendFloat(nil, v, 'f', -1, 64)) != string(b) {
			return 0, errDigits
		}
	}
	return v, nil
}

func leadingZero(b []byte) bool {
	b = bytes.TrimPrefix(b, []byte("-"))
	return len(b) > 1 && b[0] == '0' && b[1]-'0' <= 9
}

func floatSetter(t arrow.DataType, bits int, strict strictness, add func(float64) error) setter {
	return func(text []byte) error {
		v, err := parseFloat(text, bits, strict)
		if err == nil {
			err = add(v)
		}
		if err != nil {
			return numberError(text, t, err)
		}
		return nil
	}
}

// parseDecimal reads a number as an integer scaled by 10^scale, exactly.
func parseDecimal(b []byte, precision, scale int32) (*big.Int, error) {
	if !numberSyntax(b) || len(b) > 1000 {
		return nil, errSyntax
	}
	mantissa, exp := b, int64(0)
	if i := bytes.IndexAny(b, "eE"); i >= 0 {
		var err error
		mantissa = b[:i]
		if exp, err = strconv.ParseInt(string(b[i+1:]), 10, 32); err != nil || exp > 1000 || exp < -1000 {
			return nil, errRange
		}
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	shift := int64(scale) + exp - int64(len(fraction))
	v, ok := new(big.Int).SetString(string(whole)+string(fraction), 10)
	if !ok {
		return nil, errSyntax
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
		return nil, errRange
	}
	return v, nil
}

func decimalSetter(b array.Builder) setter {
	dt, ok := b.Type().(arrow.DecimalType)
	if !ok {
		return nil
	}
	precision, scale := dt.GetPrecision(), dt.GetScale()
	var add func(*big.Int)
	switch b := b.(type) {
	case *array.Decimal32Builder:
		add = func(v *big.Int) { b.Append(decimal.Decimal32(v.Int64())) }
	case *array.Decimal64Builder:
		add = func(v *big.Int) { b.Append(decimal.Decimal64(v.Int64())) }
	case *array.Decimal128Builder:
		add = func(v *big.Int) { b.Append(decimal128.FromBigInt(v)) }
	case *array.Decimal256Builder:
		add = func(v *big.Int) { b.Append(decimal256.FromBigInt(v)) }
	default:
		return nil
	}
	return func(text []byte) error {
		v, err := parseDecimal(text, precision, scale)
		if err != nil {
			return numberError(text, dt, err)
		}
		add(v)
		return nil
	}
}
