package aggregate

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// Sums are exact, however large integers are.
func TestSumsOfAnySize(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 8))
		edges := []int64{0, laneValue - 1, -laneValue, laneValue, -laneValue - 1, math.MaxInt64, math.MinInt64}[:3+r.IntN(5)]
		s := &sums{}
		s.grow(3)
		want := [4]*big.Int{new(big.Int), new(big.Int), new(big.Int), new(big.Int)}
		for range 4 {
			b := array.NewInt64Builder(memory.DefaultAllocator)
			groups := make([]uint32, r.IntN(50))
			for i := range groups {
				v := edges[r.IntN(len(edges))]
				groups[i] = uint32(r.IntN(4))
				b.Append(v)
				want[groups[i]].Add(want[groups[i]], big.NewInt(v))
			}
			arg := &argument{name: "x", needs: needIntegers}
			require.NoError(t, arg.load(memory.DefaultAllocator, b.NewArray()))
			require.NoError(t, s.add(groups, arg))
		}
		for g, w := range want {
			require.Equal(t, w.String(), decimal128.New(s.n[g].hi, s.n[g].lo).BigInt().String())
		}
	}
}
