package dictionary

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLog2(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 5, 1000, 1 << 20, 1<<20 + 1, 1<<40 - 1, math.MaxUint64} {
		require.InDelta(t, math.Log2(float64(n)), float64(log2(n))/(1<<logBits), 1.0/(1<<logBits), "%d", n)
	}
}

// Eight values that are as frequent as each other take three bits, whatever their codes; with one of them in most rows much less.
func TestSkewed(t *testing.T) {
	add := func(rows, often int) *Builder {
		b := NewBuilder(typeString, 0)
		for i := range rows {
			b.Add(fmt.Appendf(nil, "value %d", i%8))
		}
		for range often {
			b.Add([]byte("value 3"))
		}
		return b
	}
	require.False(t, add(80_000, 0).Skewed())
	require.False(t, add(80_000, 40_000).Skewed())
	require.True(t, add(8000, 100_000).Skewed())
	require.False(t, add(8000, 30_000).Skewed()) // few rows
	require.False(t, NewBuilder(typeString, 0).Skewed())
}

// Ids by frequency have the order of their counts, and equal ones that of their first appearance.
func TestFrequentFirst(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	b := NewBuilder(typeString, 0)
	for i := range 3000 {
		b.counts[b.Add(fmt.Appendf(nil, "%d", i))] += 1<<rnd.IntN(36) + rnd.Int64N(3)
	}
	order := b.frequentFirst()
	require.True(t, slices.IsSortedFunc(order, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(b.counts[y], b.counts[x]), cmp.Compare(x, y))
	}))
	slices.Sort(order)
	for i, id := range order {
		require.EqualValues(t, i, id)
	}
}
