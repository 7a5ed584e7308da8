package diff

import (
	"bytes"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/text/values"
)

// equaler reports whether value i of one array is that in row k of another one.
type equaler func(i, k int) bool

// newEqualer compares the values of two arrays of one type: NaN is equal to NaN, and floats are equal if they differ by no
// more than a tolerance. Null is equal to null alone.
func newEqualer(a, b arrow.Array, tolerance float64) equaler {
	equal := valueEqualer(a, b, tolerance)
	if arrowutil.NullN(a) == 0 && arrowutil.NullN(b) == 0 && !mayHideNulls(a.DataType()) {
		return equal
	}
	return func(i, k int) bool {
		x, y := values.IsNull(a, i), values.IsNull(b, k)
		return x && y || !x && !y && equal(i, k)
	}
}

// mayHideNulls reports whether arrays of a type have nulls that their validity does not tell.
func mayHideNulls(t arrow.DataType) bool {
	switch t := t.(type) {
	case arrow.ExtensionType:
		return mayHideNulls(t.StorageType())
	case *arrow.NullType, *arrow.DictionaryType, *arrow.RunEndEncodedType:
		return true
	}
	return false
}

// valueEqualer compares values that are not null.
func valueEqualer(a, b arrow.Array, tolerance float64) equaler {
	switch x := a.(type) {
	case array.ExtensionArray:
		if n, ok := x.Storage().(*array.Int8); ok && x.ExtensionType().ExtensionName() == extension.NameBool8 { // any number but zero is true
			m := b.(array.ExtensionArray).Storage().(*array.Int8)
			return func(i, k int) bool { return (n.Value(i) != 0) == (m.Value(k) != 0) }
		}
		return valueEqualer(x.Storage(), b.(array.ExtensionArray).Storage(), tolerance)
	case *array.Null:
		return func(int, int) bool { return true }
	case *array.Dictionary:
		y := b.(*array.Dictionary)
		equal := newEqualer(x.Dictionary(), y.Dictionary(), tolerance)
		return func(i, k int) bool { return equal(x.GetValueIndex(i), y.GetValueIndex(k)) }
	case *array.RunEndEncoded:
		y := b.(*array.RunEndEncoded)
		equal := newEqualer(x.Values(), y.Values(), tolerance)
		return func(i, k int) bool { return equal(x.GetPhysicalIndex(i), y.GetPhysicalIndex(k)) }
	case *array.Boolean:
		y := b.(*array.Boolean)
		return func(i, k int) bool { return x.Value(i) == y.Value(k) }
	case array.StringLike:
		y := b.(array.StringLike)
		return func(i, k int) bool { return x.Value(i) == y.Value(k) }
	case interface{ Value(int) []byte }:
		y := b.(interface{ Value(int) []byte })
		return func(i, k int) bool { return bytes.Equal(x.Value(i), y.Value(k)) }
	case *array.Struct:
		return structEqualer(x, b.(*array.Struct), tolerance)
	case *array.Map:
		return mapEqualer(x, b.(*array.Map), tolerance)
	case array.ListLike:
		y := b.(array.ListLike)
		equal := newEqualer(x.ListValues(), y.ListValues(), tolerance)
		return func(i, k int) bool { return rangesEqual(x, i, y, k, equal) }
	}
	return numberEqualer(a, b, tolerance)
}

// rangesEqual compares the elements of two lists.
func rangesEqual(a array.ListLike, i int, b array.ListLike, k int, equal equaler) bool {
	begin, end := a.ValueOffsets(i)
	other, otherEnd := b.ValueOffsets(k)
	if end-begin != otherEnd-other {
		return false
	}
	for n := range int(end - begin) {
		if !equal(int(begin)+n, int(other)+n) {
			return false
		}
	}
	return true
}

func structEqualer(a, b *array.Struct, tolerance float64) equaler {
	fields := make([]equaler, a.NumField())
	for f := range fields {
		fields[f] = newEqualer(a.Field(f), b.Field(f), tolerance)
	}
	return func(i, k int) bool {
		for _, equal := range fields {
			if !equal(i, k) {
				return false
			}
		}
		return true
	}
}

func mapEqualer(a, b *array.Map, tolerance float64) equaler {
	aKeys, aItems := arrowutil.MapEntries(a)
	bKeys, bItems := arrowutil.MapEntries(b)
	key, item := newEqualer(aKeys, bKeys, tolerance), newEqualer(aItems, bItems, tolerance)
	return func(i, k int) bool {
		return rangesEqual(a, i, b, k, func(i, k int) bool { return key(i, k) && item(i, k) })
	}
}

// numberEqualer compares numbers, and types that are stored as numbers.
func numberEqualer(a, b arrow.Array, tolerance float64) equaler {
	switch a.DataType().ID() {
	case arrow.FLOAT16:
		return floatEqualer(a, b, tolerance, func(v float16.Num) float64 { return float64(v.Float32()) })
	case arrow.FLOAT32:
		return floatEqualer(a, b, tolerance, func(v float32) float64 { return float64(v) })
	case arrow.FLOAT64:
		return floatEqualer(a, b, tolerance, func(v float64) float64 { return v })
	}
	width := 0
	if t, ok := a.DataType().(arrow.FixedWidthDataType); ok {
		width = t.Bytes()
	}
	switch width {
	case 4:
		return sameEqualer[uint32](a, b)
	case 8:
		return sameEqualer[uint64](a, b)
	}
	x, y := fixedBytes(a, width), fixedBytes(b, width)
	return func(i, k int) bool { return bytes.Equal(x[i*width:(i+1)*width], y[k*width:(k+1)*width]) }
}

// fixedBytes are the values of an array, each of width bytes.
func fixedBytes(a arrow.Array, width int) []byte {
	d := a.Data()
	if len(d.Buffers()) < 2 || d.Buffers()[1] == nil {
		return nil
	}
	return d.Buffers()[1].Bytes()[d.Offset()*width:]
}

func sameEqualer[T comparable](a, b arrow.Array) equaler {
	x, y := arrowutil.Values[T](a), arrowutil.Values[T](b)
	return func(i, k int) bool { return x[i] == y[k] }
}

func floatEqualer[T any](a, b arrow.Array, tolerance float64, value func(T) float64) equaler {
	x, y := arrowutil.Values[T](a), arrowutil.Values[T](b)
	return func(i, k int) bool {
		v, w := value(x[i]), value(y[k])
		return v == w || v != v && w != w || math.Abs(v-w) <= tolerance
	}
}
