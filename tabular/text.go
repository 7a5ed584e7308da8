package tabular

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// appender appends the text of value i of one array, which is not null.
type appender func(dst []byte, i int) []byte

// Text gives a function that appends the text of value i of arr, as a CSV cell
// holds it before quoting; see the package comment for the forms. The value
// must not be null.
func Text(arr arrow.Array) func(dst []byte, i int) []byte {
	if f := scalarText(arr); f != nil {
		return f
	}
	switch a := arr.(type) {
	case *array.Dictionary:
		f := Text(a.Dictionary())
		return func(dst []byte, i int) []byte {
			code := a.GetValueIndex(i)
			if a.Dictionary().IsNull(code) {
				return dst
			}
			return f(dst, code)
		}
	case *array.RunEndEncoded:
		f := Text(a.Values())
		return func(dst []byte, i int) []byte {
			run := a.GetPhysicalIndex(i)
			if a.Values().IsNull(run) {
				return dst
			}
			return f(dst, run)
		}
	case array.ExtensionArray:
		return Text(a.Storage())
	}
	return appender(JSONText(arr))
}

// IsNull tells whether value i is null, through dictionaries, runs and
// extension types, whose own bitmaps do not tell.
func IsNull(arr arrow.Array, i int) bool {
	if arr.IsNull(i) {
		return true
	}
	switch a := arr.(type) {
	case *array.Null:
		return true
	case *array.Dictionary:
		return a.Dictionary().IsNull(a.GetValueIndex(i))
	case *array.RunEndEncoded:
		return IsNull(a.Values(), a.GetPhysicalIndex(i))
	case array.ExtensionArray:
		return IsNull(a.Storage(), i)
	}
	return false
}

// scalarText is the text of types that hold one value each; nil for others.
func scalarText(arr arrow.Array) appender {
	if f := integerText(arr); f != nil {
		return f
	}
	if f := timeText(arr); f != nil {
		return f
	}
	switch a := arr.(type) {
	case *array.Null:
		return func(dst []byte, i int) []byte { return dst }
	case *array.Boolean:
		return func(dst []byte, i int) []byte { return strconv.AppendBool(dst, a.Value(i)) }
	case *array.Float16:
		return func(dst []byte, i int) []byte { return appendFloat(dst, float64(a.Value(i).Float32()), 32) }
	case *array.Float32:
		return func(dst []byte, i int) []byte { return appendFloat(dst, float64(a.Value(i)), 32) }
	case *array.Float64:
		return func(dst []byte, i int) []byte { return appendFloat(dst, a.Value(i), 64) }
	case *array.Decimal32:
		scale := a.DataType().(arrow.DecimalType).GetScale()
		return func(dst []byte, i int) []byte { return appendDecimal(dst, big.NewInt(int64(a.Value(i))), scale) }
	case *array.Decimal64:
		scale := a.DataType().(arrow.DecimalType).GetScale()
		return func(dst []byte, i int) []byte { return appendDecimal(dst, big.NewInt(int64(a.Value(i))), scale) }
	case *array.Decimal128:
		scale := a.DataType().(arrow.DecimalType).GetScale()
		return func(dst []byte, i int) []byte { return appendDecimal(dst, a.Value(i).BigInt(), scale) }
	case *array.Decimal256:
		scale := a.DataType().(arrow.DecimalType).GetScale()
		return func(dst []byte, i int) []byte { return appendDecimal(dst, a.Value(i).BigInt(), scale) }
	case array.StringLike:
		return func(dst []byte, i int) []byte { return append(dst, a.Value(i)...) }
	case interface{ Value(int) []byte }: // every binary type
		return func(dst []byte, i int) []byte { return base64.StdEncoding.AppendEncode(dst, a.Value(i)) }
	case array.ExtensionArray:
		return extensionValueText(a)
	}
	return nil
}

// extensionValueText is for the extension types with a text form of their own.
func extensionValueText(a array.ExtensionArray) appender {
	t := a.DataType().(arrow.ExtensionType)
	switch storage := a.Storage().(type) {
	case *array.FixedSizeBinary:
		if t.ExtensionName() == "arrow.uuid" && storage.DataType().(*arrow.FixedSizeBinaryType).ByteWidth == 16 {
			return func(dst []byte, i int) []byte { return appendUUID(dst, storage.Value(i)) }
		}
	case *array.Int8:
		if t.ExtensionName() == "arrow.bool8" {
			return func(dst []byte, i int) []byte { return strconv.AppendBool(dst, storage.Value(i) != 0) }
		}
	}
	return nil
}

func integerText(arr arrow.Array) appender {
	switch a := arr.(type) {
	case *array.Int8:
		return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, int64(a.Value(i)), 10) }
	case *array.Int16:
		return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, int64(a.Value(i)), 10) }
	case *array.Int32:
		return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, int64(a.Value(i)), 10) }
	case *array.Int64:
		return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, a.Value(i), 10) }
	case *array.Uint8:
		return func(dst []byte, i int) []byte { return strconv.AppendUint(dst, uint64(a.Value(i)), 10) }
	case *array.Uint16:
		return func(dst []byte, i int) []byte { return strconv.AppendUint(dst, uint64(a.Value(i)), 10) }
	case *array.Uint32:
		return func(dst []byte, i int) []byte { return strconv.AppendUint(dst, uint64(a.Value(i)), 10) }
	case *array.Uint64:
		return func(dst []byte, i int) []byte { return strconv.AppendUint(dst, a.Value(i), 10) }
	}
	return nil
}

