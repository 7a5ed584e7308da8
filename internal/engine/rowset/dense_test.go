package rowset

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// drawLarge is a set of more rows than are combined at a time, in runs, sometimes as bits.
func drawLarge(t *rapid.T) Set {
	rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	run, gap := rapid.SampledFrom([]int{1, 3, 100, 70_000}).Draw(t, "run"), rapid.SampledFrom([]int{1, 40, 500, 60_000}).Draw(t, "gap")
	var ranges []Range
	for at := rapid.Int64Range(-100, 200_000).Draw(t, "from"); len(ranges) < 3000 && at < 300_000; {
		to := at + 1 + rnd.Int64N(int64(run))
		ranges = append(ranges, Range{at, to})
		at = to + 1 + rnd.Int64N(int64(gap))
	}
	if s := Of(ranges...); rapid.Bool().Draw(t, "listed") {
		return s
	} else {
		return dense(s, rapid.IntRange(0, 70).Draw(t, "before"))
	}
}

// Operations on bits have the rows of those on ranges and single rows, take no more memory than these, and leave their operands as they are.
func TestDense(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawLarge(t), drawLarge(t)
		if rapid.Bool().Draw(t, "cut") {
			from := rapid.Int64Range(-100, 300_000).Draw(t, "cut from")
			a = a.Clip(from, from+rapid.Int64Range(0, 200_000).Draw(t, "rows")).Shift(rapid.Int64Range(-70, 70).Draw(t, "by"))
		}
		x, y := a.Listed(), b.Listed()
		require.True(t, x.Equal(a) && y.Equal(b))
		for _, c := range []struct{ want, have Set }{
			{x.And(y), a.And(b)}, {x.Or(y), a.Or(b)}, {x.Minus(y), a.Minus(b)}, {All(250_000).Minus(x), All(250_000).Minus(a)},
			{All(math.MaxInt64).Minus(x), All(math.MaxInt64).Minus(a)}, {x.And(All(123_456)), a.And(All(123_456))},
			{x.Or(Of(Range{1 << 40, 1<<40 + 5})), a.Or(Of(Range{1 << 40, 1<<40 + 5}))},
		} {
			requireLean(t, c.have)
			require.Equal(t, c.want.Len(), c.have.Len())
			require.True(t, c.want.Equal(c.have))
			require.Equal(t, c.want.Bounds(), c.have.Bounds())
			for range 10 {
				row := rapid.Int64Range(-200, 310_000).Draw(t, "row")
				require.Equal(t, c.want.Contains(row), c.have.Contains(row))
			}
		}
		require.True(t, x.Equal(a) && y.Equal(b))
		data := make([]byte, 200_000/8)
		y.PutBits(data, 0, 200_000, 50_000)
		require.True(t, x.And(y.Clip(50_000, 250_000)).Equal(a.InBits(data, 50_000)))
		require.True(t, a.And(a).Equal(a) && a.Minus(a).Empty())
	})
}

// requireLean checks that bits take at most 32 bytes for each row.
func requireLean(t require.TestingT, s Set) {
	if s.bits != nil {
		require.LessOrEqual(t, s.window.Len()/8, 32*s.n)
	}
}

// Bits at either end of all numbers of rows.
func TestDenseFarAway(t *testing.T) {
	for _, base := range []int64{math.MinInt64, math.MinInt64 + 3, math.MaxInt64 - 64} {
		s := Dense([]byte{0x80, 1, 0, 0, 0, 0, 0x10, 0}, base)
		want := FromRows([]int64{base + 7, base + 8, base + 52})
		require.NotNil(t, s.bits)
		require.True(t, s.Equal(want))
		other := Of(Range{base + 8, base + 60})
		require.True(t, s.And(other).Equal(want.And(other)))
		require.True(t, s.Or(other).Equal(want.Or(other)))
		require.True(t, s.Minus(other).Equal(want.Minus(other)))
		require.True(t, other.Minus(s).Equal(other.Minus(want)))
	}
	require.True(t, Dense(nil, 5).Empty())
	require.True(t, Dense(make([]byte, 800), 5).Empty())
}

// One row in ten of a million, as bits and as rows.
func BenchmarkOperations(b *testing.B) {
	const n = 1 << 20
	var sets [2]Set
	for i := range sets {
		rnd := rand.New(rand.NewPCG(uint64(i), 2))
		data := make([]byte, n/8)
		for range n / 10 {
			at := rnd.IntN(n)
			data[at/8] |= 1 << (at % 8)
		}
		sets[i] = Dense(data, 0)
	}
	run := func(name string, x, y Set) {
		for op, f := range map[string]func(Set) Set{"and": x.And, "or": x.Or, "minus": x.Minus} {
			b.Run(name+"/"+op, func(b *testing.B) {
				microbench.Output(b, n/8)
				for b.Loop() {
					f(y)
				}
			})
		}
	}
	run("bits", sets[0], sets[1])
	run("listed", sets[0].Listed(), sets[1].Listed())
}
