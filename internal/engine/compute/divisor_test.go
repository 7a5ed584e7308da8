package compute

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/text"
)

func TestDivisor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.OneOf(rapid.Int64Range(1, 100), rapid.Int64Range(1, 1<<62)).Draw(t, "d")
		n := rapid.OneOf(rapid.Uint64Range(0, math.MaxInt64), rapid.Uint64Range(0, 1000)).Draw(t, "n")
		n = n / uint64(d) * uint64(d) // quotients change here
		for _, n := range []uint64{n, n - 1, n + 1, math.MaxInt64} {
			if n <= math.MaxInt64 {
				require.Equal(t, n/uint64(d), newDivisor(d).of(n))
			}
		}
	})
}

// Fast loops give the results of the slow ones, for all times, units and offsets.
func TestClocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		per := rapid.SampledFrom([]int64{1, 1e3, 1e6, 1e9}).Draw(t, "per")
		z := zone{offset: rapid.SampledFrom([]int64{0, 3600, -9000}).Draw(t, "offset")}
		a := rapid.SliceOf(rapid.OneOf(rapid.Int64(), rapid.Int64Range(-1e6*per, 1e6*per), rapid.Int64Range(0, 2e9*per))).Draw(t, "a")
		for name, part := range clockParts {
			want, got := make([]int64, len(a)), make([]int64, len(a))
			clocksSlowly(want, a, per, z, part)
			clocks(got, a, per, z, name)
			require.Equal(t, want, got)
		}
	})
}

// Times truncated together are those truncated one by one.
func TestTruncateTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		per := rapid.SampledFrom([]int64{1, 1e3, 1e6, 1e9}).Draw(t, "per")
		offset := rapid.SampledFrom([]int64{0, 3600, -9000}).Draw(t, "offset") * per
		a := rapid.SliceOf(rapid.OneOf(rapid.Int64(), rapid.Int64Range(-1e6*per, 1e6*per), rapid.Int64Range(0, 2e9*per))).Draw(t, "a")
		floor := func(v, by int64) int64 { q, _ := text.FloorDiv(v, by); return q }
		day := daySeconds * per
		for word, first := range truncations {
			got := make([]int64, len(a))
			if !truncateTimes(got, a, offset, 0, day, first) {
				require.True(t, slices.ContainsFunc(a, func(v int64) bool { return max(v, -v) > 1<<61 || v == math.MinInt64 }))
				continue
			}
			for i, v := range a {
				require.Equal(t, first(floor(v+offset, day))*day-offset, got[i], word)
			}
		}
		for _, nanos := range clockUnits {
			step := nanos / (1e9 / per)
			got := make([]int64, len(a))
			if step > 1 && truncateTimes(got, a, offset, step, day, nil) {
				for i, v := range a {
					require.Equal(t, floor(v+offset, step)*step-offset, got[i])
				}
			}
		}
	})
}
