package arrowutil

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Nulls makes an array of n nulls of any type. Arrow's own function does not support nested
// nulls and extensions of nested types, and relies on zeroed memory.
func Nulls(mem memory.Allocator, dt arrow.DataType, n int) arrow.Array {
	items := 0 // rows of the children
	switch t := dt.(type) {
	case *arrow.NullType:
		return array.NewNull(n)
	case arrow.ExtensionType:
		storage := Nulls(mem, t.StorageType(), n)
		defer storage.Release()
		return array.NewExtensionArrayWithStorage(t, storage)
	case *arrow.DictionaryType, *arrow.RunEndEncodedType, arrow.UnionType:
		return array.MakeArrayOfNull(mem, dt, n)
	case *arrow.FixedSizeListType:
		items = n * int(t.Len())
	case *arrow.StructType:
		items = n
	}
	var children []arrow.ArrayData
	if t, ok := dt.(arrow.NestedType); ok {
		for _, f := range t.Fields() {
			children = append(children, nullData(mem, f.Type, items))
		}
	}
	ends := 0 // offsets are one more than values
	if id := dt.ID(); arrow.IsBaseBinary(id) || id == arrow.LIST || id == arrow.LARGE_LIST || id == arrow.MAP {
		ends = 1
	}
	buffers := []*memory.Buffer{NewZeroBuffer(mem, (n+7)/8)}
	for _, b := range dt.Layout().Buffers[1:] {
		switch b.Kind {
		case arrow.KindBitmap:
			buffers = append(buffers, NewZeroBuffer(mem, (n+7)/8))
		case arrow.KindFixedWidth:
			buffers = append(buffers, NewZeroBuffer(mem, (n+ends)*b.ByteWidth))
		case arrow.KindVarWidth:
			buffers = append(buffers, NewZeroBuffer(mem, 0))
		}
	}
	return Make(dt, n, buffers, children, n)
}

func nullData(mem memory.Allocator, dt arrow.DataType, n int) arrow.ArrayData {
	a := Nulls(mem, dt, n)
	defer a.Release()
	a.Data().Retain()
	return a.Data()
}
