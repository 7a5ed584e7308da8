package stripe_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
	"github.com/amudai/amudai-go/storage"
)

// wideBatch returns a batch of many columns of a few types.
func wideBatch(columns, rows int) arrow.RecordBatch {
	types := []arrow.DataType{
		arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Float64,
		&arrow.Decimal128Type{Precision: 12, Scale: 2}, arrow.ListOf(arrow.PrimitiveTypes.Int16), arrow.FixedWidthTypes.Date32,
	}
	var fields []arrow.Field
	var arrays []arrow.Array
	g := arrowgen.New(3)
	for i := range columns {
		fields = append(fields, arrow.Field{Name: fmt.Sprint(i), Type: types[i%len(types)], Nullable: true})
		if i < len(types) {
			arrays = append(arrays, g.Array(types[i], rows))
		} else {
			arrays = append(arrays, arrays[i-len(types)])
		}
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, int64(rows))
}

// Columns of wide stripes have shorter blocks. They come back, and their bytes do not depend on the sizes of batches.
func TestWide(t *testing.T) {
	const rows = 9000
	whole := wideBatch(1500, rows)
	var want *artifact
	for i, cuts := range [][]int64{{rows}, {1, 4095, 4096, 4097, 8192, rows}} {
		var batches []arrow.RecordBatch
		from := int64(0)
		for _, to := range cuts {
			batches = append(batches, whole.NewSlice(from, to))
			from = to
		}
		got, columns := writeStripe(t, whole.Schema(), batches, write.Options{Parallelism: 1 + 2*i})
		if want == nil {
			want = got
		}
		require.True(t, bytes.Equal(want.bytes, got.bytes), "cut at %v", cuts)
		for k := range 7 {
			c, err := openColumn(context.Background(), got, columns[k], nil)
			require.NoError(t, err)
			arr, err := c.Read(context.Background(), 0, rows)
			require.NoError(t, err)
			require.Equal(t, -1, arrowutil.Difference(whole.Column(k), arr), "column of type %v", arr.DataType())
			require.Greater(t, c.Blocks(), int64(1))
		}
	}
}

// BenchmarkWide writes a stripe of many columns and few rows.
func BenchmarkWide(b *testing.B) {
	const columns, rows = 5_000, 100
	types := []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String}
	var fields []arrow.Field
	for i := range columns {
		fields = append(fields, arrow.Field{Name: fmt.Sprint(i), Type: types[i%3], Nullable: true})
	}
	s := arrow.NewSchema(fields, nil)
	batch := arrowgen.New(3).Batch(s, rows)
	_, cols, err := arrowmap.FromArrow(s, arrowmap.Options{})
	require.NoError(b, err)
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		w, err := write.NewWriter(cols, write.Options{Budget: storage.NewBudget(1 << 30)})
		require.NoError(b, err)
		require.NoError(b, w.Write(ctx, batch.Columns(), rows))
		f, err := w.Finish(ctx)
		require.NoError(b, err)
		f.Release()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/columns, "ns/column")
}
