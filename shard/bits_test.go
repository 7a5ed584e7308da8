package shard

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// A float is its bits: zeros with and without sign, and NaNs of different payloads.
var distinctFloats = []uint64{
	0x7ff8000000000001, 0xfff8000000000000, 0x7ff0000000000000, 0x7ff8dead00000000, 0x8000000000000000, 0, 0xfff4000000000002,
}

// wrappedFloats makes a table of a row number and of floats in dictionaries and runs below lists
// and structs.
func wrappedFloats(rows int) table {
	f64 := arrow.PrimitiveTypes.Float64
	fixed := func(dt arrow.DataType, values []byte, n int) arrow.Array {
		return arrowutil.Make(dt, n, []*memory.Buffer{nil, memory.NewBufferBytes(values)}, nil, 0)
	}
	r := rand.New(rand.NewPCG(3, 4))
	n := 2 * rows
	codes, words, ends, offsets, ids := make([]int32, n), make([]uint64, n), make([]int32, n), make([]int32, rows+1), make([]int64, rows)
	for i := range n {
		codes[i] = r.Int32N(int32(len(distinctFloats)))
		words[i], ends[i] = distinctFloats[codes[i]], int32(i+1)
	}
	for i := range rows {
		offsets[i+1], ids[i] = int32(2*i+2), int64(i)
	}
	dictionary := array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: f64},
		fixed(arrow.PrimitiveTypes.Int32, arrowutil.Bytes(codes), n), fixed(f64, arrowutil.Bytes(distinctFloats), len(distinctFloats)))
	runs := array.NewRunEndEncodedArray(fixed(arrow.PrimitiveTypes.Int32, arrowutil.Bytes(ends), n), fixed(f64, arrowutil.Bytes(words), n), n, 0)
	columns := []arrow.Array{fixed(arrow.PrimitiveTypes.Int64, arrowutil.Bytes(ids), rows)}
	for _, items := range []arrow.Array{dictionary, runs} {
		record := func(a arrow.Array) arrow.Array {
			dt := arrow.StructOf(arrow.Field{Name: "v", Type: a.DataType(), Nullable: true})
			return arrowutil.Make(dt, a.Len(), []*memory.Buffer{nil}, []arrow.ArrayData{a.Data()}, 0)
		}
		list := func(a arrow.Array) arrow.Array {
			return arrowutil.Make(arrow.ListOf(a.DataType()), rows, []*memory.Buffer{nil, memory.NewBufferBytes(arrowutil.Bytes(offsets))}, []arrow.ArrayData{a.Data()}, 0)
		}
		pairs := arrowutil.Make(arrow.FixedSizeListOf(2, items.DataType()), rows, []*memory.Buffer{nil}, []arrow.ArrayData{items.Data()}, 0)
		columns = append(columns, record(array.NewSlice(items, 0, int64(rows))), list(items), record(list(items)), list(record(items)), pairs)
	}
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: string(rune('a' + i)), Type: c.DataType(), Nullable: true}
	}
	return table{arrow.NewSchema(fields, nil), columns, rows}
}

// appendFloatBits appends the bits of the floats in row i.
func appendFloatBits(dst []uint64, arr arrow.Array, i int) []uint64 {
	switch a := arr.(type) {
	case *array.Float64:
		return append(dst, math.Float64bits(a.Value(i)))
	case *array.Dictionary:
		return appendFloatBits(dst, a.Dictionary(), a.GetValueIndex(i))
	case *array.RunEndEncoded:
		return appendFloatBits(dst, a.Values(), a.GetPhysicalIndex(i))
	case *array.Struct:
		return appendFloatBits(dst, a.Field(0), i)
	case array.ListLike:
		from, to := a.ValueOffsets(i)
		for k := from; k < to; k++ {
			dst = appendFloatBits(dst, a.ListValues(), int(k))
		}
	}
	return dst
}

// Rows of floats in dictionaries and runs below other types are taken and joined by their bits.
func TestWrappedFloatsKeepTheirBits(t *testing.T) {
	const rows = 1500
	data := wrappedFloats(rows)
	s := openTable(t, data, WriterOptions{StripeRows: 400})
	ctx := context.Background()
	compare := func(b arrow.RecordBatch, row func(i int) int) {
		for k, c := range b.Columns()[1:] {
			require.True(t, arrow.TypeEqual(data.columns[k+1].DataType(), c.DataType()))
			for i := range int(b.NumRows()) {
				want := appendFloatBits(nil, data.columns[k+1], row(i))
				require.NotEmpty(t, want)
				require.Equal(t, want, appendFloatBits(nil, c, i), "%v", c.DataType())
			}
		}
	}
	taken := []int64{1499, 3, 3, 401, 399, 1200, 7, 800, 801, 0, 1499}
	for _, parallelism := range []int{1, 2} {
		b, err := s.Take(ctx, taken, TakeOptions{Parallelism: parallelism})
		require.NoError(t, err)
		compare(b, func(i int) int { return int(taken[i]) })
		b.Release()
	}
	for _, o := range []ScanOptions{
		{BatchRows: 7},
		{BatchRows: 100, Parallelism: 1},
		{BatchRows: 50, Filter: where(t, "a in (1, 5, 9, 120, 121, 260, 399, 400, 801, 1499) or a > 1000 and a < 1100")},
	} {
		seen := 0
		for b, err := range s.Scan(ctx, o) {
			require.NoError(t, err)
			ids := b.Column(0).(*array.Int64)
			compare(b, func(i int) int { return int(ids.Value(i)) })
			seen += int(b.NumRows())
		}
		require.NotZero(t, seen)
	}
}
