package diff

import (
	"bytes"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// equaler reports whether value i of one array is that in row k of another one.
type equaler func(i, k int) bool

// newEqualer compares the values of two arrays of one type: NaN is equal to NaN, and floats are equal if they differ by no
// more than a tolerance. Null is equal to null alone.
func newEqualer(a, b arrow.Array, tolerance float64) equaler {
	equal, aNull, bNull := valueEqualer(a, b, tolerance), kinds.Nulls(a), kinds.Nulls(b)
	if aNull == nil && bNull == nil {
		return equal
	}
	return func(i, k int) bool {
		x, y := aNull != nil && aNull(i), bNull != nil && bNull(k)
		return x && y || !x && !y && equal(i, k)
	}
}

// valueEqualer compares values that are not null.
func valueEqualer(a, b arrow.Array, tolerance float64) equaler {
	x, y := kinds.Open(a), kinds.Open(b)
	parts := make([]equaler, len(x.Parts))
	for i := range parts {
		parts[i] = newEqualer(x.Parts[i], y.Parts[i], tolerance)
	}
	switch x.Shape {
	case kinds.Wrap:
		if e, ok := a.(array.ExtensionArray); ok && e.ExtensionType().ExtensionName() == extension.NameBool8 { // any number but zero is true
			if n, ok := x.Parts[0].(*array.Int8); ok {
				m := y.Parts[0].(*array.Int8)
				return func(i, k int) bool { return (n.Value(i) != 0) == (m.Value(k) != 0) }
			}
		}
		return func(i, k int) bool { return parts[0](x.Row(i), y.Row(k)) }
	case kinds.Record:
		return func(i, k int) bool { return allEqual(parts, i, k) }
	case kinds.List:
		return func(i, k int) bool { return rangesEqual(x, i, y, k, parts) }
	case kinds.Choice:
		return func(i, k int) bool {
			part, at := x.Choice(i)
			other, place := y.Choice(k)
			return part == other && parts[part](at, place)
		}
	}
	switch x := a.(type) {
	case *array.Null:
		return func(int, int) bool { return true }
	case *array.Boolean:
		y := b.(*array.Boolean)
		return func(i, k int) bool { return x.Value(i) == y.Value(k) }
	case array.StringLike:
		y := b.(array.StringLike)
		return func(i, k int) bool { return x.Value(i) == y.Value(k) }
	case interface{ Value(int) []byte }:
		y := b.(interface{ Value(int) []byte })
		return func(i, k int) bool { return bytes.Equal(x.Value(i), y.Value(k)) }
	}
	return numberEqualer(a, b, tolerance)
}

func allEqual(parts []equaler, i, k int) bool {
	for _, equal := range parts {
		if !equal(i, k) {
			return false
		}
	}
	return true
}

// rangesEqual compares the elements of two lists.
func rangesEqual(a kinds.View, i int, b kinds.View, k int, parts []equaler) bool {
	begin, end := a.Range(i)
	other, otherEnd := b.Range(k)
	if end-begin != otherEnd-other {
		return false
	}
	for n := range int(end - begin) {
		if !allEqual(parts, int(begin)+n, int(other)+n) {
			return false
		}
	}
	return true
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
