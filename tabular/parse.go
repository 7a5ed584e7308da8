package tabular

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"
)

// A column whose type was inferred takes only text that its type holds without
// losing anything that the text says; a column whose type the caller fixed takes
// what converts: leading zeros, "+5", and numbers that round to the nearest float.
type strictness bool

const (
	inferred strictness = true
	fixed    strictness = false
)

// setter appends the value that a text stands for to a builder. It keeps no
// reference to the text. After an error nothing was appended.
type setter func(text []byte) error

// newSetter makes the setter of a builder. Only types that have a text form can be set.
func newSetter(b array.Builder, strict strictness) (setter, error) {
	if s := integerSetter(b, strict); s != nil {
		return s, nil
	}
	if s := timeSetter(b); s != nil {
		return s, nil
	}
	switch b := b.(type) {
	case *array.NullBuilder:
		return func(text []byte) error {
			if len(text) > 0 {
				return fmt.Errorf("%q in a column of type null", clip(string(text)))
			}
			b.AppendNull()
			return nil
		}, nil
	case *array.BooleanBuilder:
		return func(text []byte) error {
			v, ok := parseBool(text)
			if !ok {
				return unfit(text, b.Type())
			}
			b.Append(v)
			return nil
		}, nil
	case *array.Float16Builder:
		return floatSetter(b.Type(), 32, strict, func(v float64) error {
			h := float16.New(float32(v))
			if bool(strict) && float64(h.Float32()) != v && v == v {
				return errors.New("has more digits than a float16 holds")
			}
			b.Append(h)
			return nil
		}), nil
	case *array.Float32Builder:
		return floatSetter(b.Type(), 32, strict, func(v float64) error { b.Append(float32(v)); return nil }), nil
	case *array.Float64Builder:
		return floatSetter(b.Type(), 64, strict, func(v float64) error { b.Append(v); return nil }), nil
	case *array.BinaryDictionaryBuilder:
		return dictionarySetter(b)
	case interface{ StorageBuilder() array.Builder }:
		return extensionSetter(b.(array.Builder), b.StorageBuilder(), strict)
	}
	if s := decimalSetter(b); s != nil {
		return s, nil
	}
	if s := bytesSetter(b); s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("type %s cannot be read from text", TypeText(b.Type()))
}

func unfit(text []byte, t arrow.DataType) error {
	return fmt.Errorf("%q is not %s", clip(string(text)), withArticle(TypeText(t)))
}

func withArticle(name string) string {
	if name != "" && bytes.IndexByte([]byte("aeio"), name[0]) >= 0 {
		return "an " + name
	}
	return "a " + name
}

func parseBool(b []byte) (v, ok bool) {
	switch string(b) {
	case "true", "True", "TRUE":
		return true, true
	case "false", "False", "FALSE":
		return false, true
	}
	return false, false
}

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

// timeSetter is for the types of dates, times and spans of time.
func timeSetter(b array.Builder) setter {
	switch b := b.(type) {
	case *array.Date32Builder:
		return func(text []byte) error {
			days, rest, ok := cutDate(text)
			if !ok || len(rest) > 0 || days != int64(int32(days)) {
				return unfit(text, b.Type())
			}
			b.Append(arrow.Date32(days))
			return nil
		}
	case *array.Date64Builder:
		return date64Setter(b)
	case *array.Time32Builder:
		return clockSetter(b.Type(), perSecond(b.Type().(*arrow.Time32Type).Unit), func(v int64) { b.Append(arrow.Time32(v)) })
	case *array.Time64Builder:
		return clockSetter(b.Type(), perSecond(b.Type().(*arrow.Time64Type).Unit), func(v int64) { b.Append(arrow.Time64(v)) })
	case *array.TimestampBuilder:
		return timestampSetter(b)
	case *array.DurationBuilder:
		return durationSetter(b)
	case *array.MonthIntervalBuilder:
		return intervalSetter(b.Type(), func(months, days int32, nanos int64) bool {
			if days != 0 || nanos != 0 {
				return false
			}
			b.Append(arrow.MonthInterval(months))
			return true
		})
	case *array.DayTimeIntervalBuilder:
		return intervalSetter(b.Type(), func(months, days int32, nanos int64) bool {
			ms := nanos / 1e6
			if months != 0 || nanos%1e6 != 0 || ms != int64(int32(ms)) {
				return false
			}
			b.Append(arrow.DayTimeInterval{Days: days, Milliseconds: int32(ms)})
			return true
		})
	case *array.MonthDayNanoIntervalBuilder:
		return intervalSetter(b.Type(), func(months, days int32, nanos int64) bool {
			b.Append(arrow.MonthDayNanoInterval{Months: months, Days: days, Nanoseconds: nanos})
			return true
		})
	}
	return nil
}

