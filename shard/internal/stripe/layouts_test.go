package stripe_test

import (
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
)

// checkColumn requires that an array comes back, whole and sliced.
func checkColumn(t *testing.T, arr arrow.Array) {
	s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: arr.DataType(), Nullable: true}}, nil)
	batch := array.NewRecordBatch(s, []arrow.Array{arr}, int64(arr.Len()))
	check(t, s, []arrow.RecordBatch{batch, batch.NewSlice(1, int64(arr.Len()))}, write.Options{})
}

func int32s(v ...int32) arrow.Array {
	return arrowutil.Make(arrow.PrimitiveTypes.Int32, len(v), []*memory.Buffer{nil, memory.NewBufferBytes(arrowutil.Bytes(v))}, nil, 0)
}

func offsets(v ...int32) *memory.Buffer { return memory.NewBufferBytes(arrowutil.Bytes(v)) }

// The entries of a map may be a slice of a longer struct: the C data interface allows it.
func TestMapWithSlicedEntries(t *testing.T) {
	dt := arrow.MapOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int32)
	keys, items := int32s(-1, -2, 10, 11, 12, 13, 14), int32s(-1, -2, 20, 21, 22, 23, 24)
	entries := array.NewData(dt.Elem(), 5, []*memory.Buffer{nil}, []arrow.ArrayData{keys.Data(), items.Data()}, 0, 2)
	for _, valid := range []*memory.Buffer{nil, memory.NewBufferBytes([]byte{0b101})} {
		m := array.MakeFromData(array.NewData(dt, 3, []*memory.Buffer{valid, offsets(0, 2, 3, 5)}, []arrow.ArrayData{entries}, -1, 0))
		checkColumn(t, m)
	}
}

// Without a validity bitmap there are no nulls, even if the null count is unknown.
func TestUnknownNullCountWithoutBitmap(t *testing.T) {
	unknown := func(arr arrow.Array) arrow.Array {
		d := arr.Data()
		return array.MakeFromData(array.NewData(d.DataType(), d.Len(), d.Buffers(), d.Children(), -1, d.Offset()))
	}
	numbers := unknown(int32s(1, 2, 3, 4))
	checkColumn(t, numbers)
	list := arrowutil.Make(arrow.ListOf(arrow.PrimitiveTypes.Int32), 3, []*memory.Buffer{nil, offsets(0, 2, 2, 4)}, []arrow.ArrayData{numbers.Data()}, 0)
	checkColumn(t, unknown(list))
	text := arrowutil.Make(arrow.BinaryTypes.String, 3, []*memory.Buffer{nil, offsets(0, 1, 1, 3), memory.NewBufferBytes([]byte("abc"))}, nil, 0)
	checkColumn(t, unknown(text))
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	checkColumn(t, array.MakeFromData(array.NewDataWithDictionary(dt, 3, []*memory.Buffer{nil, offsets(0, 2, 1)}, -1, 0, text.Data().(*array.Data))))
}

// NaNs keep their bits in every position, because a value is its bits.
func TestNaNsKeepTheirBits(t *testing.T) {
	words := []uint64{0x7ff8000000000001, 0xfff8000000000000, 0x7ff0000000000000, 0x7ff8dead00000000, 0x8000000000000000, 0, 0x7ff8000000000001, 0xfff4000000000002}
	floats := make([]float64, len(words))
	for i, w := range words {
		floats[i] = math.Float64frombits(w)
	}
	f64 := arrow.PrimitiveTypes.Float64
	values := arrowutil.Make(f64, len(floats), []*memory.Buffer{nil, memory.NewBufferBytes(arrowutil.Bytes(floats))}, nil, 0)
	codes := array.MakeFromData(array.NewDataWithDictionary(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: f64}, 8,
		[]*memory.Buffer{nil, offsets(7, 6, 5, 4, 3, 2, 1, 0)}, 0, 0, values.Data().(*array.Data)))
	runs := arrowutil.Make(arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, f64), 8, []*memory.Buffer{nil},
		[]arrow.ArrayData{int32s(1, 2, 3, 4, 5, 6, 7, 8).Data(), values.Data()}, 0)
	for _, inner := range []arrow.Array{codes, runs} {
		for _, valid := range []*memory.Buffer{nil, memory.NewBufferBytes([]byte{0b1101})} {
			lists := array.MakeFromData(array.NewData(arrow.ListOf(inner.DataType()), 4, []*memory.Buffer{valid, offsets(0, 2, 3, 6, 8)}, []arrow.ArrayData{inner.Data()}, -1, 0))
			views := array.MakeFromData(array.NewData(arrow.ListViewOf(inner.DataType()), 4, []*memory.Buffer{valid, offsets(4, 0, 2, 5), offsets(3, 1, 2, 3)}, []arrow.ArrayData{inner.Data()}, -1, 0))
			fixed := array.MakeFromData(array.NewData(arrow.FixedSizeListOf(2, inner.DataType()), 4, []*memory.Buffer{valid}, []arrow.ArrayData{inner.Data()}, -1, 0))
			records := array.MakeFromData(array.NewData(arrow.StructOf(arrow.Field{Name: "v", Type: inner.DataType(), Nullable: true}), 8, []*memory.Buffer{nil}, []arrow.ArrayData{inner.Data()}, 0, 0))
			for _, arr := range []arrow.Array{lists, views, fixed, records} {
				checkColumn(t, arr)
				taken, err := arrowutil.Take(memory.DefaultAllocator, arr, []int64{3, 0, 2, 3})
				require.NoError(t, err)
				for i, k := range []int64{3, 0, 2, 3} {
					require.Equal(t, -1, arrowutil.Difference(array.NewSlice(arr, k, k+1), array.NewSlice(taken, int64(i), int64(i+1))), arr.DataType())
				}
			}
		}
	}
}
