package arrowutil

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// recordedType is the key of the metadata of a field that is read as another type than it is recorded with.
const recordedType = "amudai.recorded_type"

// lengths is the recorded type of values that are read as their lengths.
const lengths = "any with lengths"

// Decimal64 returns a field of decimal128 of at most 18 digits as one of decimal64, and others as they are. Its metadata tells the
// recorded type.
func Decimal64(f arrow.Field) arrow.Field {
	d, ok := f.Type.(*arrow.Decimal128Type)
	if !ok || d.Precision > 18 {
		return f
	}
	return recordedAs(f, &arrow.Decimal64Type{Precision: d.Precision, Scale: d.Scale}, "decimal128")
}

// recordedAs returns a field with the type that it is read as. Its metadata tells the recorded one.
func recordedAs(f arrow.Field, dt arrow.DataType, recorded string) arrow.Field {
	f.Type = dt
	f.Metadata = arrow.NewMetadata(append(slices.Clone(f.Metadata.Keys()), recordedType), append(slices.Clone(f.Metadata.Values()), recorded))
	return f
}

// Retyped returns a field with a type that is wanted, whatever the recorded one.
func Retyped(f arrow.Field, dt arrow.DataType) arrow.Field {
	f.Type = dt
	if i := f.Metadata.FindKey(recordedType); i >= 0 {
		f.Metadata = arrow.NewMetadata(slices.Delete(slices.Clone(f.Metadata.Keys()), i, i+1), slices.Delete(slices.Clone(f.Metadata.Values()), i, i+1))
	}
	return f
}

// RecordedType is the type of a field before [Decimal64].
func RecordedType(f arrow.Field) arrow.DataType {
	if d, ok := f.Type.(*arrow.Decimal64Type); ok && f.Metadata.FindKey(recordedType) >= 0 {
		return &arrow.Decimal128Type{Precision: d.Precision, Scale: d.Scale}
	}
	return f.Type
}

// Widen makes an array of decimal128 of one of decimal64. Other arrays and types are left as they are. The result is the caller's, arr
// remains it, too.
func Widen(mem memory.Allocator, arr arrow.Array, dt arrow.DataType) arrow.Array {
	if arr.DataType().ID() != arrow.DECIMAL64 || dt.ID() != arrow.DECIMAL128 {
		arr.Retain()
		return arr
	}
	src := Values[int64](arr)
	values := NewBuffer(mem, 16*len(src))
	for i, v := range src {
		As[decimal128.Num](values.Bytes())[i] = decimal128.New(v>>63, uint64(v))
	}
	return Make(dt, len(src), []*memory.Buffer{CopyValidity(mem, arr), values}, nil, NullN(arr))
}

// Narrow makes an array of decimal64 of one of decimal128, whatever its digits. It is nil if some value, that of a null too, needs more bits.
func Narrow(mem memory.Allocator, arr arrow.Array) arrow.Array {
	src, t := Values[decimal128.Num](arr), arr.DataType().(*arrow.Decimal128Type)
	values := NewBuffer(mem, 8*len(src))
	if !Lower(As[int64](values.Bytes()), src) {
		values.Release()
		return nil
	}
	return Make(&arrow.Decimal64Type{Precision: t.Precision, Scale: t.Scale}, len(src), []*memory.Buffer{CopyValidity(mem, arr), values}, nil, NullN(arr))
}

// Lower writes the lower halves of 128-bit numbers into dst, which has room for them, and reports whether these are the numbers.
func Lower(dst []int64, src []decimal128.Num) (ok bool) {
	upper := uint64(0)
	words := As[uint64](Bytes(src))
	dst = dst[:len(words)/2]
	for i := range dst {
		lo, hi := words[2*i], words[2*i+1]
		dst[i] = int64(lo)
		upper |= hi ^ uint64(int64(lo)>>63)
	}
	return upper == 0
}