func timeText(arr arrow.Array) appender {
	switch a := arr.(type) {
	case *array.Date32:
		return func(dst []byte, i int) []byte { return appendDate(dst, int64(a.Value(i))) }
	case *array.Date64:
		return func(dst []byte, i int) []byte {
			if days, rest := floorDiv(int64(a.Value(i)), daySeconds*1000); rest == 0 {
				return appendDate(dst, days)
			}
			return appendTimestamp(dst, int64(a.Value(i)), 1000, false)
		}
	case *array.Time32:
		per := perSecond(a.DataType().(*arrow.Time32Type).Unit)
		return func(dst []byte, i int) []byte { return appendTimeOfDay(dst, int64(a.Value(i)), per) }
	case *array.Time64:
		per := perSecond(a.DataType().(*arrow.Time64Type).Unit)
		return func(dst []byte, i int) []byte { return appendTimeOfDay(dst, int64(a.Value(i)), per) }
	case *array.Timestamp:
		t := a.DataType().(*arrow.TimestampType)
		per, zoned := perSecond(t.Unit), t.TimeZone != ""
		return func(dst []byte, i int) []byte { return appendTimestamp(dst, int64(a.Value(i)), per, zoned) }
	case *array.Duration:
		per := perSecond(a.DataType().(*arrow.DurationType).Unit)
		return func(dst []byte, i int) []byte { return appendDuration(dst, int64(a.Value(i)), per) }
	case *array.MonthInterval:
		return func(dst []byte, i int) []byte { return appendInterval(dst, int64(a.Value(i)), 0, 0) }
	case *array.DayTimeInterval:
		return func(dst []byte, i int) []byte {
			v := a.Value(i)
			return appendInterval(dst, 0, int64(v.Days), int64(v.Milliseconds)*1e6)
		}
	case *array.MonthDayNanoInterval:
		return func(dst []byte, i int) []byte {
			v := a.Value(i)
			return appendInterval(dst, int64(v.Months), int64(v.Days), v.Nanoseconds)
		}
	}
	return nil
}

// appendTimeOfDay appends a clock time; a value outside the day, which Arrow
// does not forbid to hold, is written as a duration, so that it stays visible.
func appendTimeOfDay(dst []byte, v, per int64) []byte {
	if v < 0 || v >= daySeconds*per {
		return appendDuration(dst, v, per)
	}
	return appendClock(dst, v/per, v%per*(1e9/per))
}

