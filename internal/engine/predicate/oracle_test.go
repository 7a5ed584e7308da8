package predicate_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/compute"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/filtertest"
)

// randomBatch returns columns of random types, most of them slices of longer arrays.
func randomBatch(r *rand.Rand) arrow.RecordBatch {
	types := arrowgen.Types()
	fields := make([]arrow.Field, 1+r.IntN(4))
	for i := range fields {
		fields[i] = arrow.Field{Name: fmt.Sprintf("c%d", i), Type: types[r.IntN(len(types))], Nullable: true}
		if i > 0 && r.IntN(4) == 0 {
			fields[i].Type = fields[0].Type // columns to compare
		}
	}
	g := arrowgen.New(r.Uint64())
	g.Wide = bits.UintSize == 64 // arrow-go cannot make wide decimals of 32-bit words
	g.Nulls = []float64{0, 0.1, 0.9, 1}[r.IntN(4)]
	n := []int{0, 1, 63, 64, 65, 300}[r.IntN(6)]
	from, behind := r.IntN(70), r.IntN(20)
	batch := g.Batch(arrow.NewSchema(fields, nil), from+n+behind)
	return batch.NewSlice(int64(from), int64(from+n))
}

func selectedRows(t *testing.T, e filter.Expr, batch arrow.RecordBatch) []int64 {
	t.Helper()
	b, err := compute.Condition(e.Node(), batch.Schema())
	require.NoError(t, err, "%s on %s", e, batch.Schema())
	set, err := b.Select(batch)
	require.NoError(t, err, "%s on %s", e, batch.Schema())
	out := []int64{}
	for row := range set.Rows() {
		out = append(out, row)
	}
	return out
}

// Conditions, and conditions parsed from their text, are true for the rows of an independent evaluation.
func TestEvalAgainstOracle(t *testing.T) {
	met := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 7))
		batch := randomBatch(r)
		g := filtertest.New(seed, batch)
		g.Computed = seed%2 == 0
		for range 12 {
			e, oracle := g.Condition()
			want := oracle.Rows(int(batch.NumRows()))
			got := selectedRows(t, e, batch)
			require.Equal(t, want, got, "seed %d: %s on %s", seed, e, batch.Schema())
			met += len(want)

			again, err := filter.Parse(e.String())
			require.NoError(t, err, "%s", e)
			require.Equal(t, e.String(), again.String())
			require.Equal(t, want, selectedRows(t, again, batch), "%s", e)
		}
	}
	require.Greater(t, met, 50_000) // some conditions match rows
}
