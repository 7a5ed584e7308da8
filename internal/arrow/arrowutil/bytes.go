package arrowutil

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// BytesOf returns a function that gives the byte string or text at an index of an array, nil for arrays of other types. The bytes belong
// to the array. A null view, which may refer to anything, has none.
func BytesOf(arr arrow.Array) func(i int) []byte {
	switch a := arr.(type) {
	case *array.String, *array.Binary:
		return cutAt(arr, Offsets[int32](arr))
	case *array.LargeString, *array.LargeBinary:
		return cutAt(arr, Offsets[int64](arr))
	case *array.FixedSizeBinary:
		return a.Value
	case *array.StringView:
		return func(i int) []byte {
			if a.IsNull(i) {
				return nil
			}
			s := a.Value(i)
			return unsafe.Slice(unsafe.StringData(s), len(s))
		}
	case *array.BinaryView:
		return func(i int) []byte {
			if a.IsNull(i) {
				return nil
			}
			return a.Value(i)
		}
	}
	return nil
}

func cutAt[O int32 | int64](arr arrow.Array, offsets []O) func(i int) []byte {
	var data []byte
	if b := arr.Data().Buffers()[2]; b != nil {
		data = b.Bytes()
	}
	return func(i int) []byte { return data[offsets[i]:offsets[i+1]] }
}
