package arrowutil

import (
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// BytesOf returns a function that gives the byte string or text at an index of an array, nil for arrays of other types. The bytes belong
// to the array. A null view, which may refer to anything, has none.
func BytesOf(arr arrow.Array) func(i int) []byte {
	switch a := arr.(type) {
	case *array.String, *array.Binary:
		return cutAt(arr, Offsets[int32](arr))
	case *array.LargeString, *array.LargeBinary:
		return cutAt(arr, Offsets[int64](arr))
	case *array.FixedSizeBinary:
		return a.Value
	case *array.StringView:
		return func(i int) []byte {
			if a.IsNull(i) {
				return nil
			}
			s := a.Value(i)
			return unsafe.Slice(unsafe.StringData(s), len(s))
		}
	case *array.BinaryView:
		return func(i int) []byte {
			if a.IsNull(i) {
				return nil
			}
			return a.Value(i)
		}
	}
	return nil
}

func cutAt[O int32 | int64](arr arrow.Array, offsets []O) func(i int) []byte {
	var data []byte
	if b := arr.Data().Buffers()[2]; b != nil {
		data = b.Bytes()
	}
	return func(i int) []byte { return data[offsets[i]:offsets[i+1]] }
}

// Integers returns a function for the numbers of integers, dates, times, durations and decimals of up to 64 bits, nil for arrays of
// other types. Those of uint64 from 1<<63 on become negative.
func Integers(arr arrow.Array) func(i int) int64 {
	switch arr.DataType().ID() {
	case arrow.INT8:
		return integersOf[int8](arr)
	case arrow.INT16:
		return integersOf[int16](arr)
	case arrow.INT32, arrow.DATE32, arrow.TIME32, arrow.DECIMAL32:
		return integersOf[int32](arr)
	case arrow.INT64, arrow.DATE64, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION, arrow.DECIMAL64:
		return integersOf[int64](arr)
	case arrow.UINT8:
		return integersOf[uint8](arr)
	case arrow.UINT16:
		return integersOf[uint16](arr)
	case arrow.UINT32:
		return integersOf[uint32](arr)
	case arrow.UINT64:
		return integersOf[uint64](arr)
	}
	return nil
}

func integersOf[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](arr arrow.Array) func(i int) int64 {
	values := Values[T](arr)
	return func(i int) int64 { return int64(values[i]) }
}

// Int64s returns the numbers of [Integers], and those of intervals of months, of all rows: in the memory of the array, or in buf, which it grows.
// ok is false for arrays of other types.
func Int64s(arr arrow.Array, buf *[]int64) (v []int64, ok bool) {
	switch arr.DataType().ID() {
	case arrow.INT8:
		*buf = widened(*buf, Values[int8](arr))
	case arrow.INT16:
		*buf = widened(*buf, Values[int16](arr))
	case arrow.INT32, arrow.DATE32, arrow.TIME32, arrow.DECIMAL32, arrow.INTERVAL_MONTHS:
		*buf = widened(*buf, Values[int32](arr))
	case arrow.INT64, arrow.UINT64, arrow.DATE64, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION, arrow.DECIMAL64:
		return Values[int64](arr), true
	case arrow.UINT8:
		*buf = widened(*buf, Values[uint8](arr))
	case arrow.UINT16:
		*buf = widened(*buf, Values[uint16](arr))
	case arrow.UINT32:
		*buf = widened(*buf, Values[uint32](arr))
	default:
		return nil, false
	}
	return *buf, true
}

// Float64s returns floats of any width as [Int64s] does integers.
func Float64s(arr arrow.Array, buf *[]float64) (v []float64, ok bool) {
	switch a := arr.(type) {
	case *array.Float64:
		return a.Values(), true
	case *array.Float32:
		*buf = widened(*buf, a.Values())
	case *array.Float16:
		*buf = (*buf)[:0]
		for _, v := range a.Values() {
			*buf = append(*buf, float64(v.Float32()))
		}
	default:
		return nil, false
	}
	return *buf, true
}

func widened[T int64 | float64, S int8 | int16 | int32 | uint8 | uint16 | uint32 | float32](buf []T, values []S) []T {
	buf = slices.Grow(buf[:0], len(values))[:len(values)]
	for i, v := range values {
		buf[i] = T(v)
	}
	return buf
}

// Floats returns a function for floats of any width, nil for arrays of other types.
func Floats(arr arrow.Array) func(i int) float64 {
	switch a := arr.(type) {
	case *array.Float16:
		return func(i int) float64 { return float64(a.Value(i).Float32()) }
	case *array.Float32:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Float64:
		return a.Value
	}
	return nil
}

// inView is the number of bytes of a value that a view holds instead of its place.
const inView = 12

// viewMasks clear the bytes behind a value of each length: of the first four, and of the other eight.
var viewMasks = func() (m [inView + 1]struct {
	first uint32
	rest  uint64
}) {
	for n := range m {
		m[n].first = uint32(uint64(1)<<(8*min(n, 4)) - 1)
		m[n].rest = uint64(1)<<(8*max(n-4, 0)) - 1
	}
	return m
}()

// ToViews makes a string or binary view array from one with 64-bit offsets. They share data.
func ToViews(mem memory.Allocator, arr arrow.Array, dt arrow.DataType) arrow.Array {
	n := arr.Len()
	views := NewBuffer(mem, n*arrow.ViewHeaderSizeBytes)
	data := arr.Data().Buffers()[2]
	putViews(views.Bytes(), data.Bytes(), Offsets[int64](arr)[:n+1])
	data.Retain()
	return Make(dt, n, []*memory.Buffer{CopyValidity(mem, arr), views, data}, nil, NullN(arr))
}

// putViews writes the view of each value, 16 bytes:
//
//	length, 4 | up to 12 bytes: the value, then zeros
//	length, 4 | more: its first 4 bytes | number of the data buffer, 4: 0 | offset in it, 4
func putViews(views, data []byte, offsets []int64) {
	for i, from := range offsets[:len(offsets)-1] {
		v := (*[arrow.ViewHeaderSizeBytes]byte)(views[i*arrow.ViewHeaderSizeBytes:])
		size := offsets[i+1] - from
		binary.NativeEndian.PutUint32(v[:], uint32(size))
		switch {
		case size > inView:
			binary.NativeEndian.PutUint32(v[4:], binary.NativeEndian.Uint32(data[from:]))
			binary.NativeEndian.PutUint32(v[8:], 0)
			binary.NativeEndian.PutUint32(v[12:], uint32(from))
		case int64(len(data))-from >= inView:
			// Twelve bytes are copied at once, whatever the length.
			src, mask := data[from:from+inView], viewMasks[size]
			binary.LittleEndian.PutUint32(v[4:], binary.LittleEndian.Uint32(src)&mask.first)
			binary.LittleEndian.PutUint64(v[8:], binary.LittleEndian.Uint64(src[4:])&mask.rest)
		default:
			clear(v[4:])
			copy(v[4:], data[from:from+size])
		}
	}
}
