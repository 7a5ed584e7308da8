package arrowutil

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Wrap makes an array of type dt from one of the plain type inside: without dictionaries, runs and
// extension types around it, and with [WithoutView] of the layout. Children have their types already.
// The caller releases the result, even if it is arr itself. An error that wraps [fault.ErrBatchTooLarge] means that
// fewer rows may succeed.
func Wrap(mem memory.Allocator, arr arrow.Array, dt arrow.DataType) (arrow.Array, error) {
	inner := kinds.Inner(dt)
	if inner == nil {
		return laidOut(mem, arr, dt)
	}
	values, err := Wrap(mem, arr, inner)
	if err != nil {
		return nil, err
	}
	defer values.Release()
	out, err := WrapIn(mem, values, dt)
	if errors.Is(err, ErrTooManyValues) {
		err = errors.Join(fault.ErrBatchTooLarge, err)
	}
	return out, err
}

// WrapIn makes a dictionary, runs or an array of an extension type from its values, of the type right inside.
func WrapIn(mem memory.Allocator, values arrow.Array, dt arrow.DataType) (arrow.Array, error) {
	if t, ok := dt.(*arrow.DictionaryType); ok {
		return EncodeDictionary(mem, values, t)
	} else if t, ok := dt.(*arrow.RunEndEncodedType); ok {
		return EncodeRuns(mem, values, t)
	}
	return array.NewExtensionArrayWithStorage(dt.(arrow.ExtensionType), values), nil
}

// laidOut gives plain values the layout of a view, if it is asked for.
func laidOut(mem memory.Allocator, arr arrow.Array, dt arrow.DataType) (arrow.Array, error) {
	switch kinds.LayoutOf(dt).Form {
	case kinds.Views:
		return ToViews(mem, arr, dt), nil
	case kinds.RowViews:
		out, err := Relist(mem, arr, dt.(arrow.ListLikeType), nil)
		if err != nil {
			err = errors.Join(fault.ErrBatchTooLarge, err)
		}
		return out, err
	}
	arr.Retain()
	return arr, nil
}

// ErrTooManyValues means that an array has more distinct values than a dictionary's index type
// can number.
var ErrTooManyValues = errors.New("more distinct values than the dictionary's index type can number")

// EncodeDictionary makes a dictionary array of type dt from its values, numbered in the order
// in which they first appear. Nulls become null indices.
func EncodeDictionary(mem memory.Allocator, arr arrow.Array, dt *arrow.DictionaryType) (arrow.Array, error) {
	width := dt.IndexType.(arrow.FixedWidthDataType).Bytes()
	limit := indexLimit(dt.IndexType)
	appendKey := keys.Marked(arr)
	var key []byte
	ids := make(map[string]int64)
	var firsts []int64
	n := arr.Len()
	indices := NewZeroBuffer(mem, n*width)
	for i := range n {
		if arr.IsNull(i) {
			continue
		}
		key = appendKey(key[:0], i)
		id, ok := ids[string(key)]
		if !ok {
			id = int64(len(firsts))
			if id > limit {
				indices.Release()
				return nil, ErrTooManyValues
			}
			ids[string(key)] = id
			firsts = append(firsts, int64(i))
		}
		PutInt(indices.Bytes()[i*width:], width, id)
	}
	values, err := Take(mem, arr, firsts)
	if err != nil {
		indices.Release()
		return nil, err
	}
	defer values.Release()
	return MakeCodes(dt, n, CopyValidity(mem, arr), indices, NullN(arr), values.Data()), nil
}

func indexLimit(dt arrow.DataType) int64 {
	switch dt.ID() {
	case arrow.INT8:
		return math.MaxInt8
	case arrow.UINT8:
		return math.MaxUint8
	case arrow.INT16:
		return math.MaxInt16
	case arrow.UINT16:
		return math.MaxUint16
	}
	return math.MaxInt32
}

// PutInt writes an integer of some bytes.
func PutInt(dst []byte, width int, v int64) {
	copy(dst[:width], binary.LittleEndian.AppendUint64(make([]byte, 0, 8), uint64(v)))
}

