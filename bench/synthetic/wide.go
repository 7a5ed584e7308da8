// Package synthetic makes tables with the shapes of real ones: orders with nested items, events of particles, and very wide tables.
package synthetic

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/bench/suite"
)

// Wide makes columns of integers, floats and strings in turn.
func Wide(d *suite.Dataset, columns, rows int) {
	words := []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"}
	rnd := rand.New(rand.NewPCG(50, 100))
	fields := make([]arrow.Field, columns)
	arrays := make([]arrow.Array, columns)
	types := []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String}
	for i := range fields {
		fields[i] = arrow.Field{Name: fmt.Sprintf("col_%05d", i), Type: types[i%3], Nullable: true}
		b := array.NewBuilder(memory.DefaultAllocator, types[i%3])
		for range rows {
			switch b := b.(type) {
			case *array.Int64Builder:
				b.Append(int64(rnd.IntN(100_000) + i))
			case *array.Float64Builder:
				b.Append(math.Round(100_000+15_000*rnd.NormFloat64()) / 1000)
			case *array.StringBuilder:
				b.Append(fmt.Sprintf("%s-%d", words[rnd.IntN(8)], rnd.IntN(50)))
			}
		}
		arrays[i] = b.NewArray()
		b.Release()
	}
	d.Schema = arrow.NewSchema(fields, nil)
	d.Batches = []arrow.RecordBatch{array.NewRecordBatch(d.Schema, arrays, int64(rows))}
}
