package write

import (
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// rawSize is the size in bytes, without any encoding, of the rows [from, to) of an array. Stripes
// end by it. It is the sum of the sizes of the rows, so that the end of a stripe does not depend
// on the grouping of rows in batches. A null has the size of its slot in the Arrow array.
func rawSize(a arrow.Array, from, to int) int64 {
	if from == to {
		return 0
	}
	n := int64(to - from)
	switch a := a.(type) {
	case *array.Null:
		return 0
	case *array.Boolean:
		return n // a bit would not add up row by row
	case *array.String, *array.Binary:
		return 4*n + textSize(a.(offsetArray), from, to)
	case *array.LargeString, *array.LargeBinary:
		return 8*n + textSize(a.(offsetArray), from, to)
	case array.ViewLike:
		size := 16 * n
		for i := from; i < to; i++ {
			if a.IsValid(i) {
				size += int64(a.ValueHeader(i).Len())
			}
		}
		return size
	case *array.Dictionary:
		return dictionarySize(a, from, to)
	case *array.RunEndEncoded:
		return runsSize(a, from, to)
	case array.ExtensionArray:
		return rawSize(a.Storage(), from, to)
	case *array.Struct:
		size := int64(0)
		for i := range a.NumField() {
			size += rawSize(a.Field(i), from, to)
		}
		return size
	case array.ListLike:
		return listSize(a, from, to)
	}
	if t, ok := a.DataType().(arrow.FixedWidthDataType); ok {
		return n * int64((t.BitWidth()+7)/8)
	}
	return 8 * n
}

// offsetArray is an array of strings or byte strings with offsets.
type offsetArray interface {
	ValueOffset64(i int) int64
	ValueLen(i int) int
}

func textSize(a offsetArray, from, to int) int64 {
	return a.ValueOffset64(to-1) + int64(a.ValueLen(to-1)) - a.ValueOffset64(from)
}

func listSize(a array.ListLike, from, to int) int64 {
	if f, ok := a.(*array.FixedSizeList); ok {
		start, _ := f.ValueOffsets(from)
		_, end := f.ValueOffsets(to - 1)
		return rawSize(a.ListValues(), int(start), int(end))
	}
	_, view32 := a.(*array.ListView)
	_, view64 := a.(*array.LargeListView)
	if !view32 && !view64 { // offsets ascend
		start, _ := a.ValueOffsets(from)
		_, end := a.ValueOffsets(to - 1)
		return 8*int64(to-from) + rawSize(a.ListValues(), int(start), int(end))
	}
	size := 8 * int64(to-from)
	for i := from; i < to; i++ {
		if start, end := a.ValueOffsets(i); a.IsValid(i) && end > start {
			size += rawSize(a.ListValues(), int(start), int(end))
		}
	}
	return size
}

func dictionarySize(a *array.Dictionary, from, to int) int64 {
	if t, ok := a.Dictionary().DataType().(arrow.FixedWidthDataType); ok {
		return int64(to-from) * int64((t.BitWidth()+7)/8)
	}
	size := int64(0)
	for i := from; i < to; i++ {
		if a.IsValid(i) {
			k := a.GetValueIndex(i)
			size += rawSize(a.Dictionary(), k, k+1)
		}
	}
	return size
}

func runsSize(a *array.RunEndEncoded, from, to int) int64 {
	size := int64(0)
	for i := from; i < to; {
		k := a.GetPhysicalIndex(i)
		end := to
		if k+1 < a.RunEndsArr().Len() {
			end = min(to, runEnd(a, k))
		}
		size += int64(end-i) * rawSize(a.Values(), k, k+1)
		i = max(end, i+1)
	}
	return size
}

// runEnd is the logical position in a at which run k ends.
func runEnd(a *array.RunEndEncoded, k int) int {
	end := 0
	switch ends := a.RunEndsArr().(type) {
	case *array.Int16:
		end = int(ends.Value(k))
	case *array.Int32:
		end = int(ends.Value(k))
	case *array.Int64:
		end = int(ends.Value(k))
	}
	return end - a.Data().Offset()
}

// batchSize is the raw size of the rows [from, to) of all columns.
func batchSize(columns []arrow.Array, from, to int) int64 {
	size := int64(0)
	for _, c := range columns {
		size += rawSize(c, from, to)
	}
	return size
}

// CutAt is the smallest number of rows, beginning at row from, with a raw size of at least limit.
// If all rows before row to are smaller, it returns their number and false.
func CutAt(columns []arrow.Array, from, to int, limit int64) (rows int, size int64, reached bool) {
	size = batchSize(columns, from, to)
	if size < limit {
		return to - from, size, false
	}
	rows = 1 + sort.Search(to-from-1, func(k int) bool { return batchSize(columns, from, from+k+1) >= limit })
	return rows, batchSize(columns, from, from+rows), true
}

// Slice are the rows from from up to to of columns. The caller releases them.
func Slice(columns []arrow.Array, from, to int) []arrow.Array {
	cut := make([]arrow.Array, len(columns))
	for i, c := range columns {
		if from == 0 && to == c.Len() {
			c.Retain()
			cut[i] = c
			continue
		}
		cut[i] = array.NewSlice(c, int64(from), int64(to))
	}
	return cut
}
