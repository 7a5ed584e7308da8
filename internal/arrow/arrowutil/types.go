package arrowutil

import "github.com/apache/arrow-go/v18/arrow"

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
