package table

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// OnlyUsed is an array in whose dictionaries are only the entries of its own rows: other ones may be values of rows that no scan shows. The caller
// releases the result.
func OnlyUsed(mem memory.Allocator, arr arrow.Array) (arrow.Array, error) {
	d, err := usedData(mem, arr.Data())
	if err != nil {
		return nil, err
	}
	defer d.Release()
	return array.MakeFromData(d), nil
}

func usedData(mem memory.Allocator, d arrow.ArrayData) (arrow.ArrayData, error) {
	if entries, ok := d.Dictionary().(*array.Data); ok && entries != nil {
		return usedEntries(mem, d, entries)
	}
	children := make([]arrow.ArrayData, len(d.Children()))
	for i, c := range d.Children() {
		child, err := usedData(mem, c)
		if err != nil {
			return nil, err
		}
		defer child.Release()
		children[i] = child
	}
	return array.NewData(d.DataType(), d.Len(), d.Buffers(), children, d.NullN(), d.Offset()), nil
}

func usedEntries(mem memory.Allocator, d arrow.ArrayData, entries *array.Data) (arrow.ArrayData, error) {
	dt := kinds.Storage(d.DataType()).(*arrow.DictionaryType)
	stored := array.NewDataWithDictionary(dt, d.Len(), d.Buffers(), d.NullN(), d.Offset(), entries)
	defer stored.Release()
	codes := array.NewDictionaryData(stored)
	defer codes.Release()
	rows := arrowutil.Entries(codes)
	used, left := make([]bool, entries.Len()), entries.Len()
	for i := 0; i < len(rows) && left > 0; i++ {
		if k := rows[i]; k >= 0 && !used[k] {
			used[k] = true
			left--
		}
	}
	if left == 0 { // mostly after a few rows
		d.Retain()
		return d, nil
	}
	var kept []int64
	places := make([]int64, len(used)) // of entries among those that are kept
	for i := range used {
		if used[i] {
			places[i] = int64(len(kept))
			kept = append(kept, int64(i))
		}
	}
	all := array.MakeFromData(entries)
	defer all.Release()
	values, err := arrowutil.Take(mem, all, kept)
	if err != nil {
		return nil, err
	}
	defer values.Release()
	width := dt.IndexType.(arrow.FixedWidthDataType).Bytes()
	numbers := arrowutil.NewZeroBuffer(mem, codes.Len()*width)
	for i, k := range rows {
		if k >= 0 {
			arrowutil.PutInt(numbers.Bytes()[i*width:], width, places[k])
		}
	}
	out := arrowutil.MakeCodes(d.DataType(), codes.Len(), arrowutil.CopyValidity(mem, codes), numbers, codes.NullN(), values.Data())
	defer out.Release()
	out.Data().Retain()
	return out.Data(), nil
}
