package shard

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
)

// TestDecimals64 scans decimals with 64 bits: all rows, and some. The numbers and nulls are the same. Decimals of more digits keep
// their type.
func TestDecimals64(t *testing.T) {
	types := []arrow.DataType{
		arrow.PrimitiveTypes.Int64, &arrow.Decimal128Type{Precision: 15, Scale: 2}, &arrow.Decimal128Type{Precision: 18, Scale: -1},
		&arrow.Decimal128Type{Precision: 19, Scale: 2}, arrow.PrimitiveTypes.Int32,
	}
	for _, nulls := range []float64{0, 0.3} {
		for seed := range uint64(6) {
			g := arrowgen.New(seed)
			g.Nulls = nulls
			s := openTable(t, randomTable(g, types, 3000), WriterOptions{StripeRows: 1100})
			for _, o := range []ScanOptions{
				{}, {Rows: []RowRange{{From: 7, To: 100}, {From: 1000, To: 1300}, {From: 2001, To: 2002}}}, {Filter: filter.Not(filter.IsNull(filter.Col("c4")))},
				{BatchRows: 70},
			} {
				want := array.NewTableFromRecords(scanSchema(t, s, o), scanBatches(t, s, o))
				o.Decimals64 = []string{"c1", "c2", "c3", "c4"}
				got := array.NewTableFromRecords(scanSchema(t, s, o), scanBatches(t, s, o))
				for i, id := range []arrow.Type{arrow.INT64, arrow.DECIMAL64, arrow.DECIMAL64, arrow.DECIMAL128, arrow.INT32} {
					require.Equal(t, id, got.Column(i).DataType().ID())
					require.Equal(t, chunkTexts(want.Column(i)), chunkTexts(got.Column(i)))
				}
			}
		}
	}
}

func scanBatches(t *testing.T, s *Shard, o ScanOptions) (out []arrow.RecordBatch) {
	for b, err := range s.Scan(t.Context(), o) {
		require.NoError(t, err)
		b.Retain()
		out = append(out, b.RecordBatch)
	}
	return out
}

func scanSchema(t *testing.T, s *Shard, o ScanOptions) *arrow.Schema {
	r, err := s.Reader(t.Context(), o)
	require.NoError(t, err)
	defer r.Release()
	return r.Schema()
}

// chunkTexts are the values of a column as text.
func chunkTexts(c *arrow.Column) (out []string) {
	for _, chunk := range c.Data().Chunks() {
		for i := range chunk.Len() {
			out = append(out, chunk.ValueStr(i))
		}
	}
	return out
}
