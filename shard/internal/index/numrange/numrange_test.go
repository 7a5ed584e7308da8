package numrange

import (
	"bytes"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/decimal"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// The example of docs/format.md §9: Int32 values 10, 20, 30.
func TestExample(t *testing.T) {
	x := NewBuilder[int32](4)
	x.Add([]int32{10, 20, 30}, bitmap.All(3))
	want := strings.Join([]string{
		"0100", "04", "01", "0300000000000000", // version, Int32, checksums, positions
		"1800000000000000", "1800000000000000", "0000000000000000", // payload sizes
		"0001", "0000", // block length
		"00000000060000000100" + "0a000000" + "000000000000" + "3de7821f",
		"00000000060000000100" + "1e000000" + "000000000000" + "a0af9932",
		strings.Repeat("00", 40),
	}, "")
	require.Equal(t, want, hex.EncodeToString(bytesOf(x.Append(nil, encoding.Options{}))))
}

// bytesOf is the buffer that a builder appends.
func bytesOf(b []byte, _ []encoding.Tree) []byte { return b }

// An index of edition 2026 takes fewer bytes than one of the reference where bounds are alike.
func TestSmallerThanBytes(t *testing.T) {
	size := func(features edition.Set) int {
		r := rand.New(rand.NewPCG(1, 1))
		x := NewBuilder[float64](6)
		for range 200 {
			x.Add(slices.Repeat([]float64{float64(r.IntN(7)) / 8}, BlockLen), bitmap.All(BlockLen))
		}
		return len(bytesOf(x.Append(nil, encoding.Options{Features: features})))
	}
	require.Less(t, 3*size(edition.E2026.Features()), 2*size(0))
}

func genValid(t *rapid.T, n int) bitmap.Bits {
	if rapid.Bool().Draw(t, "no nulls") {
		return bitmap.All(n)
	}
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "validity"), 0))
	data := make([]byte, (n+7)/8)
	for i := 0; i < n; {
		run := 1 + r.IntN(1<<r.IntN(10))
		if r.IntN(3) > 0 {
			bitmap.SetRange(data, i, min(run, n-i))
		}
		i += run
	}
	return bitmap.Bits{Data: data, Len: n}
}

func testRoundTrip[T numeric.Value](t *testing.T, special ...T) {
	var s numeric.Scratch
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 3000).Draw(t, "n")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		odds := rapid.SampledFrom([]int{1, 300, 1 << 30}).Draw(t, "odds")
		values := make([]T, n)
		for i := range values {
			values[i] = T(i + r.IntN(5))
			if len(special) > 0 && r.IntN(odds) == 0 {
				values[i] = special[r.IntN(len(special))]
			}
		}
		valid := genValid(t, n)
		x := NewBuilder[T](7)
		for from := 0; from < n; {
			to := min(n, from+rapid.IntRange(1, 900).Draw(t, "part"))
			x.Add(values[from:to], valid.Slice(from, to))
			from = to
		}
		features := rapid.SampledFrom([]edition.Set{0, edition.E2026.Features()}).Draw(t, "features")
		profile := rapid.SampledFrom([]encoding.Profile{encoding.Balanced, encoding.ProfilePlain, encoding.MinimalSize}).Draw(t, "profile")
		buf := bytesOf(x.Append([]byte("before"), encoding.Options{Profile: profile, Features: features}))[6:]
		any := false
		for i, v := range values {
			any = any || valid.At(i) && v == v
		}
		require.Equal(t, any, len(buf) > 0)
		if !any {
			return
		}
		require.Zero(t, len(buf)%64)
		got, err := Parse[T](buf, 7, uint64(n), &s)
		require.NoError(t, err)
		require.Equal(t, (n+255)/256, got.Len())
		for b := range got.Len() {
			lo, hi, invalid, size := got.Block(b)
			require.Equal(t, min(256, n-256*b), size)
			bad, loSeen, hiSeen := 0, false, false
			for i := 256 * b; i < 256*b+size; i++ {
				if v := values[i]; !valid.At(i) || v != v {
					bad++
				} else {
					require.True(t, lo <= v && v <= hi)
					loSeen, hiSeen = loSeen || v == lo, hiSeen || v == hi
				}
			}
			require.Equal(t, bad, invalid)
			if bad < size {
				require.True(t, loSeen && hiSeen)
			} else {
				require.True(t, lo == 0 && hi == 0)
			}
		}
		_, err = Parse[T](buf, 6, uint64(n), &s)
		require.Error(t, err)
		_, err = Parse[T](buf, 7, uint64(n)+1, &s)
		require.Error(t, err)
	})
}

