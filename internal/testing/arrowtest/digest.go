package arrowtest

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/zeebo/xxh3"
)

// Digest is a hash of the values of a column, bit by bit, which depends neither on batches nor on
// the layout: dictionaries, runs and views give the same as plain arrays.
func Digest(column []arrow.Array) string {
	h := xxh3.New()
	var slot []byte
	for _, arr := range column {
		for i := range arr.Len() {
			slot = appendSlot(slot[:0], arr, i)
			_, _ = h.Write(slot)
		}
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// appendSlot appends 0 for null, or 1 and the value.
func appendSlot(b []byte, arr arrow.Array, i int) []byte {
	switch a := arr.(type) {
	case *array.Dictionary:
		if a.IsNull(i) {
			return append(b, 0)
		}
		return appendSlot(b, a.Dictionary(), a.GetValueIndex(i))
	case *array.RunEndEncoded:
		return appendSlot(b, a.Values(), a.GetPhysicalIndex(i))
	case array.ExtensionArray:
		return appendSlot(b, a.Storage(), i)
	case *array.Null:
		return append(b, 0)
	}
	if arr.IsNull(i) {
		return append(b, 0)
	}
	return appendValue(append(b, 1), arr, i)
}

func appendValue(b []byte, arr arrow.Array, i int) []byte {
	text := func(v string) []byte { return append(binary.LittleEndian.AppendUint64(b, uint64(len(v))), v...) }
	switch a := arr.(type) {
	case *array.Boolean:
		if a.Value(i) {
			return append(b, 1)
		}
		return append(b, 0)
	case array.StringLike:
		return text(a.Value(i))
	case interface{ Value(int) []byte }:
		return text(string(a.Value(i)))
	case array.ListLike: // maps, too
		start, end := a.ValueOffsets(i)
		b = binary.LittleEndian.AppendUint64(b, uint64(end-start))
		for ; start < end; start++ {
			b = appendSlot(b, a.ListValues(), int(start))
		}
		return b
	case *array.Struct:
		for f := range a.NumField() {
			b = appendSlot(b, a.Field(f), i)
		}
		return b
	}
	width := arr.DataType().(arrow.FixedWidthDataType).BitWidth() / 8
	at := (arr.Data().Offset() + i) * width
	return append(b, arr.Data().Buffers()[1].Bytes()[at:at+width]...)
}
