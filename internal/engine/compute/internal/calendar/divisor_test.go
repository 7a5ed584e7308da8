package calendar

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
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

// Parts of times of day are those of exact arithmetic, for all times, units and offsets.
func TestClocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		per := rapid.SampledFrom([]int64{1, 1e3, 1e6, 1e9}).Draw(t, "per")
		z := Zone{offset: rapid.SampledFrom([]int64{0, 3600, -9000}).Draw(t, "offset")}
		a := someTimes(per).Draw(t, "a")
		for name, most := range clockMost {
			got := make([]int64, len(a))
			Clocks(got, a, per, z, name)
			for i, v := range a {
				local := new(big.Int).Add(floorDiv(big.NewInt(v), per), big.NewInt(z.offset))
				want := new(big.Int).Mod(floorDiv(local, ClockUnits[name]/1e9), big.NewInt(most))
				require.Equal(t, want.Int64(), got[i], "%s of %d", name, v)
			}
		}
	})
}

// Truncated times are those of exact arithmetic, for all times, units and offsets.
func TestTruncateTimes(t *testing.T) {
	berlin, ok := ZoneOf("Europe/Berlin")
	require.True(t, ok)
	rapid.Check(t, func(t *rapid.T) {
		per := rapid.SampledFrom([]int64{1e3, 1e6, 1e9}).Draw(t, "per")
		z := rapid.SampledFrom([]Zone{{}, {offset: 3600}, {offset: -9000}, berlin}).Draw(t, "zone")
		a := someTimes(per).Draw(t, "a")
		o := z.Offsets()
		check := func(word string, step int64, first func(day int64) int64, want func(v int64) *big.Int) {
			got := make([]int64, len(a))
			unit := TruncateTimes(got, a, per, step, z, first)
			for i, v := range a {
				product := new(big.Int).Mul(big.NewInt(got[i]), big.NewInt(unit))
				require.Equal(t, want(v).String(), product.String(), "%s of %d", word, v)
			}
		}
		for word, first := range Truncations {
			check(word, 0, first, func(v int64) *big.Int {
				seconds := floorDiv(big.NewInt(v), per).Int64()
				day := floorDiv(big.NewInt(seconds+o.At(seconds)), DaySeconds).Int64()
				return new(big.Int).Mul(big.NewInt(o.Instant(first(day)*DaySeconds)), big.NewInt(per))
			})
		}
		for word, nanos := range ClockUnits {
			step := max(nanos/(1e9/per), 1)
			check(word, nanos/(1e9/per), nil, func(v int64) *big.Int {
				offset := big.NewInt(o.At(floorDiv(big.NewInt(v), per).Int64()) * per)
				local := new(big.Int).Add(big.NewInt(v), offset)
				return local.Mul(floorDiv(local, step), big.NewInt(step)).Sub(local, offset)
			})
		}
	})
}

// someTimes are times near 1970, and any.
func someTimes(per int64) *rapid.Generator[[]int64] {
	return rapid.SliceOf(rapid.OneOf(rapid.Int64(), rapid.Int64Range(-1e6*per, 1e6*per), rapid.Int64Range(0, 2e9*per)))
}

func floorDiv(v *big.Int, d int64) *big.Int { return new(big.Int).Div(v, big.NewInt(d)) }
