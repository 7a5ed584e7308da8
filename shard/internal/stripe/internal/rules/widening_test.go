package rules

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/format/decimal"
)

// Numbers keep their values, and numbers with too many digits are detected.
func TestWidening(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.IntRange(1, 22).Draw(t, "digits")
		c := NewWidening(digits)
		limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
		within := func(v *big.Int) bool { return new(big.Int).Abs(v).Cmp(limit) < 0 }
		edge := rapid.SampledFrom([]int64{0, c.limit, -c.limit, math.MaxInt64, math.MinInt64})
		values := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) int64 {
			return edge.Draw(t, "edge") + rapid.Int64Range(-3, 3).Draw(t, "off")
		}), 1, 4).Draw(t, "values")
		ok := true
		for _, v := range values {
			ok = ok && within(big.NewInt(v))
		}
		dst := make([]decimal.Int128, len(values))
		require.Equal(t, ok, c.Values(dst, values))
		for i, v := range values {
			require.Equal(t, decimal.Int128{Lo: uint64(v), Hi: v >> 63}, dst[i])
		}
		same := make([]int64, len(values))
		require.Equal(t, ok, NewDigits(digits).Values(same, values))
		require.Equal(t, values, same)
		base, step := values[0], rapid.Uint64Range(0, 1000).Draw(t, "step")
		most := rapid.OneOf(rapid.Uint64Range(0, 10), rapid.Uint64()).Draw(t, "most")
		if a, b, ok := c.Line(uint64(base), step, most); ok {
			last := new(big.Int).Mul(new(big.Int).SetUint64(step), new(big.Int).SetUint64(most))
			require.True(t, within(last.Add(last, big.NewInt(base))))
			q := []int64{0, 1, int64(min(most, math.MaxInt64))}
			got, want := make([]decimal.Int128, 3), make([]decimal.Int128, 3)
			for i := range q {
				v := base + int64(step)*q[i]
				want[i] = decimal.Int128{Lo: uint64(v), Hi: v >> 63}
			}
			c.Steps(got, q, a, b)
			require.Equal(t, want, got)
			a, b, ok = NewDigits(digits).Line(uint64(base), step, most)
			require.True(t, ok)
			NewDigits(digits).Steps(q, slices.Clone(q), a, b)
			for i, v := range q {
				require.Equal(t, want[i].Lo, uint64(v))
			}
		}
	})
}