func date64Setter(b *array.Date64Builder) setter {
	return func(text []byte) error {
		days, rest, ok := cutDate(text)
		t := instant{secs: days * daySeconds}
		if ok && len(rest) > 0 {
			t, ok = parseInstant(text)
		}
		if !ok || t.zoned {
			return unfit(text, b.Type())
		}
		v, err := scaled(t.secs, t.nanos, 1000)
		if err != nil {
			return numberError(text, b.Type(), err)
		}
		b.Append(arrow.Date64(v))
		return nil
	}
}

func clockSetter(dt arrow.DataType, per int64, add func(int64)) setter {
	return func(text []byte) error {
		t, rest, ok := cutClock(text)
		if !ok || len(rest) > 0 {
			return unfit(text, dt)
		}
		v, err := scaled(t.secs, t.nanos, per)
		if err != nil {
			return numberError(text, dt, err)
		}
		add(v)
		return nil
	}
}

// timestampSetter wants a zone where the type has one, and none where it has none.
func timestampSetter(b *array.TimestampBuilder) setter {
	dt := b.Type().(*arrow.TimestampType)
	per, zoned := perSecond(dt.Unit), dt.TimeZone != ""
	return func(text []byte) error {
		t, ok := parseInstant(text)
		if days, rest, isDate := cutDate(text); !ok && isDate && len(rest) == 0 && !zoned {
			t, ok = instant{secs: days * daySeconds}, true
		}
		switch {
		case !ok:
			return unfit(text, dt)
		case zoned && !t.zoned:
			return fmt.Errorf("%q has no zone, as %s needs", clip(string(text)), TypeText(dt))
		case t.zoned && !zoned:
			return fmt.Errorf("%q has a zone, which %s does not keep", clip(string(text)), TypeText(dt))
		}
		v, err := scaled(t.secs, t.nanos, per)
		if err != nil {
			return numberError(text, dt, err)
		}
		b.Append(arrow.Timestamp(v))
		return nil
	}
}

func durationSetter(b *array.DurationBuilder) setter {
	per := perSecond(b.Type().(*arrow.DurationType).Unit)
	return func(text []byte) error {
		d, err := parseDuration(text)
		if err != nil {
			return numberError(text, b.Type(), err)
		}
		v, err := d.inUnits(per)
		if err != nil {
			return numberError(text, b.Type(), err)
		}
		b.Append(arrow.Duration(v))
		return nil
	}
}

