package stats

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/encoding/bytestring"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/decimal"
	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// genValid draws the validity of n positions at some bit offset, often with long runs.
func genValid(t *rapid.T, n int) bitmap.Bits {
	if rapid.IntRange(0, 3).Draw(t, "no nulls") == 0 {
		return bitmap.All(n)
	}
	off := rapid.IntRange(0, 70).Draw(t, "off")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "validity"), 0))
	data := make([]byte, (off+n+7)/8)
	for i := off; i < off+n; {
		run := 1 + r.IntN(1<<r.IntN(9))
		if r.IntN(3) > 0 {
			bitmap.SetRange(data, i, min(run, off+n-i))
		}
		i += run
	}
	return bitmap.Bits{Data: data, Off: off, Len: n}
}

// inParts adds n positions in parts of random lengths.
func inParts(t *rapid.T, n int, add func(from, to int)) {
	for from := 0; from < n; {
		to := min(n, from+rapid.IntRange(1, 700).Draw(t, "part"))
		add(from, to)
		from = to
	}
}

func testInteger[T Integer](t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1500).Draw(t, "n")
		seed := rapid.Uint64().Draw(t, "seed")
		shift := rapid.IntRange(0, 63).Draw(t, "shift")
		r := rand.New(rand.NewPCG(seed, 0))
		values := make([]T, n)
		for i := range values {
			values[i] = T(r.Uint64() >> shift)
		}
		valid := genValid(t, n)
		var c Numeric[T]
		inParts(t, n, func(from, to int) { c.Add(values[from:to], valid.Slice(from, to)) })
		extra := rapid.IntRange(0, 3).Draw(t, "extra nulls")
		c.AddNulls(extra)

		var want []T
		for i, v := range values {
			if valid.At(i) {
				want = append(want, v)
			}
		}
		lo, hi, ok := c.Range()
		require.Equal(t, len(want) > 0, ok)
		f := &shardpb.FieldDescriptor{}
		c.Fill(f)
		require.EqualValues(t, n+extra, f.GetPositionCount())
		require.EqualValues(t, n+extra-len(want), f.GetNullCount())
		if !ok {
			require.Nil(t, f.RangeStats.MinValue)
			require.Zero(t, f.GetRawDataSize())
			require.Equal(t, n+extra > 0, f.ConstantValue != nil)
			return
		}
		wlo, whi := want[0], want[0]
		for _, v := range want {
			wlo, whi = min(wlo, v), max(whi, v)
		}
		require.Equal(t, []T{wlo, whi}, []T{lo, hi})
		require.True(t, proto.Equal(anyInteger(wlo), f.RangeStats.MinValue))
		require.Equal(t, len(want) == n+extra && wlo == whi, f.ConstantValue != nil)
	})
}

func TestInteger(t *testing.T) {
	t.Run("int8", testInteger[int8])
	t.Run("int16", testInteger[int16])
	t.Run("int32", testInteger[int32])
	t.Run("int64", testInteger[int64])
	t.Run("uint8", testInteger[uint8])
	t.Run("uint16", testInteger[uint16])
	t.Run("uint32", testInteger[uint32])
	t.Run("uint64", testInteger[uint64])
}

