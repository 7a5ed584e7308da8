package aggregate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// Keys that other keys determine, and sums of x + 1, are computed of groups. Results are those of the same values computed of rows, as casts of columns are.
func TestComputedOfGroups(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "i", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "u", Type: arrow.PrimitiveTypes.Uint8, Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "f", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil)
	r := rand.New(rand.NewPCG(1, 7))
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	var batches []arrow.RecordBatch
	for range 3 {
		for range 500 {
			for k := range 4 {
				if r.IntN(9) == 0 {
					b.Field(k).AppendNull()
					continue
				}
				switch f := b.Field(k).(type) {
				case *array.Int32Builder:
					f.Append([]int32{-1 << 31, 1<<31 - 1, r.Int32N(40)}[r.IntN(3)])
				case *array.Uint8Builder:
					f.Append(uint8(r.IntN(256)))
				case *array.StringBuilder:
					f.Append(fmt.Sprint("Ab", r.IntN(6)))
				case *array.Float64Builder:
					f.Append([]float64{0, math.Copysign(0, -1), 1}[r.IntN(3)])
				}
			}
		}
		batches = append(batches, b.NewRecordBatch())
	}
	texts := func(keys, calls string, memory int64) map[string]int {
		out := map[string]int{}
		for _, b := range runQuery(t, keys, calls, batches, Options{Memory: memory, TempDir: t.TempDir()}) {
			for i := range int(b.NumRows()) {
				row := ""
				for _, c := range b.Columns() {
					row += c.ValueStr(i) + "|"
				}
				out[row]++
			}
		}
		return out
	}
	for _, c := range [][2]string{
		{"i, 1, i - 1, s, lower(s), u", "i::int64, 1, i::int64 - 1, coalesce(s), lower(coalesce(s)), u::int32"},
		{"i * 2, s, if(i > 3 and s is not null, s, '-'), i", "i::int64 * 2, s, if(i::int64 > 3 and s is not null, coalesce(s), '-'), i::int64"},
		{"f, f + 0", "f, f::float64 + 0"},
		{"1", "1::int64"},
	} {
		for _, calls := range [][2]string{
			{"count(), sum(i + 1), sum(i - 7), avg(3 + i), avg(i)", "count(), sum(i::int64 + 1), sum(i::int64 - 7), avg(3 + i::int64), avg(i::int64)"},
			{"sum(u + 2147483647), sum(u - 1) filter (where i > 5), sum(distinct u + 1), sum(u)", "sum(u::int64 + 2147483647), sum(u::int64 - 1) filter (where i > 5), sum(distinct u::int64 + 1), sum(u)"},
		} {
			for _, memory := range []int64{0, 1 << 16} {
				got, want := texts(c[0], calls[0], memory), texts(c[1], calls[1], 0)
				require.Equal(t, want, got, "%s, %s", c[0], calls[0])
			}
		}
	}
}