func TestRoundTrip(t *testing.T) {
	t.Run("int8", func(t *testing.T) { testRoundTrip[int8](t) })
	t.Run("uint16", func(t *testing.T) { testRoundTrip[uint16](t) })
	t.Run("int32", func(t *testing.T) { testRoundTrip[int32](t) })
	t.Run("uint64", func(t *testing.T) { testRoundTrip[uint64](t, math.MaxUint64) })
	t.Run("float32", func(t *testing.T) { testRoundTrip(t, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))) })
	t.Run("float64", func(t *testing.T) { testRoundTrip(t, math.NaN(), math.Inf(1), math.Inf(-1)) })
}

func TestDecimals(t *testing.T) {
	var s numeric.Scratch
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1000).Draw(t, "n")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		values := make([]decimal.Decimal, n)
		valid := genValid(t, n)
		any := false
		for i := range values {
			decimal.FromInt64(values[i:i+1], []int64{r.Int64N(1000) - 500}, -r.IntN(3))
			switch r.IntN(300) {
			case 0:
				values[i] = decimal.Decimal{15: 0x7c}
			case 1:
				values[i] = decimal.Decimal{15: 0xf8}
			}
			any = any || valid.At(i) && !values[i].IsNaN()
		}
		x := NewDecimalBuilder()
		x.Add(values[:n/3], valid.Slice(0, n/3))
		x.Add(values[n/3:], valid.Slice(n/3, n))
		buf := bytesOf(x.Append(nil, encoding.Options{}))
		require.Equal(t, any, buf != nil)
		if !any {
			return
		}
		got, err := ParseDecimal(buf, uint64(n), &s)
		require.NoError(t, err)
		for b := range got.Len() {
			lo, hi, invalid, size := got.Block(b)
			bad, loSeen, hiSeen := 0, false, false
			for i := 256 * b; i < 256*b+size; i++ {
				v := values[i]
				if !valid.At(i) || v.IsNaN() {
					bad++
					continue
				}
				require.True(t, lo.Compare(v) <= 0 && v.Compare(hi) <= 0)
				loSeen, hiSeen = loSeen || v == lo, hiSeen || v == hi // not converted
			}
			require.Equal(t, bad, invalid)
			require.True(t, bad == size || loSeen && hiSeen)
		}
	})
}

// Scaled integers have the same index as their decimals.
func TestScaledDecimals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ints := rapid.SliceOfN(rapid.Int64Range(-9, 9), 0, 700).Draw(t, "ints")
		values := make([]decimal.Decimal, len(ints))
		decimal.FromInt64(values, ints, -2)
		valid := genValid(t, len(ints))
		a, b := NewDecimalBuilder(), NewDecimalBuilder()
		n := len(ints) / 3
		AddScaled(a, ints[:n], -2, valid.Slice(0, n))
		AddScaled(a, ints[n:], -2, valid.Slice(n, len(ints)))
		b.Add(values, valid)
		require.Equal(t, bytesOf(a.Append(nil, encoding.Options{})), bytesOf(b.Append(nil, encoding.Options{})))
	})
}

// A flipped bit or a cut makes the index invalid, or changes nothing: the test compares fields that the format does
// not check.
func TestDamage(t *testing.T) {
	for _, features := range []edition.Set{0, edition.E2026.Features()} {
		testDamage(t, encoding.Options{Features: features})
	}
}

