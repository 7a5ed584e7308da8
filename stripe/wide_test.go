package stripe_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/arrowmap"
	"github.com/amudai/amudai-go/internal/arrowgen"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/stripe"
)

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
		w, err := stripe.NewWriter(cols, stripe.Options{Budget: storage.NewBudget(1 << 30)})
		require.NoError(b, err)
		require.NoError(b, w.Write(ctx, batch.Columns(), rows))
		f, err := w.Finish(ctx)
		require.NoError(b, err)
		f.Release()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/columns, "ns/column")
}
