package ranks

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestSelect finds values of any rank among random, equal and sorted ones.
func TestSelect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(1, 100), rapid.IntRange(500, 5000)).Draw(t, "n")
		different := rapid.SampledFrom([]int64{1, 2, 3, 100, 1 << 62}).Draw(t, "different")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		v := make([]int64, n)
		for i := range v {
			v[i] = random.Int64N(different) - different/2
		}
		sorted := slices.Sorted(slices.Values(v))
		switch rapid.SampledFrom([]string{"random", "sorted", "reversed"}).Draw(t, "order") {
		case "sorted":
			copy(v, sorted)
		case "reversed":
			copy(v, sorted)
			slices.Reverse(v)
		}
		rank := rapid.IntRange(0, n-1).Draw(t, "rank")
		for _, selected := range []func(v []int64){
			func(v []int64) { SelectInts(v, rank) },
			func(v []int64) { Select(v, rank, cmp.Compare[int64]) },
		} {
			got := slices.Clone(v)
			selected(got)
			require.Equal(t, sorted[rank], got[rank])
			require.LessOrEqual(t, slices.Max(append(got[:rank:rank], sorted[0])), got[rank])
			require.GreaterOrEqual(t, slices.Min(append(got[rank:len(got):len(got)], got[rank])), got[rank])
			slices.Sort(got)
			require.Equal(t, sorted, got)
		}
	})
}