func testFloat[F float32 | float64](t *testing.T) {
	special := []F{0, F(math.Copysign(0, -1)), F(math.NaN()), F(math.Inf(1)), F(math.Inf(-1)), 1, -1, math.SmallestNonzeroFloat32, F(math.MaxFloat32), -F(math.MaxFloat32)}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 2500).Draw(t, "n")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		odds := rapid.SampledFrom([]int{0, 1, 100, 1 << 30}).Draw(t, "odds")
		values := make([]F, n)
		for i := range values {
			values[i] = F(r.NormFloat64())
			if odds == 0 {
				values[i] = special[0]
			} else if r.IntN(odds) == 0 {
				values[i] = special[r.IntN(len(special))]
			}
		}
		valid := genValid(t, n)
		var c Float[F]
		inParts(t, n, func(from, to int) { c.Add(values[from:to], valid.Slice(from, to)) })
		f := &shardpb.FieldDescriptor{}
		c.Fill(f)

		want := &shardpb.FloatingStats{}
		lo, hi := math.NaN(), math.NaN()
		same, first := true, math.NaN()
		nulls := 0
		for i, x := range values {
			v := float64(x)
			switch {
			case !valid.At(i):
				nulls++
				continue
			case v != v:
				want.NanCount++
				same = false
				continue
			case math.IsInf(v, 1):
				want.PositiveInfinityCount++
			case math.IsInf(v, -1):
				want.NegativeInfinityCount++
			case v > 0:
				want.PositiveCount++
			case v < 0:
				want.NegativeCount++
			default:
				want.ZeroCount++
			}
			if lo != lo {
				lo, hi, first = v, v, v
			}
			lo, hi = min(lo, v), max(hi, v) // -0 is less than 0 for min and max, too
			same = same && math.Float64bits(v) == math.Float64bits(first)
		}
		require.True(t, proto.Equal(want, f.GetFloatingStats()), "%v %v", want, f.GetFloatingStats())
		if lo != lo {
			require.Nil(t, f.RangeStats.MinValue)
		} else {
			require.Equal(t, math.Float64bits(lo), math.Float64bits(f.RangeStats.MinValue.GetDoubleValue()))
			require.Equal(t, math.Float64bits(hi), math.Float64bits(f.RangeStats.MaxValue.GetDoubleValue()))
		}
		switch {
		case n == 0:
			require.Nil(t, f.ConstantValue)
		case nulls == n:
			require.NotNil(t, f.ConstantValue.GetNullValue())
		case nulls == 0 && same:
			require.Equal(t, math.Float64bits(first), math.Float64bits(f.ConstantValue.GetDoubleValue()))
		default:
			require.Nil(t, f.ConstantValue)
		}
	})
}

func TestFloat(t *testing.T) {
	t.Run("float32", testFloat[float32])
	t.Run("float64", testFloat[float64])
}

func TestDecimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 800).Draw(t, "n")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		odds := rapid.SampledFrom([]int{1, 50, 1 << 30}).Draw(t, "odds")
		limit := rapid.SampledFrom([]int64{1, 3, 1 << 40}).Draw(t, "limit")
		values := make([]decimal.Decimal, n)
		exponent := rapid.IntRange(-2, 0).Draw(t, "exponent")
		for i := range values {
			v := r.Int64N(2*limit) - limit
			decimal.FromInt64(values[i:i+1], []int64{v}, exponent)
			if r.IntN(odds) == 0 {
				switch r.IntN(5) {
				case 0:
					values[i] = decimal.Decimal{15: 0x7c}
				case 1:
					values[i] = []decimal.Decimal{{15: 0x78}, {15: 0xf8}}[r.IntN(2)]
				case 2:
					values[i], _ = decimal.FromCoefficient(true, 0, 0, -1)
				case 3:
					hi, lo := bits.Mul64(uint64(max(v, -v)), 1e19)
					values[i], _ = decimal.FromCoefficient(v < 0, hi, lo|1, -19)
				default:
					values[i] = values[i].Reduce()
				}
			}
		}
		valid := genValid(t, n)
		var c Decimal
		inParts(t, n, func(from, to int) { c.Add(values[from:to], valid.Slice(from, to)) })
		f := &shardpb.FieldDescriptor{}
		c.Fill(f)

		want := &shardpb.DecimalStats{}
		var lo, hi *decimal.Decimal
		nulls, same := 0, true
		for i, d := range values {
			if !valid.At(i) {
				nulls++
				continue
			}
			same = same && d == c.first
			if d.IsNaN() {
				want.NanCount++
				continue
			}
			if lo == nil || d.Compare(*lo) < 0 {
				lo = &values[i]
			}
			if hi == nil || d.Compare(*hi) > 0 {
				hi = &values[i]
			}
			switch d.Sign() {
			case 0:
				want.ZeroCount++
			case 1:
				want.PositiveCount++
			default:
				want.NegativeCount++
			}
		}
		require.True(t, proto.Equal(want, f.GetDecimalStats()), "%v %v", want, f.GetDecimalStats())
		if lo == nil {
			require.Nil(t, f.RangeStats.MinValue)
		} else {
			require.Zero(t, lo.Compare(decimal.Decimal(f.RangeStats.MinValue.GetDecimalValue())))
			require.Zero(t, hi.Compare(decimal.Decimal(f.RangeStats.MaxValue.GetDecimalValue())))
		}
		wantConstant := n > 0 && (nulls == n || nulls == 0 && same && want.NanCount == 0)
		require.Equal(t, wantConstant, f.ConstantValue != nil)
	})
}

