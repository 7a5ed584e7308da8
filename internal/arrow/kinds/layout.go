package kinds

import "github.com/apache/arrow-go/v18/arrow"

// Form is the way in which the rows of an array lie in memory. Buffer 0 has a bit for each row that is not null; runs and unions have none.
type Form uint8

const (
	// Unknown is the form of types without a row in the table.
	Unknown Form = iota
	// Nothing has no memory: all rows are null.
	Nothing
	// Fixed has the values in buffer 1.
	Fixed
	// Bytes has one offset more than rows in buffer 1: values are bytes of buffer 2.
	Bytes
	// Views has short values in buffer 1, and of long ones the place in a further buffer.
	Views
	// Rows has one offset more than rows in buffer 1: lists are rows of the child.
	Rows
	// RowViews has an offset for each row in buffer 1, and a size in buffer 2: lists are rows of the child, in any order.
	RowViews
	// Codes has in buffer 1 the row of the dictionary.
	Codes
	// Runs has the ends of runs in the first child, and their values in the second.
	Runs
	// Parallel has the same number of rows of each child for each row, and in buffer 1 which child counts if it is a choice.
	Parallel
	// Addressed has in buffer 1 which child counts, and in buffer 2 the row of it.
	Addressed
)

// Layout is a form with its sizes.
type Layout struct {
	Form  Form
	Width int // bytes of what is in buffer 1; bits of Fixed
	Each  int // of Parallel: rows of a child for each row
}

// LayoutOf is the layout of the arrays of a type.
func LayoutOf(dt arrow.DataType) Layout {
	dt = Storage(dt)
	l := of(dt).layout
	switch t := dt.(type) {
	case *arrow.DictionaryType:
		if codes, ok := t.IndexType.(arrow.FixedWidthDataType); ok {
			l.Width = codes.Bytes()
		}
	case *arrow.FixedSizeListType:
		l.Each = int(t.Len())
	case arrow.FixedWidthDataType:
		if l.Form == Fixed {
			l.Width = t.BitWidth()
		}
	}
	return l
}
