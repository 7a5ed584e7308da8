package shard

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
)

// TestStrings scans strings in every layout. The values and nulls are the same.
func TestStrings(t *testing.T) {
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	wants := map[StringLayout]arrow.DataType{
		StringsPlain: arrow.BinaryTypes.String, StringsLarge: arrow.BinaryTypes.LargeString,
		StringsView: arrow.BinaryTypes.StringView, StringsDictionary: dictionary,
	}
	texts := []arrow.DataType{
		arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String},
	}
	types := append([]arrow.DataType{arrow.PrimitiveTypes.Int64}, texts...)
	types = append(types, arrow.ListOf(arrow.BinaryTypes.String), arrow.BinaryTypes.Binary)
	for _, nulls := range []float64{0, 0.3} {
		g := arrowgen.New(11)
		g.Nulls = nulls
		data := randomTable(g, types, 3000)
		few := array.NewStringBuilder(memory.DefaultAllocator)
		for i := range data.rows {
			if i%7 == 0 && nulls > 0 {
				few.AppendNull()
			} else {
				few.Append([]string{"red", "green", "blue"}[i%3])
			}
		}
		all := few.NewStringArray()
		data.columns[1] = all
		s := openTable(t, data, WriterOptions{StripeRows: 1100})
		for form, want := range wants {
			for _, where := range []filter.Expr{{}, filter.Contains(filter.Col("c1"), "e")} {
				requireLayout(t, s, len(texts), form, want, where)
			}
			requireTaken(t, s, len(texts), form, want)
		}
	}
	_, err := openTable(t, numbered(10, 2), WriterOptions{}).Reader(context.Background(), ScanOptions{Strings: 5})
	require.ErrorContains(t, err, "StringLayout(5)")
	_, err = openTable(t, numbered(10, 2), WriterOptions{}).Take(context.Background(), nil, TakeOptions{Strings: 5})
	require.ErrorContains(t, err, "StringLayout(5)")
}

// requireTaken takes rows of several stripes in a layout.
func requireTaken(t *testing.T, s *Shard, texts int, form StringLayout, want arrow.DataType) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	rows := []int64{2999, 3, 1100, 1101, 3, 0, 1500}
	plain, err := s.Take(context.Background(), rows, TakeOptions{})
	require.NoError(t, err)
	defer plain.Release()
	got, err := s.Take(context.Background(), rows, TakeOptions{Strings: form, Allocator: mem})
	require.NoError(t, err)
	for i, c := range got.Columns() {
		if i > 0 && i <= texts {
			require.True(t, arrow.TypeEqual(want, c.DataType()), "%v: %v", want, c.DataType())
		}
		require.True(t, arrow.TypeEqual(got.Schema().Field(i).Type, c.DataType()))
		for k := range rows {
			require.Equal(t, plain.Column(i).ValueStr(k), c.ValueStr(k), "row %d of column %d as %v", k, i, form)
		}
	}
	got.Release()
	if form != StringsDictionary { // Arrow's concatenation leaks these
		mem.AssertSize(t, 0)
	}
}

func requireLayout(t *testing.T, s *Shard, texts int, form StringLayout, want arrow.DataType, where filter.Expr) {
	plain, err := s.Reader(context.Background(), ScanOptions{BatchRows: 400, Filter: where})
	require.NoError(t, err)
	defer plain.Release()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	got, err := s.Reader(context.Background(), ScanOptions{BatchRows: 400, Filter: where, Strings: form, Allocator: mem})
	require.NoError(t, err)
	defer got.Release()
	rows := int64(0)
	for plain.Next() {
		require.True(t, got.Next(), "%v", got.Err())
		a, b := plain.RecordBatch(), got.RecordBatch()
		rows += b.NumRows()
		require.True(t, got.Schema().Equal(b.Schema()))
		for i, c := range b.Columns() {
			switch {
			case i == 0 || i > texts+1:
				require.True(t, arrow.TypeEqual(a.Column(i).DataType(), c.DataType()))
			case i <= texts:
				require.True(t, arrow.TypeEqual(want, c.DataType()), "%v: %v", want, c.DataType())
			default:
				require.True(t, arrow.TypeEqual(want, c.DataType().(*arrow.ListType).Elem()))
			}
			require.Equal(t, a.Column(i).NullN(), c.NullN())
			for k := range c.Len() {
				require.Equal(t, a.Column(i).ValueStr(k), c.ValueStr(k), "row %d of column %d as %v", k, i, form)
			}
		}
	}
	require.False(t, got.Next())
	require.NoError(t, got.Err())
	require.Positive(t, rows)
}
