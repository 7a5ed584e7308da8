package arrowutil

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// WithoutView is the type of the same values without a view: with 64-bit offsets for strings and bytes, and
// those of its own width for lists.
func WithoutView(dt arrow.DataType) arrow.DataType {
	switch l := kinds.LayoutOf(dt); {
	case dt.ID() == arrow.STRING_VIEW:
		return arrow.BinaryTypes.LargeString
	case dt.ID() == arrow.BINARY_VIEW:
		return arrow.BinaryTypes.LargeBinary
	case kinds.Of(dt) != kinds.List:
	case l.Form == kinds.RowViews && l.Width == 4:
		return arrow.ListOfField(dt.(arrow.ListLikeType).ElemField())
	case l.Form == kinds.RowViews:
		return arrow.LargeListOfField(dt.(arrow.ListLikeType).ElemField())
	}
	return dt
}
