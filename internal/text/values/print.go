package values

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/text"
)

// Appender appends the text of value i of an array, which is not null.
type Appender func(dst []byte, i int) []byte

// Text returns a function that appends the text of value i of arr, as in a CSV cell before quoting. Package table
// lists the forms. The value must not be null.
func Text(arr arrow.Array) Appender { return textOf(arr, false) }

// TextOf is [Text] for a column: ids of spans are hexadecimal digits, as OpenTelemetry's JSON has them.
func TextOf(f arrow.Field, arr arrow.Array) Appender { return textOf(arr, ofSpans(f)) }

// TextForPeople is [Text] with all byte strings of a fixed width, such as ids and hashes, in hexadecimal digits.
func TextForPeople(arr arrow.Array) Appender { return textOf(arr, true) }

func textOf(arr arrow.Array, ids bool) Appender {
	if f := scalarText(arr, ids); f != nil {
		return f
	}
	v := kinds.Open(arr)
	if v.Shape != kinds.Wrap {
		return jsonOf(arr, ids)
	}
	f, isNull := textOf(v.Parts[0], ids), kinds.Nulls(v.Parts[0])
	return func(dst []byte, i int) []byte {
		at := v.Row(i)
		if isNull != nil && isNull(at) {
			return dst
		}
		return f(dst, at)
	}
}

// IsNull reports whether value i is null. It looks into dictionaries, runs and extension types, whose own bitmaps do
// not contain all nulls.
func IsNull(arr arrow.Array, i int) bool {
	_, _, ok := kinds.Inside(arr, i)
	return !ok
}

// scalarText returns the Appender of an array of a type without children, or nil for other types. With ids, byte strings
// of a fixed width are hexadecimal digits.
func scalarText(arr arrow.Array, ids bool) Appender {
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
	case *array.Float64:
		return func(dst []byte, i int) []byte { return text.AppendFloat(dst, a.Value(i), 64) }
	case *array.Decimal128:
		return decimalText(arr, func(i int) *big.Int { return a.Value(i).BigInt() })
	case *array.Decimal256:
		return decimalText(arr, func(i int) *big.Int { return a.Value(i).BigInt() })
	case array.StringLike:
		return func(dst []byte, i int) []byte { return append(dst, a.Value(i)...) }
	case interface{ Value(int) []byte }: // every binary type
		if _, fixed := arr.(*array.FixedSizeBinary); fixed && ids {
			return func(dst []byte, i int) []byte { return hex.AppendEncode(dst, a.Value(i)) }
		}
		return func(dst []byte, i int) []byte { return base64.StdEncoding.AppendEncode(dst, a.Value(i)) }
	}
	if a, ok := arr.(array.ExtensionArray); ok {
		return extensionValueText(a)
	}
	if value := arrowutil.Floats(arr); value != nil {
		return func(dst []byte, i int) []byte { return text.AppendFloat(dst, value(i), 32) }
	}
	if value := arrowutil.Integers(arr); value != nil { // decimals of at most 64 bits
		return decimalText(arr, func(i int) *big.Int { return big.NewInt(value(i)) })
	}
	return nil
}

func decimalText(arr arrow.Array, value func(i int) *big.Int) Appender {
	scale := arr.DataType().(arrow.DecimalType).GetScale()
	return func(dst []byte, i int) []byte { return text.AppendDecimal(dst, value(i), scale) }
}

// extensionValueText returns the Appender of an extension type with a text form of its own, or nil for other types.
func extensionValueText(a array.ExtensionArray) Appender {
	t := a.DataType().(arrow.ExtensionType)
	switch storage := a.Storage().(type) {
	case *array.FixedSizeBinary:
		if t.ExtensionName() == extension.NameUUID && storage.DataType().(*arrow.FixedSizeBinaryType).ByteWidth == 16 {
			return func(dst []byte, i int) []byte { return text.AppendUUID(dst, storage.Value(i)) }
		}
	case *array.Int8:
		if t.ExtensionName() == extension.NameBool8 {
			return func(dst []byte, i int) []byte { return strconv.AppendBool(dst, storage.Value(i) != 0) }
		}
	}
	return nil
}