func testDamage(t *testing.T, o encoding.Options) {
	var s numeric.Scratch
	x := NewBuilder[int64](5)
	values := make([]int64, 3000)
	for i := range values {
		values[i] = int64(i)
	}
	valid := bitmap.Bits{Data: bytes.Repeat([]byte{0xff, 0x7f}, 200), Len: 3000}
	x.Add(values, valid)
	buf := bytesOf(x.Append(nil, o))
	want, err := Parse[int64](buf, 5, 3000, &s)
	require.NoError(t, err)
	for bit := range 8 * len(buf) {
		buf[bit/8] ^= 1 << (bit % 8)
		_, err := Parse[int64](buf, 5, 3000, &s)
		require.Error(t, err, "bit %d", bit)
		buf[bit/8] ^= 1 << (bit % 8)
	}
	for n := range buf {
		_, err := Parse[int64](buf[:n], 5, 3000, &s)
		require.Error(t, err)
	}
	got, err := Parse[int64](buf, 5, 3000, &s)
	require.NoError(t, err)
	require.Equal(t, want, got)
	_, err = Parse[int64](buf, 5, 0, &s)
	require.Error(t, err)
}

// The number of positions comes from a descriptor that may be false. Memory stays bounded.
func TestHugeSpan(t *testing.T) {
	x := NewBuilder[int64](5)
	x.Add([]int64{1}, bitmap.All(1))
	buf := bytesOf(x.Append(nil, encoding.Options{}))
	for _, positions := range []uint64{1 << 40, 1<<64 - 1} {
		for i := range 8 {
			buf[4+i] = byte(positions >> (8 * i))
		}
		_, err := Parse[int64](buf, 5, positions, &numeric.Scratch{})
		require.ErrorIs(t, err, fault.ErrLimit)
	}
}

func FuzzParse(f *testing.F) {
	x := NewBuilder[int64](5)
	x.Add([]int64{1, 2, 3}, bitmap.All(3))
	f.Add(bytesOf(x.Append(nil, encoding.Options{})), uint64(3))
	x = NewBuilder[int64](5)
	x.Add([]int64{1, 2, 3}, bitmap.All(3))
	f.Add(bytesOf(x.Append(nil, encoding.Options{Features: edition.E2026.Features()})), uint64(3))
	f.Fuzz(func(t *testing.T, b []byte, positions uint64) {
		var s numeric.Scratch
		positions %= 1 << 20
		if x, err := Parse[int64](b, 5, positions, &s); err == nil {
			for i := range x.Len() {
				x.Block(i)
			}
		}
		if len(b) > 2 {
			ParseDecimal(b, positions, &s)
			Parse[float32](b, b[2], positions, &s)
		}
	})
}

func TestNoAllocations(t *testing.T) {
	values := make([]int64, 1000)
	valid := bitmap.Bits{Data: bytes.Repeat([]byte{0xff, 0x7f}, 100), Len: 1000}
	x := NewBuilder[int64](5)
	x.lo, x.hi, x.invalid = make([]int64, 0, 1000), make([]int64, 0, 1000), make([]uint16, 0, 1000)
	require.Zero(t, testing.AllocsPerRun(10, func() { x.Add(values, valid) }))
}

func BenchmarkAdd(b *testing.B) {
	values := make([]int64, 65536)
	decimals := make([]decimal.Decimal, len(values))
	for i := range values {
		values[i] = rand.Int64N(1e7)
	}
	decimal.FromInt64(decimals, values, -2)
	b.Run("int64", func(b *testing.B) {
		microbench.Output(b, 8*len(values)) // of the values
		for b.Loop() {
			NewBuilder[int64](5).Add(values, bitmap.All(len(values)))
		}
	})
	b.Run("decimal", func(b *testing.B) {
		microbench.Output(b, 16*len(values))
		for b.Loop() {
			NewDecimalBuilder().Add(decimals, bitmap.All(len(values)))
		}
	})
	b.Run("scaled", func(b *testing.B) {
		microbench.Output(b, 8*len(values))
		for b.Loop() {
			AddScaled(NewDecimalBuilder(), values, -2, bitmap.All(len(values)))
		}
	})
	for _, n := range []int{100, 1_000_000} {
		b.Run("append/rows="+map[int]string{100: "100", 1_000_000: "1M"}[n], func(b *testing.B) {
			microbench.Output(b, 8*n)
			for b.Loop() {
				x := NewBuilder[int64](5)
				for i := 0; i < n; i += len(values) {
					x.Add(values[:min(len(values), n-i)], bitmap.All(min(len(values), n-i)))
				}
				x.Append(nil, encoding.Options{})
			}
		})
	}
}
