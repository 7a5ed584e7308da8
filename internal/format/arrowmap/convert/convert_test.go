package convert

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// exactTicks converts v units with exact arithmetic.
func exactTicks(v *big.Int, u Unit, epoch int64) (*big.Int, bool) {
	t := new(big.Int)
	if u == Nanosecond {
		r := new(big.Int)
		t.DivMod(v, big.NewInt(100), r)
		if r.Sign() != 0 {
			return nil, false
		}
	} else {
		t.Mul(v, new(big.Int).SetUint64(u.ticksPer()))
	}
	return t.Add(t, big.NewInt(epoch)), true
}

// edges are numbers around the ends of ranges.
func edges() *rapid.Generator[int64] {
	special := []int64{0, math.MinInt64, math.MaxInt64, minNano, maxNano}
	for _, per := range []int64{1, 10, 100, 1e4, 1e7, 864e9} {
		special = append(special, Epoch/per, -Epoch/per, math.MaxInt64/per, math.MinInt64/per, int64(math.MaxUint64/uint64(per)), int64((math.MaxUint64-Epoch)/uint64(per)))
	}
	return rapid.Custom(func(t *rapid.T) int64 {
		v := rapid.OneOf(rapid.SampledFrom(special), rapid.Int64()).Draw(t, "base")
		v += rapid.Int64Range(-300, 300).Draw(t, "delta")
		return v
	})
}

var allUnits = []Unit{Nanosecond, Microsecond, Millisecond, Second, Day}

func TestTicksAgainstBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := rapid.SampledFrom(allUnits).Draw(t, "unit")
		v := edges().Draw(t, "v")
		want, exact := exactTicks(big.NewInt(v), u, Epoch)
		exact = exact && want.IsUint64()
		ticks := make([]uint64, 1)
		err := ToTicks(ticks, []int64{v}, bitmap.All(1), u)
		require.Equal(t, exact, err == nil, "%d %s", v, u)
		if exact {
			require.Equal(t, want.Uint64(), ticks[0])
			back := make([]int64, 1)
			require.NoError(t, FromTicks(back, ticks, bitmap.All(1), u))
			require.Equal(t, v, back[0])
		}
	})
}

func TestFromTicksAgainstBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := rapid.SampledFrom(allUnits).Draw(t, "unit")
		ticks := uint64(edges().Draw(t, "ticks"))
		if rapid.Bool().Draw(t, "whole") && u != Nanosecond {
			ticks -= ticks % u.ticksPer()
		}
		got := make([]int64, 1)
		err := FromTicks(got, []uint64{ticks}, bitmap.All(1), u)
		since := new(big.Int).Sub(new(big.Int).SetUint64(ticks), big.NewInt(Epoch))
		want, rest := new(big.Int), new(big.Int)
		if u == Nanosecond {
			want.Mul(since, big.NewInt(100))
		} else {
			want.DivMod(since, new(big.Int).SetUint64(u.ticksPer()), rest)
		}
		exact := rest.Sign() == 0 && want.IsInt64()
		require.Equal(t, exact, err == nil, "%d ticks in %s: %v", ticks, u, err)
		if exact {
			require.Equal(t, want.Int64(), got[0])
		}
	})
}

func TestSpansAgainstBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := rapid.SampledFrom(allUnits[:4]).Draw(t, "unit")
		v := edges().Draw(t, "v")
		want, exact := exactTicks(big.NewInt(v), u, 0)
		exact = exact && want.IsInt64()
		got := make([]int64, 1)
		err := ToSpan(got, []int64{v}, bitmap.All(1), u)
		require.Equal(t, exact, err == nil, "%d %s", v, u)
		if exact {
			require.Equal(t, want.Int64(), got[0])
			require.NoError(t, FromSpan(got, got, bitmap.All(1), u))
			require.Equal(t, v, got[0])
		}
		// Back: v is read as ticks.
		want, rest := new(big.Int), new(big.Int)
		if u == Nanosecond {
			want.Mul(big.NewInt(v), big.NewInt(100))
		} else {
			want.DivMod(big.NewInt(v), new(big.Int).SetUint64(u.ticksPer()), rest)
		}
		exact = rest.Sign() == 0 && want.IsInt64()
		err = FromSpan(got, []int64{v}, bitmap.All(1), u)
		require.Equal(t, exact, err == nil, "%d ticks in %s", v, u)
		if exact {
			require.Equal(t, want.Int64(), got[0])
		}
	})
}

func TestDays(t *testing.T) {
	days := []int32{0, 1, -1, 19000, -719162, 20631236}
	ticks := make([]uint64, len(days))
	require.NoError(t, ToTicks(ticks, days, bitmap.All(len(days)), Day))
	require.Equal(t, uint64(Epoch), ticks[0])
	require.Equal(t, uint64(0), ticks[4])
	back := make([]int32, len(days))
	require.NoError(t, FromTicks(back, ticks, bitmap.All(len(days)), Day))
	require.Equal(t, days, back)

	for _, v := range []int32{-719163, 20631237, math.MinInt32, math.MaxInt32} {
		require.Error(t, ToTicks(ticks[:1], []int32{v}, bitmap.All(1), Day), "%d", v)
	}
}