// integerText is for integers that are no times, of which those of 64 bits without a sign may be beyond the others.
func integerText(arr arrow.Array) Appender {
	if a, ok := arr.(*array.Uint64); ok {
		return func(dst []byte, i int) []byte { return strconv.AppendUint(dst, a.Value(i), 10) }
	}
	if !arrow.IsInteger(arr.DataType().ID()) {
		return nil
	}
	value := arrowutil.Integers(arr)
	return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, value(i), 10) }
}

func timeText(arr arrow.Array) Appender {
	switch a := arr.(type) {
	case *array.Date32:
		return func(dst []byte, i int) []byte { return text.AppendDate(dst, int64(a.Value(i))) }
	case *array.Date64:
		return func(dst []byte, i int) []byte {
			if days, rest := text.FloorDiv(int64(a.Value(i)), text.DaySeconds*1000); rest == 0 {
				return text.AppendDate(dst, days)
			}
			return text.AppendTimestamp(dst, int64(a.Value(i)), 1000, false)
		}
	case *array.Time32:
		per := text.PerSecond(a.DataType().(*arrow.Time32Type).Unit)
		return func(dst []byte, i int) []byte { return text.AppendTimeOfDay(dst, int64(a.Value(i)), per) }
	case *array.Time64:
		per := text.PerSecond(a.DataType().(*arrow.Time64Type).Unit)
		return func(dst []byte, i int) []byte { return text.AppendTimeOfDay(dst, int64(a.Value(i)), per) }
	case *array.Timestamp:
		t := a.DataType().(*arrow.TimestampType)
		per, zoned := text.PerSecond(t.Unit), t.TimeZone != ""
		return func(dst []byte, i int) []byte { return text.AppendTimestamp(dst, int64(a.Value(i)), per, zoned) }
	case *array.Duration:
		per := text.PerSecond(a.DataType().(*arrow.DurationType).Unit)
		return func(dst []byte, i int) []byte { return text.AppendDuration(dst, int64(a.Value(i)), per) }
	case *array.MonthInterval:
		return func(dst []byte, i int) []byte { return text.AppendInterval(dst, int64(a.Value(i)), 0, 0) }
	case *array.DayTimeInterval:
		return func(dst []byte, i int) []byte {
			v := a.Value(i)
			return text.AppendInterval(dst, 0, int64(v.Days), int64(v.Milliseconds)*1e6)
		}
	case *array.MonthDayNanoInterval:
		return func(dst []byte, i int) []byte {
			v := a.Value(i)
			return text.AppendInterval(dst, int64(v.Months), int64(v.Days), v.Nanoseconds)
		}
	}
	return nil
}

// CheckUTF8 checks the strings of a batch at every depth, because text formats cannot hold other bytes.
func CheckUTF8(name string, arr arrow.Array) error {
	if a, ok := arr.(array.StringLike); ok {
		for i := range a.Len() {
			if !a.IsNull(i) && !utf8.ValidString(a.Value(i)) {
				return fmt.Errorf("column %q has a string that is not UTF-8 (row %d of the batch): %q", name, i, text.Clip(a.Value(i)))
			}
		}
	}
	v, names := kinds.Open(arr), kinds.Names(arr.DataType())
	for k, part := range v.Parts {
		path := name
		if v.Shape == kinds.Record || len(names) > 1 && v.Shape == kinds.List {
			path += "." + names[k]
		}
		if err := CheckUTF8(path, part); err != nil {
			return err
		}
	}
	return nil
}

// ofSpans tells whether a column is one of spans.
func ofSpans(f arrow.Field) bool { return f.Metadata.FindKey(arrowutil.ColumnType) >= 0 }
