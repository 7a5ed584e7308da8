package arrowtest

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// Malformed lists arrays whose buffers contradict each other, of every layout that refers to values elsewhere, and such arrays in nested
// ones. A writer that reads one before it checks it panics, or writes values that nobody gave it.
func Malformed() map[string]arrow.Array {
	number, none := arrow.PrimitiveTypes.Int32, []*memory.Buffer{nil}
	all := map[string]arrow.Array{
		"validity of too few slots":    leaf(number, 20, memory.NewBufferBytes([]byte{0x0f}), words(make([]int32, 20)...)),
		"bits of too few slots":        leaf(arrow.FixedWidthTypes.Boolean, 40, nil, words(1)),
		"offset beyond the data":       texts(0, 1<<20, 5),
		"offset that falls":            texts(0, 3, 2, 5),
		"negative offset":              texts(-1, 2, 5),
		"offsets that overflow":        texts(0, 1<<31-1, -1<<31, -1, 5),
		"large offset beyond the data": leaf(arrow.BinaryTypes.LargeString, 2, nil, longs(0, 1<<40, 5), letters),
		"view beyond the data":         leaf(arrow.BinaryTypes.BinaryView, 2, nil, words(1, 0, 0, 0, 20, 0, 0, 3), letters),
		"view of a missing buffer":     leaf(arrow.BinaryTypes.StringView, 1, nil, words(20, 0, 7, 0), letters),
		"view of negative length":      leaf(arrow.BinaryTypes.StringView, 1, nil, words(-4, 0, 0, 0), letters),

		"list beyond its items":       lists(arrow.ListOf(number), words(0, 3, 6)),
		"list far beyond its items":   lists(arrow.ListOf(number), words(0, 1<<20, 5)),
		"list that falls":             lists(arrow.ListOf(number), words(2, 1, 3)),
		"large list beyond its items": lists(arrow.LargeListOf(number), longs(0, 1<<40, 3)),
		"list view beyond its items":  lists(arrow.ListViewOf(number), words(0, 2), words(2, 1<<20)),
		"list view of negative size":  lists(arrow.ListViewOf(number), words(0, 2), words(2, -1)),
		"large list view beyond":      lists(arrow.LargeListViewOf(number), longs(0, 1<<40), longs(2, 1)),
		"too few items":               lists(arrow.FixedSizeListOf(3, number)),

		"index beyond the dictionary": coded(texts(0, 1, 2, 3), 0, 99, 1),
		"negative index":              coded(texts(0, 1, 2, 3), 0, -1, 1),
		"index of a malformed text":   coded(texts(0, 1<<20, 5), 0, 1),
		"run end that falls":          runs(5, 3, 2, 5),
		"too few runs":                runs(6, 1, 2, 5),
		"too few values of runs":      runs(6, 1, 2, 4, 6),
	}
	entries := arrow.StructOf(arrow.Field{Name: "key", Type: number}, arrow.Field{Name: "value", Type: number, Nullable: true})
	pairs := nested(entries, 3, none, numbers(1, 2, 3), numbers(4, 5, 6))
	all["map beyond its entries"] = nested(arrow.MapOf(number, number), 2, []*memory.Buffer{nil, words(0, 1<<20, 3)}, pairs)

	kinds := []arrow.Field{{Name: "a", Type: number, Nullable: true}, {Name: "b", Type: number, Nullable: true}}
	sparse, dense := arrow.SparseUnionOf(kinds, []arrow.UnionTypeCode{0, 1}), arrow.DenseUnionOf(kinds, []arrow.UnionTypeCode{0, 1})
	ids := memory.NewBufferBytes([]byte{0, 1, 9})
	all["type code that a sparse union lacks"] = nested(sparse, 3, []*memory.Buffer{nil, ids}, numbers(1, 2, 3), numbers(4, 5, 6))
	ids = memory.NewBufferBytes([]byte{0, 1, 1})
	all["dense union beyond its values"] = nested(dense, 3, []*memory.Buffer{nil, ids, words(0, 0, 1<<20)}, numbers(1, 2, 3), numbers(4, 5, 6))

	for _, name := range []string{"offset beyond the data", "list far beyond its items", "index beyond the dictionary", "too few values of runs"} {
		a := all[name]
		all[name+" in a struct"] = nested(arrow.StructOf(arrow.Field{Name: "f", Type: a.DataType(), Nullable: true}), a.Len(), none, a)
		all[name+" in a list"] = nested(arrow.ListOf(a.DataType()), 2, []*memory.Buffer{nil, words(0, 1, int32(a.Len()))}, a)
	}
	return all
}

var letters = memory.NewBufferBytes([]byte("abcde"))

func words(v ...int32) *memory.Buffer { return memory.NewBufferBytes(arrowutil.Bytes(v)) }
func longs(v ...int64) *memory.Buffer { return memory.NewBufferBytes(arrowutil.Bytes(v)) }

func leaf(dt arrow.DataType, n int, buffers ...*memory.Buffer) arrow.Array {
	nulls := 0
	if buffers[0] != nil {
		nulls = array.UnknownNullCount
	}
	return array.MakeFromData(array.NewData(dt, n, buffers, nil, nulls, 0))
}

func nested(dt arrow.DataType, n int, buffers []*memory.Buffer, children ...arrow.Array) arrow.Array {
	data := make([]arrow.ArrayData, len(children))
	for i, c := range children {
		data[i] = c.Data()
	}
	return array.MakeFromData(array.NewData(dt, n, buffers, data, 0, 0))
}

func numbers(v ...int32) arrow.Array {
	return leaf(arrow.PrimitiveTypes.Int32, len(v), nil, words(v...))
}

func texts(o ...int32) arrow.Array {
	return leaf(arrow.BinaryTypes.Binary, len(o)-1, nil, words(o...), letters)
}

// lists are two lists over three items.
func lists(dt arrow.DataType, buffers ...*memory.Buffer) arrow.Array {
	return nested(dt, 2, append([]*memory.Buffer{nil}, buffers...), numbers(1, 2, 3))
}

func coded(values arrow.Array, codes ...int32) arrow.Array {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: values.DataType()}
	return array.MakeFromData(array.NewDataWithDictionary(dt, len(codes), []*memory.Buffer{nil, words(codes...)}, 0, 0, values.Data().(*array.Data)))
}

// runs are n slots of three values.
func runs(n int, ends ...int32) arrow.Array {
	dt := arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int32)
	return nested(dt, n, []*memory.Buffer{nil}, numbers(ends...), numbers(1, 2, 3))
}
