package convert

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Line agrees with Values for every value.
func TestLineAgainstValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := rapid.SampledFrom(allUnits).Draw(t, "unit")
		base, step := uint64(edges().Draw(t, "base")), uint64(edges().Draw(t, "step"))
		if per := u.ticksPer(); per != 0 && rapid.Bool().Draw(t, "whole") {
			base, step = base/per*per, step%1000*per
		}
		most := rapid.OneOf(rapid.Uint64Range(0, 1000), rapid.Uint64()).Draw(t, "most")
		q := []uint64{0, most, rapid.Uint64Range(0, most).Draw(t, "q")}
		testLine(t, NewFromTicks[int64](u), base, step, most, q)
		testLine(t, NewFromTicks[int32](Day), base, step, most, q)
		if u != Day {
			signed := []int64{int64(q[0]), int64(q[1]), int64(q[2])}
			testLine(t, NewFromSpan(u), base, step, most, signed)
		}
	})
}

func testLine[D, S integer](t *rapid.T, c *Linear[D, S], base, step, most uint64, q []S) {
	a, b, ok := c.Line(base, step, most)
	if !ok {
		return
	}
	values := make([]S, len(q))
	for i := range q {
		values[i] = S(base + step*uint64(q[i]))
	}
	want, got := make([]D, len(q)), make([]D, len(q))
	require.True(t, c.Values(want, values))
	c.Steps(got, q, a, b)
	require.Equal(t, want, got)
}

// Line exists for dates as ticks.
func TestLineOfDays(t *testing.T) {
	const day = 864_000_000_000
	a, b, ok := NewFromTicks[int32](Day).Line(Epoch+3*day, day, 4095)
	require.True(t, ok)
	require.Equal(t, []uint64{3, 1}, []uint64{a, b})
	_, _, ok = NewFromTicks[int32](Day).Line(Epoch+1, day, 4095)
	require.False(t, ok, "between two days")
	_, _, ok = NewFromTicks[int32](Day).Line(Epoch, day, math.MaxUint64)
	require.False(t, ok, "too far")
}

// Ticks within an interval are those that convert to numbers within it.
func TestBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := rapid.SampledFrom(allUnits).Draw(t, "unit")
		lo, hi := edges().Draw(t, "lo"), edges().Draw(t, "hi")
		stored := edges().Draw(t, "stored")
		if per := int64(u.ticksPer()); per != 0 {
			stored -= stored % per
		}
		got := make([]int64, 1)
		if FromTicks(got, []uint64{uint64(stored)}, bitmap.All(1), u) == nil {
			low, high, ok := TicksBetween(lo, hi, u)
			require.Equal(t, lo <= got[0] && got[0] <= hi, ok && low <= uint64(stored) && uint64(stored) <= high, "%d", got[0])
		}
		if u != Day && FromSpan(got, []int64{stored}, bitmap.All(1), u) == nil {
			low, high, ok := SpanBetween(lo, hi, u)
			require.Equal(t, lo <= got[0] && got[0] <= hi, ok && low <= stored && stored <= high, "%d", got[0])
		}
	})
}
