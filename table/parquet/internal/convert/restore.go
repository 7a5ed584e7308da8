package convert

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
)

// Restorable reports whether arrays of type from, as pqarrow reads them, can be converted to type to of the stored
// Arrow schema with the same values.
func Restorable(from, to arrow.DataType) bool {
	if arrow.TypeEqual(from, to) {
		return true
	}
	if e, ok := from.(arrow.ExtensionType); ok {
		return Restorable(e.StorageType(), to)
	}
	if inner := kinds.Inner(to); inner != nil {
		return Restorable(from, inner)
	}
	if kinds.Of(to) != kinds.Leaf {
		return restorableParts(from, to)
	}
	switch t := to.(type) {
	case *arrow.TimestampType:
		f, ok := from.(*arrow.TimestampType)
		return ok && (f.TimeZone == "") == (t.TimeZone == "") && (f.Unit == t.Unit || t.Unit == arrow.Second && f.Unit == arrow.Millisecond)
	case arrow.DecimalType:
		f, ok := from.(arrow.DecimalType)
		return ok && f.GetPrecision() == t.GetPrecision() && f.GetScale() == t.GetScale() && f.BitWidth() == 128
	}
	return restorableScalar(from.ID(), to)
}

// restorableParts is [Restorable] of types with parts. Lists become lists of any kind.
func restorableParts(from, to arrow.DataType) bool {
	f, t := kinds.Fields(from), kinds.Fields(to)
	if to.ID() == arrow.STRUCT && len(t) == 0 {
		return arrow.TypeEqual(from, filledStruct)
	}
	if kinds.Of(from) != kinds.Of(to) || len(f) != len(t) {
		return false
	}
	for i := range f {
		if to.ID() == arrow.STRUCT && f[i].Name != t[i].Name || !Restorable(f[i].Type, t[i].Type) {
			return false
		}
	}
	return true
}

func restorableScalar(from arrow.Type, to arrow.DataType) bool {
	switch to.ID() {
	case arrow.LARGE_STRING, arrow.STRING_VIEW, arrow.STRING:
		return from == arrow.STRING || from == arrow.BINARY // a JSON column is read as bytes
	case arrow.LARGE_BINARY, arrow.BINARY_VIEW:
		return from == arrow.BINARY
	case arrow.DURATION:
		return from == arrow.INT64
	case arrow.DATE64:
		return from == arrow.DATE32
	case arrow.TIME32:
		return from == arrow.TIME32 // seconds are read as milliseconds
	case arrow.INTERVAL_MONTHS, arrow.INTERVAL_DAY_TIME, arrow.INTERVAL_MONTH_DAY_NANO:
		return from == arrow.STRING // their ISO 8601 text
	}
	return false
}

// Restore converts an array to type to, which is restorable from its type. The caller releases it.
func Restore(mem memory.Allocator, a arrow.Array, to arrow.DataType) (arrow.Array, error) {
	if arrow.TypeEqual(a.DataType(), to) {
		return Relabel(a, to), nil
	}
	if e, ok := a.(array.ExtensionArray); ok {
		return Restore(mem, e.Storage(), to)
	}
	if inner := kinds.Inner(to); inner != nil {
		values, err := Restore(mem, a, inner)
		if err != nil {
			return nil, err
		}
		defer values.Release()
		return arrowutil.WrapIn(mem, values, to)
	}
	fields := kinds.Fields(to)
	switch {
	case kinds.Of(to) == kinds.List && to.ID() != arrow.MAP:
		return arrowutil.Relist(mem, a, to.(arrow.ListLikeType), func(items arrow.Array, _ func(int) int) (arrow.Array, error) {
			return Restore(mem, items, fields[0].Type)
		})
	case kinds.Of(to) != kinds.Leaf && len(fields) == 0:
		return arrowutil.Make(to, a.Len(), []*memory.Buffer{arrowutil.CopyValidity(mem, a)}, nil, a.NullN()), nil
	case kinds.Of(to) != kinds.Leaf:
		return arrowutil.Rebuild(mem, a, to, func(i int, part arrow.Array) (arrow.Array, error) {
			child, err := Restore(mem, part, fields[i].Type)
			if err != nil {
				err = fmt.Errorf("%s: %w", fields[i].Name, err)
			}
			return child, err
		})
	case arrow.IsDecimal(to.ID()):
		return decimals(mem, a, to.(arrow.DecimalType))
	}
	return restoreScalar(mem, a, to)
}

// Relabel returns an array as another type of the same layout.
func Relabel(a arrow.Array, t arrow.DataType) arrow.Array {
	out := kinds.Relabel(a.Data(), t)
	defer out.Release()
	return array.MakeFromData(out)
}

