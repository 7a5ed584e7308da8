package arrowutil

import "github.com/apache/arrow-go/v18/arrow"

// WithChildren is a nested type with the types of its children replaced.
func WithChildren(dt arrow.DataType, kids []arrow.DataType) arrow.DataType {
	field := func(f arrow.Field, i int) arrow.Field {
		f.Type = kids[i]
		return f
	}
	switch dt := dt.(type) {
	case *arrow.ListType:
		return arrow.ListOfField(field(dt.ElemField(), 0))
	case *arrow.LargeListType:
		return arrow.LargeListOfField(field(dt.ElemField(), 0))
	case *arrow.ListViewType:
		return arrow.ListViewOfField(field(dt.ElemField(), 0))
	case *arrow.LargeListViewType:
		return arrow.LargeListViewOfField(field(dt.ElemField(), 0))
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(dt.Len(), field(dt.ElemField(), 0))
	case *arrow.MapType:
		m := arrow.MapOfFields(field(dt.KeyField(), 0), field(dt.ItemField(), 1))
		m.KeysSorted = dt.KeysSorted
		return m
	case *arrow.StructType:
		fields := dt.Fields()
		for i := range fields {
			fields[i] = field(fields[i], i)
		}
		return arrow.StructOf(fields...)
	}
	return dt
}

// WithoutView is the type of the same values without a view: with 64-bit offsets for strings and bytes, and
// those of its own width for lists.
func WithoutView(dt arrow.DataType) arrow.DataType {
	switch dt := dt.(type) {
	case *arrow.StringViewType:
		return arrow.BinaryTypes.LargeString
	case *arrow.BinaryViewType:
		return arrow.BinaryTypes.LargeBinary
	case *arrow.ListViewType:
		return arrow.ListOfField(dt.ElemField())
	case *arrow.LargeListViewType:
		return arrow.LargeListOfField(dt.ElemField())
	}
	return dt
}
