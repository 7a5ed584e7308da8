// Package texts has the strings of arrays that may be nested.
package texts

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Each calls yield with the texts of an array in the order of its rows, which may have several or none.
func Each(arr arrow.Array, yield func(row int, text []byte) error) error {
	arr, err := arrowutil.Plain(memory.DefaultAllocator, arr)
	if err != nil {
		return err
	}
	defer arr.Release()
	text := arrowutil.BytesOf(arr)
	v := kinds.Open(arr)
	if text == nil && v.Shape == kinds.Leaf {
		return fault.Unsupportedf("terms of %v", arr.DataType())
	}
	if v.Shape == kinds.Record {
		return Each(v.Parts[0], func(row int, text []byte) error {
			if arr.IsNull(row) {
				return nil
			}
			return yield(row, text)
		})
	}
	for row := range arr.Len() {
		if arr.IsNull(row) {
			continue
		}
		if text != nil {
			err = yield(row, text(row))
		} else {
			from, to := v.Range(row)
			items := array.NewSlice(v.Parts[0], from, to)
			err = Each(items, func(_ int, text []byte) error { return yield(row, text) })
			items.Release()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
