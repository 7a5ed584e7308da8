package convert

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
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
	switch t := to.(type) {
	case arrow.ExtensionType:
		return Restorable(from, t.StorageType())
	case *arrow.DictionaryType:
		return Restorable(from, t.ValueType)
	case *arrow.RunEndEncodedType:
		return Restorable(from, t.Encoded())
	case *arrow.LargeListType, *arrow.ListViewType, *arrow.LargeListViewType, *arrow.FixedSizeListType, *arrow.ListType:
		f, ok := from.(arrow.ListLikeType)
		_, isMap := from.(*arrow.MapType)
		return ok && !isMap && Restorable(f.Elem(), t.(arrow.ListLikeType).Elem())
	case *arrow.MapType:
		f, ok := from.(*arrow.MapType)
		return ok && Restorable(f.KeyType(), t.KeyType()) && Restorable(f.ItemType(), t.ItemType())
	case *arrow.StructType:
		return restorableStruct(from, t)
	case *arrow.TimestampType:
		f, ok := from.(*arrow.TimestampType)
		return ok && (f.TimeZone == "") == (t.TimeZone == "") && (f.Unit == t.Unit || t.Unit == arrow.Second && f.Unit == arrow.Millisecond)
	case arrow.DecimalType:
		f, ok := from.(arrow.DecimalType)
		return ok && f.GetPrecision() == t.GetPrecision() && f.GetScale() == t.GetScale() && f.BitWidth() == 128
	}
	return restorableScalar(from.ID(), to)
}