// Scaled integers have the same statistics as their decimals.
func TestDecimalScaled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ints := rapid.SliceOfN(rapid.Int64Range(-3, 3), 0, 400).Draw(t, "ints")
		values := make([]decimal.Decimal, len(ints))
		decimal.FromInt64(values, ints, -4)
		valid := genValid(t, len(ints))
		var a, b Decimal
		inParts(t, len(ints), func(from, to int) { a.AddScaled(ints[from:to], -4, valid.Slice(from, to)) })
		b.Add(values, valid)
		fa, fb := &shardpb.FieldDescriptor{}, &shardpb.FieldDescriptor{}
		a.Fill(fa)
		b.Fill(fb)
		require.True(t, proto.Equal(fa, fb), "%v %v", fa, fb)
	})
}

// Equal numbers with different bits are not constant.
func TestNoConstantOfOtherBits(t *testing.T) {
	one, _ := decimal.FromCoefficient(false, 0, 10, -1)
	two, _ := decimal.FromCoefficient(false, 0, 100, -2)
	var d Decimal
	d.Add([]decimal.Decimal{one, two}, bitmap.All(2))
	var x Float[float64]
	x.Add([]float64{0, math.Copysign(0, -1)}, bitmap.All(2))
	var y Float[float64]
	y.Add([]float64{1.5, math.NaN()}, bitmap.All(2))
	for _, c := range []Collector{&d, &x, &y} {
		f := &shardpb.FieldDescriptor{}
		c.Fill(f)
		require.Nil(t, f.ConstantValue)
	}
}

func TestBool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		values, valid := genValid(t, n), genValid(t, n)
		var c Bool
		inParts(t, n, func(from, to int) { c.Add(values.Slice(from, to), valid.Slice(from, to)) })
		f := &shardpb.FieldDescriptor{}
		c.Fill(f)
		var trues, falses uint64
		for i := range n {
			if valid.At(i) && values.At(i) {
				trues++
			} else if valid.At(i) {
				falses++
			}
		}
		require.Equal(t, []uint64{trues, falses}, []uint64{f.GetBooleanStats().TrueCount, f.GetBooleanStats().FalseCount})
		constant := trues+falses == 0 || trues == uint64(n) || falses == uint64(n)
		require.Equal(t, constant, f.ConstantValue != nil)
	})
}

func TestList(t *testing.T) {
	var c List
	c.Add([]uint64{5, 5, 8, 10, 17}, bitmap.Bits{Data: []byte{0b0111}, Len: 4})
	f := &shardpb.FieldDescriptor{}
	c.Fill(f)
	two := uint64(2)
	want := &shardpb.FieldDescriptor{PositionCount: 4, NullCount: new(uint64(1)), RawDataSize: new(uint64(33)), TypeSpecific: &shardpb.FieldDescriptor_ListStats{
		ListStats: &shardpb.ListStats{MinLength: 0, MaxLength: 3, MinNonEmptyLength: &two}}}
	require.True(t, proto.Equal(want, f), "%v", f)
	f = &shardpb.FieldDescriptor{}
	new(List).Fill(f)
	require.Nil(t, f.TypeSpecific)
}

