package order

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// Marks before a value. endOfList is less than the marks, so that a list is less than a longer one with the same
// beginning.
const (
	endOfList   = 0x00
	nullFirst   = 0x00
	present     = 0x01
	nullLast    = 0x02
	endOfString = 0x00 // twice; a zero byte within a string is 00 ff
	zeroByte    = 0xff
)

// Encoder encodes values as byte strings that compare, by bytes, as the values do. No encoding is the beginning of
// another one. A mark tells null from a value:
//
//	01 value | 02 (null, last) | 00 (null, first)
//
//	bool, integers     8000000000000005         big-endian, the sign bit inverted
//	floats             bff0000000000000         the same for the order of IEEE 754; NaN is greatest, -0 is 0
//	decimals           16 or 32 bytes           as integers
//	strings, bytes     61 00ff 62 0000          "a\x00b"
//	lists, maps        01 value 01 value 00     elements, the end
//	structs            01 value 02              fields
//
// In descending order, the bytes of a value are inverted, but not the mark before it. An encoder is used by one
// goroutine.
type Encoder struct {
	keys  []Key
	dicts []dictionary // of each key
}

// dictionary has the encoded values of the last dictionary array of a key, so that each value is encoded once.
type dictionary struct {
	of     arrow.ArrayData
	values Keys
}

// NewEncoder returns an encoder, or an error if values of a key have no order.
func NewEncoder(keys []Key) (*Encoder, error) {
	for _, k := range keys {
		if err := Check(k.Type); err != nil {
			return nil, err
		}
	}
	return &Encoder{keys: keys, dicts: make([]dictionary, len(keys))}, nil
}

// appender appends the encoding of a value.
type appender = kinds.Appender

// bind returns functions that append the encoding of a row, one for each key. They are valid until the next call.
func (e *Encoder) bind(columns []arrow.Array) []appender {
	out := make([]appender, len(columns))
	for i, c := range columns {
		out[i] = e.keys[i].appender(c, &e.dicts[i])
	}
	return out
}

// Encode encodes the keys of rows. columns has the values of each key.
func (e *Encoder) Encode(columns []arrow.Array, rows int) *Keys {
	k := &Keys{ends: make([]int, 0, rows)}
	e.appendKeys(k, columns, rows)
	return k
}

// Rows returns a function that appends the encoding of a row of columns, one for each key. It is valid until the next use of the encoder,
// as long as the columns live.
func (e *Encoder) Rows(columns ...arrow.Array) func(dst []byte, row int) []byte {
	appenders := e.bind(columns)
	if len(appenders) == 1 {
		return appenders[0]
	}
	return func(dst []byte, row int) []byte {
		for _, a := range appenders {
			dst = a(dst, row)
		}
		return dst
	}
}

// appendKeys appends the keys of all rows.
func (e *Encoder) appendKeys(k *Keys, columns []arrow.Array, rows int) {
	if len(columns) == 1 && kinds.Nulls(columns[0]) == nil {
		if numbers, size := e.keys[0].numbers(columns[0]); numbers != nil {
			k.appendNumbers(numbers, size, rows)
			return
		}
	}
	key := e.Rows(columns...)
	for row := range rows {
		k.bytes = key(k.bytes, row)
		k.ends = append(k.ends, len(k.bytes))
	}
}

// appendNumbers appends keys of a number each, which need no function for each row.
func (k *Keys) appendNumbers(numbers func(dst []uint64, row int), size, rows int) {
	var buf [512]uint64
	k.bytes, k.ends = slices.Grow(k.bytes, (1+size)*rows+8), slices.Grow(k.ends, rows)
	for row := 0; row < rows; row += len(buf) {
		part := buf[:min(len(buf), rows-row)]
		numbers(part, row)
		for _, n := range part {
			k.bytes = binary.BigEndian.AppendUint64(append(k.bytes, present), n)
			k.bytes = k.bytes[:len(k.bytes)-8+size]
			k.ends = append(k.ends, len(k.bytes))
		}
	}
}

// appender encodes the values of a column, with their marks.
func (k Key) appender(arr arrow.Array, d *dictionary) appender {
	if ext, ok := arr.(array.ExtensionArray); ok {
		return k.appender(ext.Storage(), d)
	}
	null := k.null()
	if a, ok := arr.(*array.Dictionary); ok && a.Dictionary().Len() <= a.Len() {
		return k.coded(a, d, null)
	}
	isNull, value := kinds.Nulls(arr), inner.Value(arr)
	if !k.Descending {
		return func(dst []byte, row int) []byte {
			if isNull != nil && isNull(row) {
				return append(dst, null)
			}
			return value(append(dst, present), row)
		}
	}
	return func(dst []byte, row int) []byte {
		if isNull != nil && isNull(row) {
			return append(dst, null)
		}
		begin := len(dst) + 1
		dst = value(append(dst, present), row)
		for i := begin; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
		return dst
	}
}

// coded encodes each value of a dictionary once.
func (k Key) coded(arr *array.Dictionary, d *dictionary, null byte) appender {
	values := arr.Dictionary()
	if d.of != values.Data() {
		d.of, d.values = values.Data(), Keys{}
		value := k.appender(values, &dictionary{})
		for i := range values.Len() {
			d.values.bytes = value(d.values.bytes, i)
			d.values.ends = append(d.values.ends, len(d.values.bytes))
		}
	}
	return func(dst []byte, row int) []byte {
		if arr.IsNull(row) {
			return append(dst, null)
		}
		return append(dst, d.values.Key(arr.GetValueIndex(row))...)
	}
}