func restorableStruct(from arrow.DataType, to *arrow.StructType) bool {
	if to.NumFields() == 0 {
		return arrow.TypeEqual(from, filledStruct)
	}
	f, ok := from.(*arrow.StructType)
	if !ok || f.NumFields() != to.NumFields() {
		return false
	}
	for i := range f.NumFields() {
		if f.Field(i).Name != to.Field(i).Name || !Restorable(f.Field(i).Type, to.Field(i).Type) {
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
	switch t := to.(type) {
	case arrow.ExtensionType:
		return restoreVia(mem, a, t.StorageType(), func(s arrow.Array) (arrow.Array, error) {
			return array.NewExtensionArrayWithStorage(t, s), nil
		})
	case *arrow.DictionaryType:
		return restoreVia(mem, a, t.ValueType, func(v arrow.Array) (arrow.Array, error) { return arrowutil.EncodeDictionary(mem, v, t) })
	case *arrow.RunEndEncodedType:
		return restoreVia(mem, a, t.Encoded(), func(v arrow.Array) (arrow.Array, error) { return arrowutil.EncodeRuns(mem, v, t) })
	case *arrow.StructType:
		return restoreChildren(mem, a, t)
	case *arrow.MapType:
		return restoreMap(mem, a, t)
	case arrow.ListLikeType:
		return restoreList(mem, a, t)
	case arrow.DecimalType:
		return restoreDecimal(mem, a.(*array.Decimal128), t)
	}
	return restoreScalar(mem, a, to)
}

// restoreVia restores the inner type and wraps the result.
func restoreVia(mem memory.Allocator, a arrow.Array, inner arrow.DataType, wrap func(arrow.Array) (arrow.Array, error)) (arrow.Array, error) {
	v, err := Restore(mem, a, inner)
	if err != nil {
		return nil, err
	}
	defer v.Release()
	return wrap(v)
}

// Relabel returns an array as another type of the same layout.
func Relabel(a arrow.Array, t arrow.DataType) arrow.Array {
	d := a.Data()
	out := array.NewData(t, d.Len(), d.Buffers(), d.Children(), d.NullN(), d.Offset())
	if dict, ok := d.Dictionary().(*array.Data); ok && dict != nil {
		out.SetDictionary(dict)
	}
	defer out.Release()
	return array.MakeFromData(out)
}

func restoreScalar(mem memory.Allocator, a arrow.Array, to arrow.DataType) (arrow.Array, error) {
	switch t := to.(type) {
	case *arrow.DurationType, *arrow.StringType:
		return Relabel(a, to), nil
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return widened(mem, a, to), nil
	case *arrow.StringViewType:
		wide := widened(mem, a, arrow.BinaryTypes.LargeString)
		defer wide.Release()
		return arrowutil.ToViews(mem, wide, to), nil
	case *arrow.BinaryViewType:
		wide := widened(mem, a, arrow.BinaryTypes.LargeBinary)
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
	return arrowutil.Make(to, d.Len(), []*memory.Buffer{validity(mem, a), offsets, values}, nil, a.NullN())
}

// validity copies the validity bitmap of an array, so that it starts at its first value.
func validity(mem memory.Allocator, a arrow.Array) *memory.Buffer {
	if a.NullN() == 0 {
		return nil
	}
	b := arrowutil.NewZeroBuffer(mem, (a.Len()+7)/8)
	for i := range a.Len() {
		if a.IsValid(i) {
			b.Bytes()[i>>3] |= 1 << (i & 7)
		}
	}
	return b
}

// numbers returns an array of a fixed-width integer type with the validity of a.
func numbers(mem memory.Allocator, a arrow.Array, to arrow.DataType, value func(int) int64) arrow.Array {
	n := a.Len()
	if to.(arrow.FixedWidthDataType).Bytes() == 4 {
		b := arrowutil.NewZeroBuffer(mem, 4*n)
		for i, s := 0, arrowutil.As[int32](b.Bytes()); i < n; i++ {
			s[i] = int32(value(i))
		}
		return arrowutil.Make(to, n, []*memory.Buffer{validity(mem, a), b}, nil, a.NullN())
	}
	b := arrowutil.NewZeroBuffer(mem, 8*n)
	for i, s := 0, arrowutil.As[int64](b.Bytes()); i < n; i++ {
		s[i] = value(i)
	}
	return arrowutil.Make(to, n, []*memory.Buffer{validity(mem, a), b}, nil, a.NullN())
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

func restoreDecimal(mem memory.Allocator, a *array.Decimal128, t arrow.DecimalType) (arrow.Array, error) {
	b := array.NewBuilder(mem, t)
	defer b.Release()
	b.Reserve(a.Len())
	for i := range a.Len() {
		if a.IsNull(i) {
			b.AppendNull()
			continue
		}
		v := a.Value(i)
		if b, ok := b.(*array.Decimal256Builder); ok {
			b.Append(decimal256.FromDecimal128(v))
			continue
		}
		if !v.FitsInPrecision(t.GetPrecision()) {
			return nil, fmt.Errorf("a decimal has more than %d digits", t.GetPrecision())
		}
		switch b := b.(type) {
		case *array.Decimal32Builder:
			b.Append(decimal.Decimal32(int32(v.LowBits())))
		case *array.Decimal64Builder:
			b.Append(decimal.Decimal64(int64(v.LowBits())))
		}
	}
	return b.NewArray(), nil
}

// restoreChildren restores the fields of a struct.
func restoreChildren(mem memory.Allocator, a arrow.Array, t *arrow.StructType) (arrow.Array, error) {
	s := a.(*array.Struct)
	kids := make([]arrow.ArrayData, t.NumFields())
	for i := range kids {
		child, err := Restore(mem, s.Field(i), t.Field(i).Type)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Field(i).Name, err)
		}
		defer child.Release()
		kids[i] = child.Data()
	}
	valid := validity(mem, a)
	data := array.NewData(t, a.Len(), []*memory.Buffer{valid}, kids, a.NullN(), 0)
	defer data.Release()
	if valid != nil {
		valid.Release()
	}
	return array.MakeFromData(data), nil
}

func restoreMap(mem memory.Allocator, a arrow.Array, t *arrow.MapType) (arrow.Array, error) {
	m := a.(*array.Map)
	entries, err := restoreChildren(mem, m.ListValues(), t.Elem().(*arrow.StructType))
	if err != nil {
		return nil, err
	}
	defer entries.Release()
	return withItems(a, t, entries), nil
}

// withItems returns a list of 32-bit offsets with other items.
func withItems(a arrow.Array, t arrow.DataType, items arrow.Array) arrow.Array {
	d := a.Data()
	data := array.NewData(t, d.Len(), d.Buffers(), []arrow.ArrayData{items.Data()}, d.NullN(), d.Offset())
	defer data.Release()
	return array.MakeFromData(data)
}

// restoreList converts plain lists of pqarrow to lists of any kind.
func restoreList(mem memory.Allocator, a arrow.Array, t arrow.ListLikeType) (arrow.Array, error) {
	l, ok := a.(*array.List)
	if !ok {
		return nil, fmt.Errorf("%s as %s", a.DataType(), t)
	}
	items, err := Restore(mem, l.ListValues(), t.Elem())
	if err != nil {
		return nil, err
	}
	defer items.Release()
	plain := withItems(a, arrow.ListOfField(t.ElemField()), items)
	defer plain.Release()
	switch t := t.(type) {
	case *arrow.ListViewType:
		return arrowutil.ToListView(mem, plain, t), nil
	case *arrow.FixedSizeListType:
		return fixedLists(mem, plain.(*array.List), t)
	case *arrow.LargeListType:
		return largeList(mem, plain.(*array.List), t), nil
	case *arrow.LargeListViewType:
		large := largeList(mem, plain.(*array.List), arrow.LargeListOfField(t.ElemField()))
		defer large.Release()
		return arrowutil.ToListView(mem, large, t), nil
	}
	return Relabel(plain, t), nil
}

func largeList(mem memory.Allocator, l *array.List, t arrow.DataType) arrow.Array {
	offsets := arrowutil.NewBuffer(mem, 8*(l.Len()+1))
	wide := arrowutil.As[int64](offsets.Bytes())
	for i, o := range arrowutil.Offsets[int32](l) {
		wide[i] = int64(o)
	}
	items := l.ListValues().Data()
	items.Retain()
	return arrowutil.Make(t, l.Len(), []*memory.Buffer{validity(mem, l), offsets}, []arrow.ArrayData{items}, l.NullN())
}

// fixedLists returns lists of a fixed length. Null lists get null items.
func fixedLists(mem memory.Allocator, l *array.List, t *arrow.FixedSizeListType) (arrow.Array, error) {
	n := int64(t.Len())
	if int64(l.Len())*n > math.MaxInt32 {
		return nil, errors.New("too many items in one batch")
	}
	take := make([]int64, 0, int64(l.Len())*n)
	for i := range l.Len() {
		from, to := l.ValueOffsets(i)
		if l.IsNull(i) {
			for range n {
				take = append(take, -1)
			}
			continue
		}
		if to-from != n {
			return nil, fmt.Errorf("a list of %d items, where the stored Arrow schema says %d", to-from, n)
		}
		for ; from < to; from++ {
			take = append(take, from)
		}
	}
	items, err := arrowutil.Take(mem, l.ListValues(), take)
	if err != nil {
		return nil, err
	}
	defer items.Release()
	items.Data().Retain()
	return arrowutil.Make(t, l.Len(), []*memory.Buffer{validity(mem, l)}, []arrow.ArrayData{items.Data()}, l.NullN()), nil
}