func TestNoAllocations(t *testing.T) {
	ints, floats := make([]int64, 5000), make([]float64, 5000)
	decimals := make([]decimal.Decimal, 5000)
	valid := bitmap.Bits{Data: bytes.Repeat([]byte{0xff, 0x7f}, 400), Len: 5000}
	strings := bytestring.Values{Data: make([]byte, 50_000), Fixed: 10, N: 5000}
	for i := range strings.Data {
		strings.Data[i] = byte(i >> 4 * 7)
	}
	var a Numeric[int64]
	var b Float[float64]
	var c Decimal
	d := NewBytes(BytesOptions{String: true})
	d.Add(strings, bitmap.All(5000))
	for _, v := range []bitmap.Bits{valid, bitmap.All(5000)} {
		require.Zero(t, testing.AllocsPerRun(5, func() {
			a.Add(ints, v)
			b.Add(floats, v)
			c.Add(decimals, v)
			c.AddScaled(ints, -2, v)
			d.Add(strings, v)
		}))
	}
}

// bench runs a function on some bytes.
func bench(b *testing.B, bytes int, f func()) {
	microbench.Output(b, bytes)
	for b.Loop() {
		f()
	}
}

func BenchmarkAdd(b *testing.B) {
	const n = 65536
	r := rand.New(rand.NewPCG(1, 2))
	i64, i8, f64, f32 := make([]int64, n), make([]int8, n), make([]float64, n), make([]float32, n)
	decimals := make([]decimal.Decimal, n)
	for i := range n {
		i64[i], f64[i] = r.Int64N(1e7), r.NormFloat64()
		i8[i], f32[i] = int8(i64[i]), float32(f64[i])
	}
	decimal.FromInt64(decimals, i64, -2)
	data := make([]byte, n/8)
	for i := range data {
		data[i] = 0xff
		if i%3 == 0 {
			data[i] = byte(r.Uint32())
		}
	}
	for name, valid := range map[string]bitmap.Bits{"nulls=none": bitmap.All(n), "nulls=some": {Data: data, Len: n}} {
		b.Run("int64/"+name, func(b *testing.B) { var c Numeric[int64]; bench(b, 8*n, func() { c.Add(i64, valid) }) })
		b.Run("int8/"+name, func(b *testing.B) { var c Numeric[int8]; bench(b, n, func() { c.Add(i8, valid) }) })
		b.Run("float64/"+name, func(b *testing.B) { var c Float[float64]; bench(b, 8*n, func() { c.Add(f64, valid) }) })
		b.Run("float32/"+name, func(b *testing.B) { var c Float[float32]; bench(b, 4*n, func() { c.Add(f32, valid) }) })
		b.Run("decimal/"+name, func(b *testing.B) { var c Decimal; bench(b, 16*n, func() { c.Add(decimals, valid) }) })
		b.Run("scaled/"+name, func(b *testing.B) { var c Decimal; bench(b, 8*n, func() { c.AddScaled(i64, -2, valid) }) })
	}
	for _, length := range []int{8, 25, 100} {
		v := bytestring.Values{Fixed: length, N: n, Data: make([]byte, n*length)}
		for i := range v.Data {
			v.Data[i] = 'a' + byte(r.Uint32()&15)
		}
		b.Run(fmt.Sprintf("string/distinct/length=%d", length), func(b *testing.B) {
			c := NewBytes(BytesOptions{String: true})
			bench(b, len(v.Data), func() { c.Add(v, bitmap.All(n)) })
		})
		copy(v.Data[length:], v.Data)
		for i := range n {
			copy(v.Data[i*length:], v.Data[i/20*20*length:][:length])
		}
		b.Run(fmt.Sprintf("string/runs/length=%d", length), func(b *testing.B) {
			c := NewBytes(BytesOptions{String: true})
			bench(b, len(v.Data), func() { c.Add(v, bitmap.All(n)) })
		})
	}
}