func restoreScalar(mem memory.Allocator, a arrow.Array, to arrow.DataType) (arrow.Array, error) {
	switch t := to.(type) {
	case *arrow.DurationType, *arrow.StringType:
		return Relabel(a, to), nil
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return widened(mem, a, to), nil
	case *arrow.StringViewType, *arrow.BinaryViewType:
		wide := widened(mem, a, arrowutil.WithoutView(to))
		defer wide.Release()
		return arrowutil.ToViews(mem, wide, to), nil
	case *arrow.Date64Type:
		days := a.(*array.Date32)
		return numbers(mem, a, to, func(i int) int64 { return int64(days.Value(i)) * dayMillis }), nil
	case *arrow.TimestampType:
		if a.DataType().(*arrow.TimestampType).Unit == t.Unit {
			return Relabel(a, to), nil
		}
		times := a.(*array.Timestamp)
		return divided(mem, a, to, func(i int) int64 { return int64(times.Value(i)) })
	case *arrow.Time32Type:
		times := a.(*array.Time32)
		return divided(mem, a, to, func(i int) int64 { return int64(times.Value(i)) })
	}
	return parsed(mem, a.(*array.String), to)
}

const dayMillis = 86_400_000

// widened converts strings or bytes to 64-bit offsets.
func widened(mem memory.Allocator, a arrow.Array, to arrow.DataType) arrow.Array {
	d := a.Data()
	offsets := arrowutil.NewBuffer(mem, 8*(d.Len()+1))
	wide := arrowutil.As[int64](offsets.Bytes())
	for i, o := range arrowutil.Offsets[int32](a) {
		wide[i] = int64(o)
	}
	values := d.Buffers()[2]
	if values == nil {
		values = memory.NewBufferBytes(nil)
	} else {
		values.Retain()
	}
	return arrowutil.Make(to, d.Len(), []*memory.Buffer{arrowutil.CopyValidity(mem, a), offsets, values}, nil, a.NullN())
}

// numbers returns an array of a fixed-width integer type with the validity of a.
func numbers(mem memory.Allocator, a arrow.Array, to arrow.DataType, value func(int) int64) arrow.Array {
	n := a.Len()
	if to.(arrow.FixedWidthDataType).Bytes() == 4 {
		b := arrowutil.NewZeroBuffer(mem, 4*n)
		for i, s := 0, arrowutil.As[int32](b.Bytes()); i < n; i++ {
			s[i] = int32(value(i))
		}
		return arrowutil.Make(to, n, []*memory.Buffer{arrowutil.CopyValidity(mem, a), b}, nil, a.NullN())
	}
	b := arrowutil.NewZeroBuffer(mem, 8*n)
	for i, s := 0, arrowutil.As[int64](b.Bytes()); i < n; i++ {
		s[i] = value(i)
	}
	return arrowutil.Make(to, n, []*memory.Buffer{arrowutil.CopyValidity(mem, a), b}, nil, a.NullN())
}

// divided converts milliseconds back to seconds.
func divided(mem memory.Allocator, a arrow.Array, to arrow.DataType, value func(int) int64) (arrow.Array, error) {
	for i := range a.Len() {
		if a.IsValid(i) && value(i)%1000 != 0 {
			return nil, fmt.Errorf("%d ms is not a whole second, contrary to the stored Arrow schema", value(i))
		}
	}
	return numbers(mem, a, to, func(i int) int64 { return value(i) / 1000 }), nil
}

// parsed reads values from their text.
func parsed(mem memory.Allocator, a *array.String, to arrow.DataType) (arrow.Array, error) {
	b := array.NewBuilder(mem, to)
	defer b.Release()
	set, err := values.NewSetter(b, text.Lenient)
	if err != nil {
		return nil, err
	}
	for i := range a.Len() {
		if a.IsNull(i) {
			b.AppendNull()
		} else if err := set([]byte(a.Value(i))); err != nil {
			return nil, err
		}
	}
	return b.NewArray(), nil
}

// decimals converts decimals to another width.
func decimals(mem memory.Allocator, a arrow.Array, t arrow.DecimalType) (arrow.Array, error) {
	b := array.NewBuilder(mem, t)
	defer b.Release()
	b.Reserve(a.Len())
	for i := range a.Len() {
		if a.IsNull(i) {
			b.AppendNull()
			continue
		}
		var v decimal128.Num
		switch a := a.(type) {
		case *array.Decimal32:
			v = decimal128.FromI64(int64(a.Value(i)))
		case *array.Decimal64:
			v = decimal128.FromI64(int64(a.Value(i)))
		case *array.Decimal128:
			v = a.Value(i)
		}
		if !v.FitsInPrecision(t.GetPrecision()) && t.BitWidth() < 128 {
			return nil, fmt.Errorf("a decimal has more than %d digits", t.GetPrecision())
		}
		switch b := b.(type) {
		case *array.Decimal32Builder:
			b.Append(decimal.Decimal32(int32(v.LowBits())))
		case *array.Decimal64Builder:
			b.Append(decimal.Decimal64(int64(v.LowBits())))
		case *array.Decimal128Builder:
			b.Append(v)
		case *array.Decimal256Builder:
			b.Append(decimal256.FromDecimal128(v))
		}
	}
	return b.NewArray(), nil
}
