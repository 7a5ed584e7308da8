package arrowutil

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

func TestDecimal64(t *testing.T) {
	meta := arrow.NewMetadata([]string{"k"}, []string{"v"})
	wide := arrow.Field{Name: "a", Type: &arrow.Decimal128Type{Precision: 18, Scale: 2}, Metadata: meta}
	narrow := Decimal64(wide)
	require.Equal(t, &arrow.Decimal64Type{Precision: 18, Scale: 2}, narrow.Type)
	require.Equal(t, wide.Type, RecordedType(narrow))
	require.Equal(t, meta, wide.Metadata)
	native := Retyped(narrow, narrow.Type)
	require.True(t, native.Metadata.Equal(meta))
	require.Equal(t, native.Type, RecordedType(native))
	for _, dt := range []arrow.DataType{&arrow.Decimal128Type{Precision: 19}, arrow.PrimitiveTypes.Int64} {
		f := arrow.Field{Name: "a", Type: dt}
		require.Equal(t, f, Decimal64(f))
	}
}

func TestWiden(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	b := array.NewDecimal64Builder(mem, &arrow.Decimal64Type{Precision: 18, Scale: 2})
	defer b.Release()
	for _, v := range []int64{0, -1, 999999999999999999, -123} {
		b.Append(decimal.Decimal64(v))
		b.AppendNull()
	}
	all := b.NewArray()
	defer all.Release()
	arr := array.NewSlice(all, 1, 7)
	defer arr.Release()
	got := Widen(mem, arr, &arrow.Decimal128Type{Precision: 18, Scale: 2})
	defer got.Release()
	require.Equal(t, arr.Len(), got.Len())
	for i := range arr.Len() {
		require.Equal(t, arr.ValueStr(i), got.ValueStr(i))
	}
	same := Widen(mem, arr, arr.DataType())
	require.True(t, array.Equal(arr, same))
	same.Release()
}
