package alp

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestKnown is the example of the format: 1.5, 2.5 and NaN with e=1, f=0.
func TestKnown(t *testing.T) {
	ints := make([]int64, 3)
	exc := Encode(ints, []float64{1.5, 2.5, math.NaN()}, Params{1, 0}, nil)
	require.Equal(t, []uint32{2}, exc)
	require.Equal(t, []int64{15, 25, 25}, ints)
}

func roundTrip[F Float, I Int](t require.TestingT, src []F, p Params) int {
	require.NoError(t, Valid[F](p))
	ints := make([]I, len(src))
	exc := Encode(ints, src, p, nil)
	got := make([]F, len(src))
	Decode(got, ints, p)
	for _, at := range exc {
		got[at] = src[at]
	}
	for i := range src {
		require.Equal(t, bitsOf(src[i]), bitsOf(got[i]), "value %d of %v", i, p)
	}
	return len(exc)
}

func TestDecimals(t *testing.T) {
	prices := make([]float64, 1000)
	small := make([]float32, 1000)
	for i := range prices {
		prices[i] = float64(i*7919%100000) / 100
		small[i] = float32(i*31%1000) / 10
	}
	p, ok := Search[float64, int64](prices)
	require.True(t, ok)
	require.Zero(t, roundTrip[float64, int64](t, prices, p))
	p, ok = Search[float32, int32](small)
	require.True(t, ok)
	require.Zero(t, roundTrip[float32, int32](t, small, p))
}

func anyFloats64() *rapid.Generator[[]float64] {
	odd := rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.NaN(), math.Float64frombits(0x7ff0000000000001),
		math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64, 1 << 51, 1 << 52, -(1 << 53), 1 << 63, -(1 << 63), 0.1, 1e17})
	cents := rapid.Map(rapid.IntRange(-1e9, 1e9), func(n int) float64 { return float64(n) / 100 })
	return rapid.SliceOfN(rapid.OneOf(odd, cents, rapid.Float64(), rapid.Map(rapid.Uint64(), math.Float64frombits)), 0, 100)
}

func anyFloats32() *rapid.Generator[[]float32] {
	odd := rapid.SampledFrom([]float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), math.MaxFloat32,
		math.Float32frombits(0x7f800001), math.SmallestNonzeroFloat32, 1 << 22, 1 << 24, 1 << 31, -(1 << 31), 0.1})
	tenths := rapid.Map(rapid.IntRange(-1e5, 1e5), func(n int) float32 { return float32(n) / 10 })
	return rapid.SliceOfN(rapid.OneOf(odd, tenths, rapid.Map(rapid.Uint32(), math.Float32frombits)), 0, 100)
}

// TestRoundTrip encodes random values with random parameters, and with those of Search.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := anyFloats64().Draw(t, "values")
		roundTrip[float64, int64](t, src, Params{rapid.Uint8Max(max64).Draw(t, "e"), rapid.Uint8Max(max64).Draw(t, "f")})
		if p, ok := Search[float64, int64](src); ok {
			roundTrip[float64, int64](t, src, p)
		}
		short := anyFloats32().Draw(t, "short values")
		roundTrip[float32, int32](t, short, Params{rapid.Uint8Max(max32).Draw(t, "e"), rapid.Uint8Max(max32).Draw(t, "f")})
		if p, ok := Search[float32, int32](short); ok {
			roundTrip[float32, int32](t, short, p)
		}
	})
}

func roundTripRD[F Float, U Bits](t require.TestingT, src []F, p RDParams) int {
	require.NoError(t, ValidRD[F](p))
	codes, right := make([]uint16, len(src)), make([]U, len(src))
	exc, lefts := EncodeRD(codes, right, src, p, make([]uint8, p.Lefts(size[F]())), nil, nil)
	require.NoError(t, DecodeRD(right, codes, p, exc, lefts))
	for i := range src {
		require.Equal(t, bitsOf(src[i]), uint64(right[i]), "value %d of %v", i, p)
	}
	return len(exc)
}

func TestRD(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := anyFloats64().Draw(t, "values")
		if p, ok := SearchRD(src); ok {
			require.Contains(t, []int{4, 8}, len(p.Dict))
			roundTripRD[float64, uint64](t, src, p)
		}
		roundTripRD[float64, uint64](t, src, RDParams{rapid.Uint8Range(48, 63).Draw(t, "right"), []uint16{3, 7, 0}})
		short := anyFloats32().Draw(t, "short values")
		roundTripRD[float32, uint32](t, short, RDParams{rapid.Uint8Range(16, 31).Draw(t, "right"), []uint16{3, 7, 0}})
	})
	src := make([]float64, 1000)
	for i := range src {
		src[i] = 1 + math.Sqrt(float64(i))/40
	}
	p, ok := SearchRD(src)
	require.True(t, ok)
	require.Zero(t, roundTripRD[float64, uint64](t, src, p))
}