// inner encodes the values inside of others, with their marks.
var inner = kinds.Codec{Null: nullLast, Present: present, Leaf: leafAppender, End: []byte{endOfList}}

// leafAppender encodes the values of an array without parts. They must not be null.
func leafAppender(arr arrow.Array) appender {
	switch a := arr.(type) {
	case *array.Boolean:
		return func(dst []byte, row int) []byte {
			if a.Value(row) {
				return append(dst, 1)
			}
			return append(dst, 0)
		}
	case *array.FixedSizeBinary:
		return func(dst []byte, row int) []byte { return append(dst, a.Value(row)...) }
	}
	if value := arrowutil.BytesOf(arr); value != nil {
		return func(dst []byte, row int) []byte { return appendBytes(dst, value(row)) }
	}
	return numberAppender(arr)
}

// numberAppender encodes numbers, and types that are stored as numbers.
func numberAppender(arr arrow.Array) appender {
	switch arr.DataType().ID() {
	case arrow.INT8:
		return signed[int8](arr)
	case arrow.INT16:
		return signed[int16](arr)
	case arrow.INT32, arrow.DATE32, arrow.TIME32, arrow.DECIMAL32, arrow.INTERVAL_MONTHS:
		return signed[int32](arr)
	case arrow.INT64, arrow.DATE64, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION, arrow.DECIMAL64:
		return signed[int64](arr)
	case arrow.UINT8:
		return unsigned[uint8](arr)
	case arrow.UINT16:
		return unsigned[uint16](arr)
	case arrow.UINT32:
		return unsigned[uint32](arr)
	case arrow.UINT64:
		return unsigned[uint64](arr)
	case arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64:
		float := arrowutil.Floats(arr)
		return func(dst []byte, row int) []byte { return binary.BigEndian.AppendUint64(dst, floatBits(float(row))) }
	case arrow.DECIMAL128:
		v := arrowutil.Values[decimal128.Num](arr)
		return func(dst []byte, row int) []byte {
			dst = binary.BigEndian.AppendUint64(dst, uint64(v[row].HighBits())^1<<63)
			return binary.BigEndian.AppendUint64(dst, v[row].LowBits())
		}
	case arrow.DECIMAL256:
		v := arrowutil.Values[decimal256.Num](arr)
		return func(dst []byte, row int) []byte {
			words := v[row].Array() // the lowest first
			dst = binary.BigEndian.AppendUint64(dst, words[3]^1<<63)
			for i := 2; i >= 0; i-- {
				dst = binary.BigEndian.AppendUint64(dst, words[i])
			}
			return dst
		}
	case arrow.INTERVAL_DAY_TIME:
		v := arrowutil.Values[arrow.DayTimeInterval](arr)
		return func(dst []byte, row int) []byte {
			return appendInterval(dst, int64(v[row].Days), int64(v[row].Milliseconds)*1e6)
		}
	case arrow.INTERVAL_MONTH_DAY_NANO:
		v := arrowutil.Values[arrow.MonthDayNanoInterval](arr)
		return func(dst []byte, row int) []byte {
			return appendInterval(dst, int64(v[row].Months)*30+int64(v[row].Days), v[row].Nanoseconds)
		}
	}
	return func(dst []byte, _ int) []byte { return dst } // null, which has no values
}

func signed[T int8 | int16 | int32 | int64](arr arrow.Array) appender {
	v := arrowutil.Values[T](arr)
	width := arr.DataType().(arrow.FixedWidthDataType).Bytes()
	return func(dst []byte, row int) []byte { return appendUint(dst, uint64(int64(v[row]))^1<<(8*width-1), width) }
}

func unsigned[T uint8 | uint16 | uint32 | uint64](arr arrow.Array) appender {
	v := arrowutil.Values[T](arr)
	width := arr.DataType().(arrow.FixedWidthDataType).Bytes()
	return func(dst []byte, row int) []byte { return appendUint(dst, uint64(v[row]), width) }
}

// appendUint appends the lowest width bytes of a number, the highest first.
func appendUint(dst []byte, v uint64, width int) []byte {
	switch width {
	case 1:
		return append(dst, byte(v))
	case 2:
		return binary.BigEndian.AppendUint16(dst, uint16(v))
	case 4:
		return binary.BigEndian.AppendUint32(dst, uint32(v))
	}
	return binary.BigEndian.AppendUint64(dst, v)
}

// floatBits are bits that compare as floats do: NaN is greatest, whatever its bits, and -0 is 0.
func floatBits(f float64) uint64 {
	switch {
	case f != f:
		return math.MaxUint64
	case f == 0:
		return 1 << 63
	}
	b := math.Float64bits(f)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// appendInterval appends days and nanoseconds as one number of 16 bytes. A day has 24 hours, a month 30 days.
func appendInterval(dst []byte, days, nanos int64) []byte {
	const day = 24 * 60 * 60 * 1_000_000_000
	high, low := bits.Mul64(uint64(max(days, -days)), day)
	if days < 0 { // the two's complement
		var carry uint64
		low, carry = bits.Add64(^low, 1, 0)
		high = ^high + carry
	}
	low, carry := bits.Add64(low, uint64(nanos), 0)
	high += carry + uint64(nanos>>63)
	dst = binary.BigEndian.AppendUint64(dst, high^1<<63)
	return binary.BigEndian.AppendUint64(dst, low)
}

// appendBytes appends a byte string.
func appendBytes(dst, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, 0)
		if i < 0 {
			return append(append(dst, s...), endOfString, endOfString)
		}
		dst = append(append(dst, s[:i+1]...), zeroByte)
		s = s[i+1:]
	}
}
