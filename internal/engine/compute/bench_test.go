package compute_test

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// BenchmarkEval evaluates expressions on batches of 32 Ki rows.
func BenchmarkEval(b *testing.B) {
	const rows = 1 << 15
	s := arrow.NewSchema([]arrow.Field{
		{Name: "day", Type: arrow.FixedWidthTypes.Date32}, {Name: "at", Type: arrow.FixedWidthTypes.Timestamp_us}, {Name: "i", Type: arrow.PrimitiveTypes.Int64},
		{Name: "f", Type: arrow.PrimitiveTypes.Float64}, {Name: "s", Type: arrow.BinaryTypes.String}, {Name: "local", Type: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "Europe/Berlin"}},
	}, nil)
	r := rand.New(rand.NewPCG(1, 1))
	builder := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for range rows {
		at := 1e15 + r.Int64N(1e15)
		builder.Field(0).(*array.Date32Builder).Append(arrow.Date32(10_000 + r.IntN(10_000)))
		builder.Field(1).(*array.TimestampBuilder).Append(arrow.Timestamp(at))
		builder.Field(2).(*array.Int64Builder).Append(r.Int64N(1000))
		builder.Field(3).(*array.Float64Builder).Append(r.Float64())
		builder.Field(4).(*array.StringBuilder).Append([]string{"Albany", "Boston", "Chicago"}[r.IntN(3)])
		builder.Field(5).(*array.TimestampBuilder).Append(arrow.Timestamp(at))
	}
	batch := builder.NewRecordBatch()
	for _, expression := range []string{"year(day)", "month(day)", "year(at)", "hour(at)", "hour(local)", "date(at)", "date_trunc('month', at)", "i + 1", "i * i", "i // 7", "f * 1.5", "i / f", "i = f", "lower(s)", "if(i > 500, i, 0)"} {
		b.Run(expression, func(b *testing.B) {
			v, err := bind(b, expression, s)
			require.NoError(b, err)
			b.SetBytes(rows) // MB/s are millions of values a second
			for b.Loop() {
				arr, err := v.Eval(memory.DefaultAllocator, batch)
				require.NoError(b, err)
				arr.Release()
			}
		})
	}
}