// intervalSetter reads the parts; add appends them, or returns false if its
// type cannot keep all of them.
func intervalSetter(dt arrow.DataType, add func(months, days int32, nanos int64) bool) setter {
	return func(text []byte) error {
		d, err := parseDuration(text)
		if err != nil {
			return numberError(text, dt, err)
		}
		nanos, err := isoDuration{secs: d.secs, nanos: d.nanos}.inUnits(1e9)
		if err != nil || d.months != int64(int32(d.months)) || d.days != int64(int32(d.days)) ||
			!add(int32(d.months), int32(d.days), nanos) {
			return fmt.Errorf("%q does not fit %s", clip(string(text)), TypeText(dt))
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

var errUTF8 = errors.New("is not valid UTF-8; convert the input to UTF-8 first")

func bytesSetter(b array.Builder) setter {
	type textBuilder interface {
		array.Builder
		Append(string)
	}
	switch b := b.(type) {
	case *array.BinaryBuilder:
		if b.Type().ID() == arrow.BINARY || b.Type().ID() == arrow.LARGE_BINARY {
			return base64Setter(b.Type(), -1, b.Append)
		}
	case *array.BinaryViewBuilder:
		return base64Setter(b.Type(), -1, b.Append)
	case *array.FixedSizeBinaryBuilder:
		return base64Setter(b.Type(), b.Type().(*arrow.FixedSizeBinaryType).ByteWidth, b.Append)
	case *array.StringBuilder:
		return textSetter(b.BinaryBuilder.Append)
	case *array.LargeStringBuilder:
		return textSetter(b.BinaryBuilder.Append)
	case textBuilder:
		return textSetter(func(v []byte) { b.Append(string(v)) })
	}
	return nil
}

func textSetter(add func([]byte)) setter {
	return func(text []byte) error {
		if !utf8.Valid(text) {
			return fmt.Errorf("%q %w", clip(string(text)), errUTF8)
		}
		add(text)
		return nil
	}
}

func base64Setter(dt arrow.DataType, width int, add func([]byte)) setter {
	var buf []byte
	return func(text []byte) error {
		var err error
		if buf, err = base64.StdEncoding.AppendDecode(buf[:0], text); err != nil {
			return fmt.Errorf("%q is not base64, as %s needs", clip(string(text)), TypeText(dt))
		}
		if width >= 0 && len(buf) != width {
			return fmt.Errorf("%q has %d bytes, not %d", clip(string(text)), len(buf), width)
		}
		add(buf)
		return nil
	}
}

func dictionarySetter(b *array.BinaryDictionaryBuilder) (setter, error) {
	if id := b.Type().(*arrow.DictionaryType).ValueType.ID(); id != arrow.STRING && id != arrow.LARGE_STRING {
		return nil, fmt.Errorf("type %s cannot be read from text", TypeText(b.Type()))
	}
	return func(text []byte) error {
		if !utf8.Valid(text) {
			return fmt.Errorf("%q %w", clip(string(text)), errUTF8)
		}
		return b.Append(text)
	}, nil
}

// extensionSetter reads the text forms of json, uuid and bool8, and that of the
// storage type for the rest.
func extensionSetter(b, storage array.Builder, strict strictness) (setter, error) {
	name := b.Type().(arrow.ExtensionType).ExtensionName()
	switch s := storage.(type) {
	case *array.FixedSizeBinaryBuilder:
		if name == "arrow.uuid" {
			return func(text []byte) error {
				v, ok := parseUUID(text)
				if !ok {
					return unfit(text, b.Type())
				}
				s.Append(v[:])
				return nil
			}, nil
		}
	case *array.Int8Builder:
		if name == "arrow.bool8" {
			return func(text []byte) error {
				v, ok := parseBool(text)
				if !ok {
					return unfit(text, b.Type())
				}
				n := int8(0)
				if v {
					n = 1
				}
				s.Append(n)
				return nil
			}, nil
		}
	}
	set, err := newSetter(storage, strict)
	if err != nil || name != "arrow.json" {
		return set, err
	}
	return func(text []byte) error {
		if !validJSON(text) {
			return unfit(text, b.Type())
		}
		return set(text)
	}, nil
}

func parseUUID(b []byte) (v [16]byte, ok bool) {
	if len(b) != 36 || b[8] != '-' || b[13] != '-' || b[18] != '-' || b[23] != '-' {
		return v, false
	}
	at := 0
	for i := range v {
		if b[at] == '-' {
			at++
		}
		n, err := strconv.ParseUint(string(b[at:at+2]), 16, 8)
		if err != nil || b[at] == '+' {
			return v, false
		}
		v[i] = byte(n)
		at += 2
	}
	return v, true
}

// Parser gives a function that appends the value that a text stands for to a
// builder, as [Text] writes it. It is for types that hold one value each. After
// an error nothing was appended.
func Parser(b array.Builder) (func(text []byte) error, error) { return newSetter(b, fixed) }
