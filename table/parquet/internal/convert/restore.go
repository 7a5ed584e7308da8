package convert

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
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
	case kinds.Of(to) == kinds.List && len(fields) == 1:
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
		return numbers(mem, a, to, func(_ int, v int64) (int64, error) { return v * dayMillis, nil })
	case *arrow.TimestampType:
		if a.DataType().(*arrow.TimestampType).Unit == t.Unit {
			return Relabel(a, to), nil
		}
		return numbers(mem, a, to, wholeSeconds)
	case *arrow.Time32Type:
		return numbers(mem, a, to, wholeSeconds)
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

// numbers converts integers, and types stored as integers, to a type of 4 or 8 bytes.
func numbers(mem memory.Allocator, a arrow.Array, to arrow.DataType, convert func(row int, v int64) (int64, error)) (arrow.Array, error) {
	width := to.(arrow.FixedWidthDataType).Bytes()
	out := arrowutil.NewZeroBuffer(mem, width*a.Len())
	value := arrowutil.Integers(a)
	for i := range a.Len() {
		if a.IsNull(i) {
			continue
		}
		v, err := convert(i, value(i))
		if err != nil {
			out.Release()
			return nil, err
		}
		if width == 4 {
			arrowutil.As[int32](out.Bytes())[i] = int32(v)
		} else {
			arrowutil.As[int64](out.Bytes())[i] = v
		}
	}
	return arrowutil.Make(to, a.Len(), []*memory.Buffer{arrowutil.CopyValidity(mem, a), out}, nil, a.NullN()), nil
}

// wholeSeconds converts milliseconds back to seconds.
func wholeSeconds(_ int, v int64) (int64, error) {
	if v%1000 != 0 {
		return 0, fmt.Errorf("%d ms is not a whole second, contrary to the stored Arrow schema", v)
	}
	return v / 1000, nil
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

// decimals converts decimals of 32 or 64 bits to 128, and of 128 bits to any width.
func decimals(mem memory.Allocator, a arrow.Array, t arrow.DecimalType) (arrow.Array, error) {
	out := arrowutil.NewZeroBuffer(mem, t.BitWidth()/8*a.Len())
	for i, narrow := 0, arrowutil.Integers(a); i < a.Len(); i++ {
		if a.IsNull(i) {
			continue
		}
		if narrow != nil {
			arrowutil.As[decimal128.Num](out.Bytes())[i] = decimal128.FromI64(narrow(i))
			continue
		}
		v := a.(*array.Decimal128).Value(i)
		if !v.FitsInPrecision(t.GetPrecision()) && t.BitWidth() < 128 {
			out.Release()
			return nil, fmt.Errorf("a decimal has more than %d digits", t.GetPrecision())
		}
		switch t.BitWidth() {
		case 32:
			arrowutil.As[int32](out.Bytes())[i] = int32(v.LowBits())
		case 64:
			arrowutil.As[int64](out.Bytes())[i] = int64(v.LowBits())
		case 256:
			arrowutil.As[decimal256.Num](out.Bytes())[i] = decimal256.FromDecimal128(v)
		}
	}
	return arrowutil.Make(t, a.Len(), []*memory.Buffer{arrowutil.CopyValidity(mem, a), out}, nil, a.NullN()), nil
}