// EncodeRuns makes a run-end encoded array of type dt from its values. A run is a sequence of
// equal values, or of nulls.
func EncodeRuns(mem memory.Allocator, arr arrow.Array, dt *arrow.RunEndEncodedType) (arrow.Array, error) {
	if int64(arr.Len()) > indexLimit(dt.RunEnds()) {
		return nil, fmt.Errorf("%w: run ends of type %s for %d rows", ErrTooManyValues, dt.RunEnds(), arr.Len())
	}
	appendKey := keys.Marked(arr)
	var key, last []byte
	var starts []int64
	for i := range arr.Len() {
		if key = appendKey(key[:0], i); i == 0 || !bytes.Equal(key, last) {
			starts = append(starts, int64(i))
			key, last = last, key
		}
	}
	values, err := Take(mem, arr, starts)
	if err != nil {
		return nil, err
	}
	return makeRuns(mem, dt, arr.Len(), append(starts[min(1, len(starts)):], int64(arr.Len()))[:len(starts)], values), nil
}

// keys encodes values as bytes that are equal for equal values only.
var keys = Bits(func(dst []byte, n int64) []byte { return binary.AppendUvarint(dst, uint64(n)) })

// Bits encodes values bit by bit, after 1, or 0 for null. Byte strings and lists have their lengths before them.
func Bits(length func(dst []byte, n int64) []byte) *kinds.Codec {
	leaf := func(arr arrow.Array) kinds.Appender {
		if b, ok := arr.(*array.Boolean); ok {
			return func(dst []byte, i int) []byte {
				if b.Value(i) {
					return append(dst, 1)
				}
				return append(dst, 0)
			}
		}
		if bytes := BytesOf(arr); bytes != nil {
			return func(dst []byte, i int) []byte {
				v := bytes(i)
				return append(length(dst, int64(len(v))), v...)
			}
		}
		d := arr.Data()
		dt, fixed := d.DataType().(arrow.FixedWidthDataType)
		if !fixed || d.Len() == 0 {
			return func(dst []byte, _ int) []byte { return dst } // all are null
		}
		w := dt.Bytes()
		values := d.Buffers()[1].Bytes()[d.Offset()*w:]
		return func(dst []byte, i int) []byte { return append(dst, values[i*w:(i+1)*w]...) }
	}
	return &kinds.Codec{Null: 0, Present: 1, Leaf: leaf, Length: length, Entry: []byte{1}}
}

// Difference is the first row in which two arrays of equal length and type hold different
// values, or -1. Values are compared bit by bit. Layouts are not compared: dictionaries, runs
// and views may differ.
func Difference(a, b arrow.Array) int {
	keyA, keyB := keys.Marked(a), keys.Marked(b)
	var bufA, bufB []byte
	for i := range a.Len() {
		if bufA, bufB = keyA(bufA[:0], i), keyB(bufB[:0], i); !bytes.Equal(bufA, bufB) {
			return i
		}
	}
	return -1
}

// Repeat makes an array that repeats the only value of one n times.
func Repeat(mem memory.Allocator, one arrow.Array, n int) (arrow.Array, error) {
	if one.IsNull(0) {
		return Nulls(mem, one.DataType(), n), nil
	}
	d := one.Data()
	if l := kinds.LayoutOf(d.DataType()); l.Form == kinds.Fixed && l.Width%8 == 0 && kinds.Of(d.DataType()) == kinds.Leaf {
		width := l.Width / 8
		b := NewBuffer(mem, n*width)
		if b.Len() > 0 {
			done := copy(b.Bytes(), d.Buffers()[1].Bytes()[d.Offset()*width:][:width])
			for done < b.Len() {
				done += copy(b.Bytes()[done:], b.Bytes()[:done])
			}
		}
		return Make(d.DataType(), n, []*memory.Buffer{nil, b}, nil, 0), nil
	}
	return Take(mem, one, make([]int64, n))
}
