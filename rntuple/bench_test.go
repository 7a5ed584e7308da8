package rntuple

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// collisions is a batch like those of an analysis: numbers of an event, and vectors of its particles.
func collisions(rows int) arrow.RecordBatch {
	vector := arrow.ListOfNonNullable(arrow.PrimitiveTypes.Float32)
	s := arrow.NewSchema([]arrow.Field{
		{Name: "run", Type: arrow.PrimitiveTypes.Uint32}, {Name: "event", Type: arrow.PrimitiveTypes.Uint64}, {Name: "met", Type: arrow.PrimitiveTypes.Float64},
		{Name: "pt", Type: vector}, {Name: "eta", Type: vector}, {Name: "phi", Type: vector}, {Name: "charge", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32)},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	r := rand.New(rand.NewPCG(1, 2))
	for i := range rows {
		b.Field(0).(*array.Uint32Builder).Append(uint32(1000 + i/100_000))
		b.Field(1).(*array.Uint64Builder).Append(uint64(i))
		b.Field(2).(*array.Float64Builder).Append(30 * r.ExpFloat64())
		n := r.IntN(8)
		for f := 3; f < 7; f++ {
			l := b.Field(f).(*array.ListBuilder)
			l.Append(true)
			for range n {
				switch v := l.ValueBuilder().(type) {
				case *array.Float32Builder:
					v.Append(float32(r.NormFloat64()))
				case *array.Int32Builder:
					v.Append(int32(1 - 2*r.IntN(2)))
				}
			}
		}
	}
	return b.NewRecordBatch()
}

func BenchmarkWrite(b *testing.B) {
	batch := collisions(200_000)
	var arrowBytes int64
	for _, c := range batch.Columns() {
		arrowBytes += int64(c.Data().SizeInBytes())
	}
	for _, compression := range []int{NoCompression, 501, 505, 404, 101} {
		for _, parallelism := range []int{1, 2} {
			b.Run(fmt.Sprintf("%d/%d", compression, parallelism), func(b *testing.B) {
				b.SetBytes(arrowBytes)
				b.ReportAllocs()
				for b.Loop() {
					w, err := NewWriter(b.Context(), io.Discard, batch.Schema(), WriterOptions{Compression: compression, Parallelism: parallelism})
					require.NoError(b, err)
					require.NoError(b, w.Write(b.Context(), batch))
					require.NoError(b, w.Close(b.Context()))
				}
				var out bytes.Buffer
				w, err := NewWriter(b.Context(), &out, batch.Schema(), WriterOptions{Compression: compression})
				require.NoError(b, err)
				require.NoError(b, w.Write(b.Context(), batch))
				require.NoError(b, w.Close(b.Context()))
				b.ReportMetric(float64(out.Len())/float64(arrowBytes), "ratio")
			})
		}
	}
}
