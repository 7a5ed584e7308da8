package arrowutil

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// Storage is an array without extension types around it. It is not retained.
func Storage(arr arrow.Array) arrow.Array {
	for {
		ext, ok := arr.(array.ExtensionArray)
		if !ok {
			return arr
		}
		arr = ext.Storage()
	}
}

// Plain converts arr to the layout without wrappers: extension types become their storage,
// dictionaries and runs are expanded, string and binary views get 64-bit offsets and data, and
// list views become lists. Children are unchanged. The caller releases the result, even if it
// is arr itself.
func Plain(mem memory.Allocator, arr arrow.Array) (arrow.Array, error) {
	arr.Retain()
	for {
		next, err := peel(mem, arr)
		if next == arr || err != nil {
			if err != nil {
				arr.Release()
				return nil, err
			}
			return arr, nil
		}
		arr.Release()
		arr = next
	}
}

// peel removes one wrapper; without one it returns arr, not retained.
func peel(mem memory.Allocator, arr arrow.Array) (arrow.Array, error) {
	if ext, ok := arr.(array.ExtensionArray); ok {
		ext.Storage().Retain()
		return ext.Storage(), nil
	}
	switch dt := arr.DataType(); kinds.LayoutOf(dt).Form {
	case kinds.Codes:
		return takeDictionary(mem, arr.(*array.Dictionary))
	case kinds.Runs:
		return expandRuns(mem, arr.(*array.RunEndEncoded))
	case kinds.Views:
		return plainViews(mem, arr), nil
	case kinds.RowViews:
		return Relist(mem, arr, arrow.LargeListOfField(dt.(arrow.ListLikeType).ElemField()), nil)
	}
	return arr, nil
}

func takeDictionary(mem memory.Allocator, a *array.Dictionary) (arrow.Array, error) {
	values, err := Plain(mem, a.Dictionary())
	if err != nil {
		return nil, err
	}
	defer values.Release()
	return TakeCoded(mem, a, values)
}

// TakeCoded makes an array of what stands in values, instead of in the dictionary, for the rows of a dictionary array.
func TakeCoded(mem memory.Allocator, a *array.Dictionary, values arrow.Array) (arrow.Array, error) {
	return Take(mem, values, Entries(a))
}

// Entries is the number of the dictionary's entry for each row, -1 for null. It may lie in the memory of the array.
func Entries(a *array.Dictionary) []int64 {
	var buf []int64
	entries, _ := Int64s(a.Indices(), &buf)
	if NullN(a) > 0 {
		entries = append([]int64(nil), entries...)
		for i := range entries {
			if a.IsNull(i) {
				entries[i] = -1
			}
		}
	}
	return entries
}

func expandRuns(mem memory.Allocator, a *array.RunEndEncoded) (arrow.Array, error) {
	indices := make([]int64, a.Len())
	end := Integers(a.RunEndsArr())
	run, off := a.GetPhysicalOffset(), a.Data().Offset()
	for i := range indices {
		for run < a.RunEndsArr().Len() && end(run) <= int64(off+i) {
			run++
		}
		indices[i] = int64(run)
	}
	values, err := Plain(mem, a.Values())
	if err != nil {
		return nil, err
	}
	defer values.Release()
	return Take(mem, values, indices)
}

func plainViews(mem memory.Allocator, arr arrow.Array) arrow.Array {
	n, value := arr.Len(), BytesOf(arr)
	offsets := NewBuffer(mem, 8*(n+1))
	off := As[int64](offsets.Bytes())
	off[0] = 0
	for i := range n {
		off[i+1] = off[i] + int64(len(value(i)))
	}
	data := NewBuffer(mem, int(off[n]))
	for i := range n {
		copy(data.Bytes()[off[i]:], value(i))
	}
	return Make(WithoutView(arr.DataType()), n, []*memory.Buffer{CopyValidity(mem, arr), offsets, data}, nil, NullN(arr))
}

// CopyValidity is a copy of arr's validity bitmap at offset 0, nil if arr has no nulls.
func CopyValidity(mem memory.Allocator, arr arrow.Array) *memory.Buffer {
	if NullN(arr) == 0 {
		return nil
	}
	b := NewZeroBuffer(mem, (arr.Len()+7)/8)
	Validity(arr).CopyTo(b.Bytes(), 0)
	return b
}