func TestErrorsNameTheRow(t *testing.T) {
	src := []int64{5, 100, 150, 200}
	dst := make([]uint64, 4)
	err := ToTicks(dst, src, bitmap.Bits{Data: []byte{0b1110}, Len: 4}, Nanosecond)
	var row *RowError
	require.ErrorAs(t, err, &row)
	require.Equal(t, 2, row.Row)
	require.ErrorContains(t, err, "1970-01-01T00:00:00.00000015 (150 ns since 1970): not a multiple of 100 ns")

	require.NoError(t, ToTicks(dst, src, bitmap.Bits{Data: []byte{0b1010}, Len: 4}, Nanosecond))
	require.Equal(t, []uint64{0, Epoch + 1, 0, Epoch + 2}, dst)

	err = ToTicks(dst[:1], []int64{-62135596801}, bitmap.All(1), Second)
	require.ErrorContains(t, err, "0000-12-31T23:59:59 (-62135596801 s since 1970): DateTime holds 0001-01-01")
	err = FromTicks(make([]int64, 1), []uint64{Epoch + 1}, bitmap.All(1), Second)
	require.ErrorContains(t, err, "1970-01-01T00:00:00.0000001")
	for _, v := range []int64{math.MinInt64, math.MaxInt64} {
		for _, u := range allUnits {
			require.NotEmpty(t, describeInstant(v, u))
			require.NotEmpty(t, describeTicks(uint64(v)))
		}
	}
	require.Equal(t, "9999-12-31T23:59:59.9999999 (DateTime of 3155378975999999999 ticks)", describeTicks(3155378975999999999))
	require.Equal(t, time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), -int64(Epoch/10_000_000))
}

func TestEveryHalfComesBack(t *testing.T) {
	src := make([]uint16, 1<<16)
	for i := range src {
		src[i] = uint16(i)
	}
	wide := make([]float32, len(src))
	FromFloat16(wide, src)
	back := make([]uint16, len(src))
	require.NoError(t, ToFloat16(back, wide, bitmap.All(len(src))))
	require.Equal(t, src, back)

	seen := map[uint32]bool{}
	for i, f := range wide {
		seen[math.Float32bits(f)] = true
		fraction, exponent := float64(i&0x3FF), i>>10&31
		want := math.Ldexp(fraction+1024, exponent-25)
		switch {
		case exponent == 31:
			require.Equal(t, i&0x3FF != 0, f != f)
			require.Equal(t, i&0x3FF == 0, math.IsInf(float64(f), 0))
			continue
		case exponent == 0:
			want = math.Ldexp(fraction, -24)
		}
		if i>>15 == 1 {
			want = -want
		}
		require.Equal(t, want, float64(f))
		require.Equal(t, math.Signbit(want), math.Signbit(float64(f)))
	}
	require.Len(t, seen, 1<<16)
	for _, bits := range []uint32{1, 0x7f800001, 0x3f800001, 0x47800000, 0x33000000, 0x387fffff} {
		require.Error(t, ToFloat16(back[:1], []float32{math.Float32frombits(bits)}, bitmap.All(1)), "%x", bits)
		require.NoError(t, ToFloat16(back[:1], []float32{math.Float32frombits(bits)}, bitmap.Bits{Data: []byte{0}, Len: 1}))
	}
}

func TestNoAllocations(t *testing.T) {
	src, ticks := make([]int64, 1000), make([]uint64, 1000)
	wide, half := make([]float32, 1000), make([]uint16, 1000)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		for _, u := range allUnits {
			_ = ToTicks(ticks, src, bitmap.All(1000), u)
			_ = FromTicks(src, ticks, bitmap.All(1000), u)
		}
		FromFloat16(wide, half)
		_ = ToFloat16(half, wide, bitmap.All(1000))
	}))
}

func BenchmarkTicks(b *testing.B) {
	src, ticks := make([]int64, 4096), make([]uint64, 4096)
	for i := range src {
		src[i] = int64(i) * 86_400_000_000
	}
	for _, u := range []Unit{Nanosecond, Microsecond} {
		b.Run("to/"+u.String(), func(b *testing.B) {
			microbench.Output(b, 8*4096)
			for b.Loop() {
				_ = ToTicks(ticks, src, bitmap.All(len(src)), u)
			}
		})
		b.Run("from/"+u.String(), func(b *testing.B) {
			microbench.Output(b, 8*4096)
			for b.Loop() {
				_ = FromTicks(src, ticks, bitmap.All(len(src)), u)
			}
		})
	}
	days := make([]int32, 4096)
	b.Run("from/days", func(b *testing.B) {
		for i := range ticks {
			ticks[i] = Epoch + uint64(i)*864_000_000_000
		}
		microbench.Output(b, 4*4096)
		for b.Loop() {
			_ = FromTicks(days, ticks, bitmap.All(len(src)), Day)
		}
	})
	half, wide := make([]uint16, 4096), make([]float32, 4096)
	for i := range half {
		half[i] = uint16(i * 16)
	}
	b.Run("from/half", func(b *testing.B) {
		microbench.Output(b, 4*4096)
		for b.Loop() {
			FromFloat16(wide, half)
		}
	})
	b.Run("to/half", func(b *testing.B) {
		microbench.Output(b, 2*4096)
		for b.Loop() {
			_ = ToFloat16(half, wide, bitmap.All(len(half)))
		}
	})
}