func TestRefused(t *testing.T) {
	require.Error(t, Valid[float64](Params{24, 0}))
	require.Error(t, Valid[float64](Params{0, 24}))
	require.NoError(t, Valid[float64](Params{23, 23}))
	require.Error(t, Valid[float32](Params{11, 0}))
	require.Error(t, ValidRD[float64](RDParams{47, []uint16{1}}))
	require.Error(t, ValidRD[float64](RDParams{64, []uint16{1}}))
	require.Error(t, ValidRD[float32](RDParams{16, nil}))
	require.Error(t, ValidRD[float32](RDParams{16, make([]uint16, 9)}))

	one := RDParams{48, []uint16{1}}
	require.Error(t, DecodeRD([]uint64{0, 0}, []uint16{0, 1}, one, nil, nil))
	require.Error(t, DecodeRD([]uint64{0, 0}, []uint16{0, 0}, one, []uint32{2}, []uint16{0}))
	require.NoError(t, DecodeRD([]uint64{}, nil, one, nil, nil))
	three := RDParams{48, []uint16{1, 2, 3}}
	require.NoError(t, DecodeRD([]uint64{0, 0}, []uint16{1, 2}, three, nil, nil))
	require.Error(t, DecodeRD([]uint64{0, 0}, []uint16{1, 3}, three, nil, nil))
}

// TestSearchTrailingZeros finds that large round numbers are multiples of a power of ten.
func TestSearchTrailingZeros(t *testing.T) {
	src := make([]float64, 500)
	for i := range src {
		src[i] = float64(i%90) * 1e6
	}
	p, ok := Search[float64, int64](src)
	require.True(t, ok)
	ints := make([]int64, len(src))
	require.Empty(t, Encode(ints, src, p, nil))
	for _, n := range ints {
		require.Less(t, n, int64(90))
	}
}

// TestSearchRefuses finds no parameters for noise and square roots.
func TestSearchRefuses(t *testing.T) {
	src := make([]float64, 3000)
	for i := range src {
		src[i] = math.Sqrt(float64(i + 2))
		if i%7 == 0 {
			src[i] = math.NaN()
		}
	}
	_, ok := Search[float64, int64](src)
	require.False(t, ok)
	_, ok = Search[float64, int64](nil)
	require.False(t, ok)
}

// TestChooseByBlock finds parameters for both parts of data of two kinds.
func TestChooseByBlock(t *testing.T) {
	src := append(prices(4000), roots(4000)...)
	for i := range 4000 {
		src[4000+i] = float64(i*31%100000) / 10000
	}
	candidates := Candidates[float64, int64](nil, src)
	p, ok := Choose[float64, int64](src[:4000], candidates)
	require.True(t, ok)
	require.Equal(t, uint8(2), p.E-p.F)
	p, ok = Choose[float64, int64](src[4000:], candidates)
	require.True(t, ok)
	require.Equal(t, uint8(4), p.E-p.F)
}

func TestNoAllocations(t *testing.T) {
	src := prices(2048)
	ints := make([]int64, len(src))
	exc := make([]uint32, 0, len(src))
	require.Zero(t, testing.AllocsPerRun(10, func() {
		p, _ := Search[float64, int64](src)
		exc = Encode(ints, src, p, exc[:0])
		Decode(src, ints, p)
	}))
}

// FuzzRoundTrip encodes arbitrary bits as floats.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\xf8?\x01\x00\x00\x00\x00\x00\xf0\x7f"), uint8(14), uint8(12))
	f.Fuzz(func(t *testing.T, b []byte, e, factor uint8) {
		var src []float64
		for ; len(b) >= 8; b = b[8:] {
			src = append(src, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
		p := Params{e, factor}
		if Valid[float64](p) == nil {
			roundTrip[float64, int64](t, src, p)
		}
		if p, ok := SearchRD(src); ok {
			roundTripRD[float64, uint64](t, src, p)
		}
	})
}

// FuzzDecodeRD decodes arbitrary parameters, codes and exceptions.
func FuzzDecodeRD(f *testing.F) {
	f.Add(uint8(48), []byte{1, 0, 2, 0}, []byte{0, 1, 1}, []byte{1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, right uint8, dict, codes, exceptions []byte) {
		p := RDParams{RightBits: right}
		for ; len(dict) >= 2; dict = dict[2:] {
			p.Dict = append(p.Dict, binary.LittleEndian.Uint16(dict))
		}
		if ValidRD[float64](p) != nil {
			return
		}
		wide := make([]uint16, len(codes))
		for i, c := range codes {
			wide[i] = uint16(c) * 77
		}
		var exc []uint32
		for ; len(exceptions) >= 4; exceptions = exceptions[4:] {
			exc = append(exc, binary.LittleEndian.Uint32(exceptions))
		}
		_ = DecodeRD(make([]uint64, len(codes)), wide, p, exc, make([]uint16, len(exc)))
	})
}

// TestSearchNearBest compares the result of Search with the best of all parameters, for decimals with any number of
// digits before and after the point.
func TestSearchNearBest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for bits := 1; bits <= 24; bits++ {
		for digits := -6; digits <= 12; digits++ {
			sample := make([]float64, groupLen)
			for i := range sample {
				n := strconv.FormatInt(rnd.Int64N(1<<bits), 10)
				sample[i], _ = strconv.ParseFloat(n+"e"+strconv.Itoa(-digits), 64)
			}
			p, _ := best[float64, int64](sample)
			got, _ := cost[float64, int64](sample, p, 64*len(sample))
			least := leastCost(sample)
			require.LessOrEqual(t, got, least+least/4, "%d bits, %d digits: %v", bits, digits, p)
		}
	}
}

// leastCost is the lowest cost over all parameters.
func leastCost(sample []float64) int {
	least := 64 * len(sample)
	for e := range maxSearch + 1 {
		for f := range min(e+maxZeros, max64) + 1 {
			c, _ := cost[float64, int64](sample, Params{uint8(e), uint8(f)}, least)
			least = min(least, c)
		}
	}
	return least
}
