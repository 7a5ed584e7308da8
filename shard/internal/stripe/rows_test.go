package stripe_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
)

// randomRows returns a random set of n rows, in runs of a given length.
func randomRows(r *rand.Rand, n int64, chance float64, run int64) (set rowset.Set, rows []int64) {
	var ranges []rowset.Range
	for i := int64(0); i < n; {
		if r.Float64() >= chance {
			i++
			continue
		}
		end := min(n, i+1+r.Int64N(run))
		ranges = append(ranges, rowset.Range{From: i, To: end})
		for ; i < end; i++ {
			rows = append(rows, i)
		}
		i++ // adjacent runs are one range
	}
	return rowset.Of(ranges...), rows
}

// ReadRows agrees with the rows of Read, for every type and density.
func TestReadRows(t *testing.T) {
	ctx := context.Background()
	for k, dt := range arrowgen.Types() {
		t.Run(dt.String(), func(t *testing.T) {
			s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: dt, Nullable: true}}, nil)
			for seed := range uint64(3) {
				if testing.Short() && seed != uint64(k%3) {
					continue // enough for the race detector
				}
				g := arrowgen.New(seed)
				g.Nulls = []float64{0.1, 0, 0.9}[seed]
				n := []int{5000, 700, 1}[seed]
				a, columns := writeStripe(t, s, []arrow.RecordBatch{g.Batch(s, n), g.Batch(s, n)}, write.Options{})
				mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
				c, err := openColumn(ctx, a, columns[0], mem)
				require.NoError(t, err)
				plain, err := openColumn(ctx, a, columns[0], nil)
				require.NoError(t, err)
				all, err := plain.Read(ctx, 0, int64(2*n)) // Arrow's concatenation leaks dictionaries
				require.NoError(t, err)
				r := rand.New(rand.NewPCG(seed, uint64(k)))
				for _, shape := range []struct {
					chance float64
					run    int64
				}{{0, 1}, {0.0005, 1}, {0.002, 2}, {0.02, 40}, {0.3, 3}, {0.9, 2}, {1, 1}, {0.01, 4000}, {1, 1 << 40}} {
					requireRows(t, c, all, r, shape.chance, shape.run)
				}
				all.Release()
				mem.AssertSize(t, 0)
			}
		})
	}
}

func requireRows(t *testing.T, c *testColumn, all arrow.Array, r *rand.Rand, chance float64, run int64) {
	set, rows := randomRows(r, int64(all.Len()), chance, run)
	got, err := c.ReadRows(context.Background(), set)
	require.NoError(t, err)
	defer got.Release()
	require.True(t, arrow.TypeEqual(all.DataType(), got.DataType()))
	require.Equal(t, len(rows), got.Len())
	if len(rows) == 0 {
		return
	}
	want, err := arrowutil.Take(memory.DefaultAllocator, all, rows)
	require.NoError(t, err)
	require.Equal(t, -1, arrowutil.Difference(want, got), "rows %v", set)
}

// Rows beyond the column are refused.
func TestReadNoRows(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	a, columns := writeStripe(t, s, []arrow.RecordBatch{arrowgen.New(1).Batch(s, 100)}, write.Options{})
	c, err := openColumn(context.Background(), a, columns[0], nil)
	require.NoError(t, err)
	for _, rows := range []rowset.Range{{From: -1, To: 3}, {From: -1, To: 0}, {From: 90, To: 101}, {From: 100, To: 101}, {From: 1 << 40, To: 1 << 50}} {
		set := rowset.Of(rows, rowset.Range{From: 5, To: 9})
		_, err := c.ReadRows(context.Background(), set)
		require.Error(t, err, set)
	}
}
