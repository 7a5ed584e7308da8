package arrowutil

import (
	"fmt"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/ascii"
)

// Lengths are the lengths of values, as 64-bit integers, null where the values are: characters of texts, bytes of byte strings, elements of
// lists. The caller releases them.
func Lengths(mem memory.Allocator, arr arrow.Array) (arrow.Array, error) {
	if d, ok := Storage(arr).(*array.Dictionary); ok && d.Dictionary().Len() <= d.Len() {
		entries, err := Lengths(mem, d.Dictionary())
		if err != nil {
			return nil, err
		}
		defer entries.Release()
		return TakeCoded(mem, d, entries)
	}
	arr, err := Plain(mem, arr)
	if err != nil {
		return nil, err
	}
	defer arr.Release()
	one, err := lengthOf(arr)
	if err != nil {
		return nil, err
	}
	values := NewZeroBuffer(mem, 8*arr.Len())
	for i, lengths := 0, As[int64](values.Bytes()); i < len(lengths); i++ {
		if arr.IsValid(i) {
			lengths[i] = one(i)
		}
	}
	return Make(arrow.PrimitiveTypes.Int64, arr.Len(), []*memory.Buffer{CopyValidity(mem, arr), values}, nil, NullN(arr)), nil
}

// lengthOf is a function for the length of a value of a plain array.
func lengthOf(arr arrow.Array) (func(i int) int64, error) {
	if l, ok := arr.(array.ListLike); ok {
		return func(i int) int64 { lo, hi := l.ValueOffsets(i); return hi - lo }, nil
	}
	at := BytesOf(arr)
	switch {
	case at == nil:
		return nil, fmt.Errorf("values of type %s have no length", arr.DataType())
	case kinds.IsText(arr.DataType()):
		if a, ok := arr.(*array.String); !ok || !ascii.Only(a.ValueBytes()) {
			return func(i int) int64 { return int64(utf8.RuneCount(at(i))) }, nil
		}
	}
	return func(i int) int64 { return int64(len(at(i))) }, nil
}

// LengthsOf returns a field of values that have lengths as one of these lengths. Its metadata tells so. ok is false for other fields.
func LengthsOf(f arrow.Field) (_ arrow.Field, ok bool) {
	if dt := kinds.Unwrapped(f.Type); kinds.Of(dt) != kinds.List && !kinds.IsText(dt) && !kinds.IsBinary(dt) {
		return f, false
	}
	return recordedAs(f, arrow.PrimitiveTypes.Int64, lengths), true
}

// AreLengths reports whether [LengthsOf] made a field.
func AreLengths(f arrow.Field) bool {
	dt, ok := f.Metadata.GetValue(recordedType)
	return ok && dt == lengths && f.Type.ID() == arrow.INT64
}