// appendFloat appends the shortest text that reads back as the same value,
// always recognisable as a float.
func appendFloat(dst []byte, v float64, bits int) []byte {
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
	for _, c := range dst[start:] {
		if c == '.' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

// appendDecimal appends v / 10^scale with exactly scale digits after the point.
func appendDecimal(dst []byte, v *big.Int, scale int32) []byte {
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

const hexDigits = "0123456789abcdef"

func appendUUID(dst, v []byte) []byte {
	for i, b := range v {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hexDigits[b>>4], hexDigits[b&15])
	}
	return dst
}

// JSONText gives a function that appends value i of arr as JSON; nulls as null.
func JSONText(arr arrow.Array) func(dst []byte, i int) []byte {
	f := jsonValue(arr)
	return func(dst []byte, i int) []byte {
		if IsNull(arr, i) {
			return append(dst, "null"...)
		}
		return f(dst, i)
	}
}

// jsonValue is [JSONText] for values that are not null.
func jsonValue(arr arrow.Array) appender {
	switch a := arr.(type) {
	case *array.Float16, *array.Float32, *array.Float64:
		return jsonFloat(scalarText(arr))
	case *array.Boolean:
		return scalarText(arr)
	case *array.Map:
		return jsonMap(a)
	case *array.Struct:
		return jsonStruct(a)
	case array.ListLike:
		f := JSONText(a.ListValues())
		return func(dst []byte, i int) []byte {
			from, to := a.ValueOffsets(i)
			dst = append(dst, '[')
			for j := from; j < to; j++ {
				if j > from {
					dst = append(dst, ',')
				}
				dst = f(dst, int(j))
			}
			return append(dst, ']')
		}
	case *array.Dictionary:
		f := JSONText(a.Dictionary())
		return func(dst []byte, i int) []byte { return f(dst, a.GetValueIndex(i)) }
	case *array.RunEndEncoded:
		f := JSONText(a.Values())
		return func(dst []byte, i int) []byte { return f(dst, a.GetPhysicalIndex(i)) }
	case array.Union:
		return jsonUnion(a)
	case array.ExtensionArray:
		return jsonExtension(a)
	}
	if f := integerText(arr); f != nil {
		return f
	}
	return jsonQuoted(scalarText(arr), arr)
}

func jsonExtension(a array.ExtensionArray) appender {
	switch f := extensionValueText(a); {
	case f != nil && a.DataType().(arrow.ExtensionType).ExtensionName() == "arrow.bool8":
		return f
	case f != nil:
		return jsonQuoted(f, a)
	}
	if a.DataType().(arrow.ExtensionType).ExtensionName() == "arrow.json" {
		if f := scalarText(a.Storage()); f != nil {
			return func(dst []byte, i int) []byte {
				start := len(dst)
				dst = f(dst, i)
				if !validJSON(dst[start:]) { // somebody else's label: still valid output
					return appendJSONString(dst[:start], string(dst[start:]))
				}
				return oneLine(dst, start)
			}
		}
	}
	return JSONText(a.Storage())
}

// oneLine turns the line breaks between the tokens of a JSON text into spaces;
// inside strings they are always escaped.
func oneLine(dst []byte, start int) []byte {
	for i := start; i < len(dst); i++ {
		if dst[i] == '\n' || dst[i] == '\r' {
			dst[i] = ' '
		}
	}
	return dst
}

// jsonFloat quotes what JSON has no numbers for.
func jsonFloat(f appender) appender {
	return func(dst []byte, i int) []byte {
		start := len(dst)
		dst = f(dst, i)
		if last := dst[len(dst)-1]; last >= '0' && last <= '9' {
			return dst
		}
		return appendJSONString(dst[:start], string(dst[start:]))
	}
}

// jsonQuoted writes the text of f as a JSON string.
func jsonQuoted(f appender, arr arrow.Array) appender {
	if a, ok := arr.(array.StringLike); ok {
		return func(dst []byte, i int) []byte { return appendJSONString(dst, a.Value(i)) }
	}
	if f == nil {
		return func(dst []byte, i int) []byte { return appendJSONString(dst, arr.ValueStr(i)) }
	}
	return func(dst []byte, i int) []byte { // these texts need no escapes
		return append(f(append(dst, '"'), i), '"')
	}
}

func jsonStruct(a *array.Struct) appender {
	fields := a.DataType().(*arrow.StructType).Fields()
	names, values := make([][]byte, len(fields)), make([]appender, len(fields))
	for i, f := range fields {
		names[i] = append(appendJSONString(nil, f.Name), ':')
		values[i] = JSONText(a.Field(i))
	}
	return func(dst []byte, i int) []byte {
		dst = append(dst, '{')
		for k, name := range names {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = values[k](append(dst, name...), i)
		}
		return append(dst, '}')
	}
}

func jsonMap(a *array.Map) appender {
	key, item := JSONText(a.Keys()), JSONText(a.Items())
	return func(dst []byte, i int) []byte {
		from, to := a.ValueOffsets(i)
		dst = append(dst, '[')
		for j := from; j < to; j++ {
			if j > from {
				dst = append(dst, ',')
			}
			dst = key(append(dst, `{"key":`...), int(j))
			dst = item(append(dst, `,"value":`...), int(j))
			dst = append(dst, '}')
		}
		return append(dst, ']')
	}
}

func jsonUnion(a array.Union) appender {
	children := make([]appender, a.NumFields())
	for i := range children {
		children[i] = JSONText(a.Field(i))
	}
	dense, _ := a.(*array.DenseUnion)
	return func(dst []byte, i int) []byte {
		child, at := a.ChildID(i), i // a sparse union's children are sliced with it
		if dense != nil {
			at = int(dense.ValueOffset(i))
		}
		return children[child](dst, at)
	}
}

// appendJSONString appends s as a JSON string. Bytes that are not UTF-8 cannot
// be written in JSON; they become U+FFFD, and [validUTF8] lets sinks refuse them first.
func appendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[start:i]...), `\ufffd`...)
				start = i + 1
			}
			i += n
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

// validUTF8 checks the strings of a batch, at every depth; text formats have no
// way to hold others.
func validUTF8(name string, arr arrow.Array) error {
	switch a := arr.(type) {
	case array.StringLike:
		for i := range a.Len() {
			if !a.IsNull(i) && !utf8.ValidString(a.Value(i)) {
				return fmt.Errorf("column %q has a string that is not UTF-8 (row %d of the batch): %q", name, i, clip(a.Value(i)))
			}
		}
		return nil
	case *array.Struct:
		for k, f := range a.DataType().(*arrow.StructType).Fields() {
			if err := validUTF8(name+"."+f.Name, a.Field(k)); err != nil {
				return err
			}
		}
		return nil
	case *array.Dictionary:
		return validUTF8(name, a.Dictionary())
	case *array.RunEndEncoded:
		return validUTF8(name, a.Values())
	case array.ExtensionArray:
		return validUTF8(name, a.Storage())
	case array.ListLike:
		return validUTF8(name, a.ListValues())
	case array.Union:
		for k := range a.NumFields() {
			if err := validUTF8(name, a.Field(k)); err != nil {
				return err
			}
		}
	}
	return nil
}
