package numeric

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// intervals returns intervals that contain values and intervals that contain none.
func intervals[T Value](values []T) [][]Interval[T] {
	one := func(low, high T) []Interval[T] { return []Interval[T]{{low, high}} }
	out := [][]Interval[T]{nil, one(1, 0), one(0, 0), one(0, 100), one(5, 5)}
	if len(values) == 0 {
		return out
	}
	first, mid, last := values[0], values[len(values)/2], values[len(values)-1]
	low, high := first, first
	for _, v := range values {
		low, high = min(low, v), max(high, v) // NaN if there is one
	}
	out = append(out, one(low, high), one(first, first), one(min(first, mid), max(first, mid)), one(min(mid, last), max(mid, last)),
		[]Interval[T]{{mid, mid}, {last, last}, {first, first}, {1, 1}})
	var many []Interval[T]
	for i := 0; i < len(values); i += 1 + len(values)/10 {
		many = append(many, Interval[T]{values[i], values[i]}, Interval[T]{T(3 * i), T(3*i + 1)})
	}
	return append(out, many)
}

func requireSelected[T Value](t require.TestingT, all []T, valid bitmap.Bits, blk []byte, in []Interval[T], what string, s *Scratch) {
	got := make([]uint64, len(all)/64+2)
	for i := range got {
		got[i] = 0x5555555555555555
	}
	require.NoError(t, SelectRanges(blk, len(all), in, BlockOptions{Checksums: true}, s, got))
	require.Equal(t, uint64(0x5555555555555555), got[len(got)-1], "wrote behind the rows")
	for i, v := range all {
		want := false
		for _, r := range in {
			want = want || r.Low <= v && v <= r.High
		}
		want = want && valid.At(i)
		if want != (got[i/64]>>(i%64)&1 != 0) {
			require.Failf(t, "wrong bit", "%s: row %d, %v in %v: want %v", what, i, v, in, want)
		}
	}
	if n := len(all); n%64 != 0 {
		require.Zero(t, got[n/64]>>(n%64), "bits behind the last row")
	}
}

func testSelect[T Value](t *testing.T) {
	var s Scratch
	for _, c := range casesOf[T]() {
		n := len(c.values)
		if n >= 3000 {
			continue
		}
		for _, shape := range append([]string{"CommonDivisor(PatchedPack(raw,raw))", "CommonDivisor(FLBitPack)"}, allShapes...) {
			if p, err := parseShape(shape); err != nil || !suits(p, Of[T]()) {
				continue
			}
			blk := forcedBlock(t, c.values, c.valid, shape)
			for _, in := range intervals(c.values) {
				requireSelected(t, c.values, c.valid, blk, in, c.name+" "+shape, &s)
			}
		}
	}
}

// The selected rows are those that decoding and comparing selects.
func TestSelectRanges(t *testing.T) {
	testSelect[int64](t)
	if sweep.All() {
		testSelect[uint64](t)
		testSelect[int32](t)
	}
	testSelect[uint16](t)
	if sweep.All() {
		testSelect[int8](t)
		testSelect[float32](t)
	}
	testSelect[float64](t)
}

// Zeros of either sign are equal, and no interval contains NaN.
func TestSelectFloats(t *testing.T) {
	negative := math.Copysign(0, -1)
	values := []float64{0, negative, 1, math.NaN(), -math.NaN(), math.Inf(1), math.Inf(-1), -1, math.Float64frombits(0xfff8000000000001)}
	blk := forcedBlock(t, values, bitmap.All(len(values)), "Plain")
	var s Scratch
	for _, c := range []struct {
		low, high float64
		want      uint64
	}{
		{0, 0, 0b11}, {negative, negative, 0b11}, {0, negative, 0b11}, {negative, 1, 0b111}, {math.Inf(-1), math.Inf(1), 0b011100111},
		{math.NaN(), 1, 0}, {0, math.NaN(), 0}, {-1, -0.5, 0b10000000}, {1e-300, 1, 0b100},
	} {
		got := make([]uint64, 1)
		require.NoError(t, SelectRanges(blk, len(values), []Interval[float64]{{c.low, c.high}}, BlockOptions{Checksums: true}, &s, got))
		require.Equal(t, c.want, got[0], "%v", c)
	}
}

// Selection on packed values of any base, including those that wrap, agrees with comparing values.
func TestSelectPacked(t *testing.T) {
	var s Scratch
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64 - 50, -5, 0})).Draw(t, "base")
		step := rapid.SampledFrom([]int64{1, 7, 1 << 58, -3}).Draw(t, "step")
		values := make([]int64, rapid.IntRange(1, 1100).Draw(t, "n"))
		for i := range values {
			values[i] = base + step*int64(i%100)
		}
		shape := rapid.SampledFrom([]string{"FFOR", "FOR(FLBitPack)", "CommonDivisor(FLBitPack)", "CommonDivisor(FFOR)", "PatchedPack(raw,raw)"}).Draw(t, "shape")
		blk := forcedBlock(t, values, bitmap.All(len(values)), shape)
		var in []Interval[int64]
		for range rapid.IntRange(1, 7).Draw(t, "intervals") {
			low := values[rapid.IntRange(0, len(values)-1).Draw(t, "low")] + rapid.Int64Range(-2, 2).Draw(t, "off")
			high := values[rapid.IntRange(0, len(values)-1).Draw(t, "high")] + rapid.Int64Range(-2, 2).Draw(t, "off")
			in = append(in, Interval[int64]{low, high})
		}
		requireSelected(t, values, bitmap.All(len(values)), blk, in, shape, &s)
	})
}

func TestSelectMisuse(t *testing.T) {
	var s Scratch
	blk := forcedBlock(t, []int32{1, 2, 3}, bitmap.All(3), "Plain")
	require.Error(t, SelectRanges(blk, 3, []Interval[int32]{{1, 2}}, BlockOptions{Checksums: true}, &s, nil))
	require.Error(t, SelectRanges(blk[:9], 3, []Interval[int32]{{1, 2}}, BlockOptions{}, &s, make([]uint64, 1)))
}
