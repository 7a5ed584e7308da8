package arrowutil

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Nulls makes an array of n nulls of any type. Arrow's own function does not support nested
// nulls and extensions of nested types, and relies on zeroed memory.
func Nulls(mem memory.Allocator, dt arrow.DataType, n int) arrow.Array {
	switch t := dt.(type) {
	case *arrow.NullType:
		return array.NewNull(n)
	case arrow.ExtensionType:
		storage := Nulls(mem, t.StorageType(), n)
		defer storage.Release()
		return array.NewExtensionArrayWithStorage(t, storage)
	case *arrow.StructType:
		var children []arrow.ArrayData
		for _, f := range t.Fields() {
			children = append(children, nullData(mem, f.Type, n))
		}
		return nulls(mem, dt, n, children)
	case *arrow.FixedSizeListType:
		return nulls(mem, dt, n, []arrow.ArrayData{nullData(mem, t.Elem(), n*int(t.Len()))})
	case *arrow.ListViewType:
		return nulls(mem, dt, n, []arrow.ArrayData{nullData(mem, t.Elem(), 0)}, 4*n, 4*n)
	case *arrow.LargeListViewType:
		return nulls(mem, dt, n, []arrow.ArrayData{nullData(mem, t.Elem(), 0)}, 8*n, 8*n)
	case *arrow.LargeListType:
		return nulls(mem, dt, n, []arrow.ArrayData{nullData(mem, t.Elem(), 0)}, 8*(n+1))
	case arrow.ListLikeType: // lists and maps
		return nulls(mem, dt, n, []arrow.ArrayData{nullData(mem, t.Elem(), 0)}, 4*(n+1))
	case *arrow.BinaryType, *arrow.StringType:
		return nulls(mem, dt, n, nil, 4*(n+1), 0)
	case *arrow.LargeBinaryType, *arrow.LargeStringType:
		return nulls(mem, dt, n, nil, 8*(n+1), 0)
	case *arrow.BooleanType:
		return nulls(mem, dt, n, nil, (n+7)/8)
	case *arrow.DictionaryType, *arrow.RunEndEncodedType:
		return array.MakeArrayOfNull(mem, dt, n)
	case arrow.FixedWidthDataType:
		return nulls(mem, dt, n, nil, n*t.Bytes())
	}
	return nulls(mem, dt, n, nil, n*arrow.ViewHeaderSizeBytes) // views of strings
}

// nulls makes an array with a validity bitmap and further buffers of zeros.
func nulls(mem memory.Allocator, dt arrow.DataType, n int, children []arrow.ArrayData, sizes ...int) arrow.Array {
	buffers := []*memory.Buffer{NewZeroBuffer(mem, (n+7)/8)}
	for _, size := range sizes {
		buffers = append(buffers, NewZeroBuffer(mem, size))
	}
	return Make(dt, n, buffers, children, n)
}

func nullData(mem memory.Allocator, dt arrow.DataType, n int) arrow.ArrayData {
	a := Nulls(mem, dt, n)
	defer a.Release()
	a.Data().Retain()
	return a.Data()
}
