package shard

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/filtertest"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// spread returns data whose rows repeat those of another table: shuffled, in runs, and sorted by row number. Its
// columns get blocks of any length in every encoding.
func spread(t require.TestingT, r *rand.Rand, from table, rows int) table {
	out := table{schema: from.schema, rows: rows}
	for _, c := range from.columns {
		indices := make([]int64, rows)
		at, run := int64(0), []int{1, 1, 30, 4000}[r.IntN(4)]
		for i := range indices {
			if r.IntN(run) == 0 {
				at = r.Int64N(int64(from.rows))
			}
			indices[i] = at
		}
		if r.IntN(4) == 0 {
			slices.Sort(indices)
		}
		taken, err := arrowutil.Take(memory.DefaultAllocator, c, indices)
		require.NoError(t, err)
		out.columns = append(out.columns, taken)
	}
	return out
}

// TestFilterAcrossBlocks scans columns of several blocks, short ones and those of 64 Ki values, in every profile.
// The rows must be those that the filter selects in the table itself.
func TestFilterAcrossBlocks(t *testing.T) {
	ctx := context.Background()
	types := arrowgen.Types()
	seeds := uint64(sweep.Count(3, 10))
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 11))
		g := arrowgen.New(seed)
		g.Nulls = []float64{0, 0.01, 0.5}[r.IntN(3)]
		chosen := []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, types[r.IntN(len(types))], types[r.IntN(len(types))]}
		base := randomTable(g, chosen, 2+r.IntN(1500))
		data := spread(t, r, base, 70_000+r.IntN(90_000))
		location := filepath.Join(t.TempDir(), "s")
		o := WriterOptions{Edition: editionFor(chosen, []edition.Edition{edition.Reference, edition.E2026}[r.IntN(2)]), Profile: encoding.Profile(seed % 5), StripeRows: []int64{0, 50_000}[r.IntN(2)]}
		writeTable(t, location, data, o, 40_000)
		s, err := Open(ctx, location, OpenOptions{})
		require.NoError(t, err)
		conditions := filtertest.New(seed, base.batch(0, base.rows))
		all := data.batch(0, data.rows)
		for range 5 {
			e, _ := conditions.Condition()
			bound, err := predicate.Bind(e.Node(), data.schema)
			require.NoError(t, err)
			set, err := bound.Select(all)
			require.NoError(t, err)
			want := slices.Collect(set.Rows())
			for range 2 {
				requireRows(t, s, data, want, ScanOptions{
					Filter: e, Disable: Sources(r.IntN(16)), Parallelism: 1 + r.IntN(3), AsReady: r.IntN(2) == 0,
					BatchRows: []int{0, 0, 7000, 20_000}[r.IntN(4)], FetchGap: []int64{0, DefaultFetchGap}[r.IntN(2)],
					MemoryLimit: []int64{0, limitAlone(7000, len(chosen))}[r.IntN(2)],
				})
			}
			n, err := s.Count(ctx, e)
			require.NoError(t, err)
			require.EqualValues(t, len(want), n, "%v", e)
		}
		all.Release()
		require.NoError(t, s.Close())
	}
}
