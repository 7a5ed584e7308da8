package aggregate

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/column"
)

// A team counts, and sums any number of columns exactly, with large integers and nulls in some of them.
func TestTeam(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 9))
		edges := []int64{0, 7, laneValue - 1, -laneValue, laneValue, -laneValue - 1, math.MaxInt64, math.MinInt64}[:4+r.IntN(5)]
		last := 1 + r.IntN(5)
		if r.IntN(4) == 0 {
			last = teamGroups - 1 + r.IntN(2)
		}
		a := &Aggregator{o: &shared{Options: Options{Parallelism: 2}}, last: last}
		rows := &mask{}
		count := &counts{}
		a.states = append(a.states, &running{state: count, mask: rows})
		columns := make([]*argument, r.IntN(6))
		wantSums, wantRows := make([][]*big.Int, len(columns)), make([]int64, last+1)
		for i := range columns {
			columns[i] = &argument{name: "x", needs: needIntegers}
			a.states = append(a.states, &running{state: &sums{}, mask: &mask{arg: columns[i]}, arg: columns[i]})
			for range last + 1 {
				wantSums[i] = append(wantSums[i], new(big.Int))
			}
		}
		a.grow(a.last)
		for range 4 {
			n := 1 + r.IntN(50)
			a.groups = column.Resized(a.groups, n)
			for i := range a.groups {
				a.groups[i] = 1 + uint32(r.IntN(last))
				wantRows[a.groups[i]]++
			}
			for c, arg := range columns {
				b := array.NewInt64Builder(memory.DefaultAllocator)
				hasNulls := r.IntN(4) == 0
				for _, g := range a.groups {
					if hasNulls && r.IntN(3) == 0 {
						b.AppendNull()
						continue
					}
					v := edges[r.IntN(len(edges))]
					b.Append(v)
					wantSums[c][g].Add(wantSums[c][g], big.NewInt(v))
				}
				require.NoError(t, arg.load(memory.DefaultAllocator, b.NewArray(), false))
			}
			for _, r := range a.states {
				require.NoError(t, r.mask.load(a.groups))
			}
			require.NoError(t, a.addStates(t.Context()))
		}
		require.Equal(t, wantRows[1:], count.n[1:])
		for c := range columns {
			s := a.states[c+1].state.(*sums)
			for g := 1; g <= last; g++ {
				require.Equal(t, wantSums[c][g].String(), s.of(g).BigInt().String())
			}
		}
	}
}
