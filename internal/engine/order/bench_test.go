package order_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// BenchmarkSort sorts eight batches of 32 Ki rows, or finds the first ten rows, or those that differ.
func BenchmarkSort(b *testing.B) {
	const rows, batches = 32 << 10, 8
	r := rand.New(rand.NewPCG(1, 2))
	columns := map[string]func() arrow.Array{
		"int32": func() arrow.Array {
			b := array.NewInt32Builder(memory.DefaultAllocator)
			for range rows {
				b.Append(r.Int32N(100_000))
			}
			return b.NewArray()
		},
		"int64 with nulls": func() arrow.Array {
			b := array.NewInt64Builder(memory.DefaultAllocator)
			for i := range rows {
				if i%10 == 0 {
					b.AppendNull()
				} else {
					b.Append(r.Int64())
				}
			}
			return b.NewArray()
		},
		"float64": func() arrow.Array {
			b := array.NewFloat64Builder(memory.DefaultAllocator)
			for range rows {
				b.Append(r.NormFloat64())
			}
			return b.NewArray()
		},
		"string": func() arrow.Array {
			b := array.NewStringBuilder(memory.DefaultAllocator)
			for range rows {
				b.Append(fmt.Sprintf("word %d", r.IntN(20_000)))
			}
			return b.NewArray()
		},
	}
	ctx := context.Background()
	for _, name := range []string{"int32", "int64 with nulls", "float64", "string"} {
		var all []arrow.RecordBatch
		for range batches {
			arr := columns[name]()
			schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arr.DataType(), Nullable: true}}, nil)
			all = append(all, array.NewRecordBatch(schema, []arrow.Array{arr}, rows))
		}
		for _, limit := range []int64{0, 10} {
			b.Run(fmt.Sprintf("%s/limit=%d", name, limit), func(b *testing.B) {
				microbench.Output(b, 8*rows*batches)
				for b.Loop() {
					s, err := order.NewSorter(all[0].Schema(), []order.Key{{Type: all[0].Column(0).DataType()}}, order.Options{Limit: limit})
					require.NoError(b, err)
					for _, batch := range all {
						require.NoError(b, s.Add(ctx, batch, batch.Columns()))
					}
					require.NoError(b, s.Finish(ctx))
					for {
						batch, err := s.Next(ctx)
						require.NoError(b, err)
						if batch == nil {
							break
						}
						batch.Release()
					}
					require.NoError(b, s.Close())
				}
			})
		}
		b.Run(name+"/distinct", func(b *testing.B) {
			microbench.Output(b, 8*rows*batches)
			for b.Loop() {
				d, err := order.NewDistinct(all[0].Schema(), order.Options{})
				require.NoError(b, err)
				for _, batch := range all {
					out, err := d.Add(ctx, batch)
					require.NoError(b, err)
					if out != nil {
						out.Release()
					}
				}
				require.NoError(b, d.Finish(ctx))
				require.NoError(b, d.Close())
			}
		})
	}
}
