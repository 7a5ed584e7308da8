package stripe_test

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/microbench"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
	"github.com/amudai/amudai-go/storage"
)

// idsBatch has some distinct numbers of 64 bits in random order, or nearly as many as rows.
func idsBatch(rows, distinct int) arrow.RecordBatch {
	s := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}}, nil)
	r := rand.New(rand.NewPCG(1, uint64(distinct)))
	pool, ids := make([]int64, distinct), make([]int64, rows)
	for i := range pool {
		pool[i] = int64(r.Uint64())
	}
	for i := range ids {
		ids[i] = pool[r.IntN(distinct)]
	}
	arr := arrowutil.Make(s.Field(0).Type, rows, []*memory.Buffer{nil, memory.NewBufferBytes(arrowutil.Bytes(ids))}, nil, 0)
	return array.NewRecordBatch(s, []arrow.Array{arr}, int64(rows))
}

// BenchmarkNumberDictionaries writes a stripe of a column with some distinct numbers, reads it, and takes rows of it, with value dictionaries and without.
func BenchmarkNumberDictionaries(b *testing.B) {
	const rows = 1 << 20
	all := edition.E2026.Features()
	for name, distinct := range map[string]int{"300": 300, "1000": 1000, "20000": 20_000, "unique": 16 * rows} {
		batch := idsBatch(rows, distinct)
		_, columns, err := arrowmap.FromArrow(batch.Schema(), arrowmap.Options{})
		require.NoError(b, err)
		for form, features := range map[string]edition.Set{"values": all &^ edition.Only(edition.NumberDictionaries), "codes": all} {
			o := write.Options{Parallelism: 1, Budget: storage.NewBudget(1 << 30), Encoding: encoding.Options{Features: features}}
			b.Run("write/"+name+"/"+form, func(b *testing.B) {
				microbench.Output(b, 8*rows)
				for b.Loop() {
					w, err := write.NewWriter(columns, o)
					require.NoError(b, err)
					require.NoError(b, w.Write(b.Context(), batch.Columns(), rows))
					f, err := w.Finish(b.Context())
					require.NoError(b, err)
					f.Release()
				}
			})
			a, columns := writeStripe(b, batch.Schema(), []arrow.RecordBatch{batch}, o)
			c, err := openColumn(b.Context(), a, columns[0], nil)
			require.NoError(b, err)
			few := make([]byte, rows/8)
			for i := range 1000 {
				bitmap.SetRange(few, i*1031%rows, 1)
			}
			for what, set := range map[string]rowset.Set{"read": rowset.All(rows), "take": rowset.FromBits(few, 0, rows, 0)} {
				b.Run(what+"/"+name+"/"+form, func(b *testing.B) {
					b.ReportMetric(float64(len(a.bytes)), "size")
					microbench.Output(b, 8*int(set.Len()))
					for b.Loop() {
						arr, err := c.ReadRows(b.Context(), set)
						require.NoError(b, err)
						arr.Release()
					}
				})
			}
		}
	}
}
