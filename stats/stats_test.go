package stats

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/decimal"
	"github.com/amudai/amudai-go/encoding/bytestring"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/hll"
	"github.com/amudai/amudai-go/internal/bitmap"
	"github.com/amudai/amudai-go/sbbf"
)

// genValid is a validity of n positions at some bit offset, often with long runs.
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

// inParts feeds n positions in parts of random length.
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
			lo, hi = min(lo, v), max(hi, v) // -0 below 0 in Go too
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
					values[i] = decimal.NotANumber()
				case 1:
					values[i] = decimal.Infinity(r.IntN(2) == 0)
				case 2:
					values[i], _ = decimal.Parse("-0.0")
				case 3:
					values[i], _ = decimal.Parse(fmt.Sprintf("%d.12345678901234567890", v))
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

// Scaled integers give what the decimals made of them give.
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

// Equal numbers that are not the same bits are no constant.
func TestNoConstantOfOtherBits(t *testing.T) {
	one, _ := decimal.Parse("1.0")
	two, _ := decimal.Parse("1.00")
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

func genStrings(t *rapid.T, fixed int) bytestring.Values {
	n := rapid.IntRange(0, 1300).Draw(t, "n")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	distinct := rapid.SampledFrom([]int{1, 2, 50, 5000}).Draw(t, "distinct")
	length := rapid.SampledFrom([]int{1, 20, 127, 130}).Draw(t, "length")
	v := bytestring.Values{N: n, Fixed: fixed}
	if fixed == 0 {
		v.Offsets = []int64{0}
	}
	for range n {
		s := fmt.Sprint(r.IntN(distinct))
		if r.IntN(50) == 0 && distinct > 1 {
			s += "é"
		}
		if fixed > 0 {
			s = fmt.Sprintf("%-*.*s", fixed, fixed, s)
			v.Data = append(v.Data, s[:fixed]...)
			continue
		}
		if length > 20 {
			s += string(bytes.Repeat([]byte("x"), length))
		}
		v.Data = append(v.Data, s...)
		v.Offsets = append(v.Offsets, int64(len(v.Data)))
	}
	return v
}

// Value by value, and as a dictionary knows them, the result is the same.
func TestBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fixed := rapid.SampledFrom([]int{0, 0, 16}).Draw(t, "fixed")
		v := genStrings(t, fixed)
		valid := genValid(t, v.N)
		o := BytesOptions{String: rapid.Bool().Draw(t, "string"), NoFilter: rapid.Bool().Draw(t, "no filter")}
		c, d := NewBytes(o), NewBytes(o)
		inParts(t, v.N, func(from, to int) { c.Add(v.Slice(from, to), valid.Slice(from, to)) })

		dictionary := map[string]int64{}
		var order []string
		f := &shardpb.FieldDescriptor{}
		total, ascii := 0, 0
		for i := range v.N {
			if !valid.At(i) {
				d.AddNulls(1)
				continue
			}
			s := string(v.At(i))
			if dictionary[s]++; dictionary[s] == 1 {
				order = append(order, s)
			}
			total += len(s)
			if !bytes.ContainsRune([]byte(s), 'é') {
				ascii++
			}
		}
		for _, s := range order {
			d.AddRepeated([]byte(s), dictionary[s])
		}
		g := &shardpb.FieldDescriptor{}
		c.Fill(f)
		d.Fill(g)
		require.True(t, proto.Equal(f, g), "%v\n%v", f, g)

		require.Equal(t, len(dictionary) > 0, f.Cardinality != nil)
		require.Equal(t, len(dictionary) > 0 && len(dictionary) <= 1024 && !o.NoFilter, f.MembershipFilters != nil)
		if o.String {
			require.EqualValues(t, ascii, f.GetStringStats().GetAsciiCount())
		}
		if filter := f.MembershipFilters.GetSbbf(); filter != nil {
			require.EqualValues(t, len(dictionary), filter.NumValues)
			ask, ok := sbbf.Open(filter.HashAlgorithm, filter.HashSeed, filter.Data)
			require.True(t, ok)
			for s := range dictionary {
				require.True(t, ask.MayContain([]byte(s)))
			}
		}
		if f.Cardinality != nil {
			s, err := hll.Parse(f.Cardinality.HllSketch.BitsPerIndex, f.Cardinality.HllSketch.Counters)
			require.NoError(t, err)
			require.Equal(t, s.Estimate(), f.Cardinality.GetCount())
		}
		nulls := valid.Nulls()
		switch {
		case v.N == 0:
			require.Nil(t, f.ConstantValue)
		case nulls == v.N:
			require.NotNil(t, f.ConstantValue.GetNullValue())
		default:
			require.Equal(t, nulls == 0 && len(dictionary) == 1 && len(order[0]) <= 128, f.ConstantValue != nil)
		}
		if nulls == 0 || nulls == v.N {
			require.EqualValues(t, total, f.GetRawDataSize())
		} else {
			require.EqualValues(t, total+(v.N+7)/8, f.GetRawDataSize())
		}
	})
}

// All values lie within the bounds, which are short, valid, and exact where they can be.
func TestBytesRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		isString := rapid.Bool().Draw(t, "string")
		gen := rapid.SliceOfN(rapid.ByteRange(0xfe, 0xff), 0, 70)
		if isString {
			runes := rapid.SampledFrom([]rune{0, 'a', 'b', 0xd7ff, 0xe000, 0x10ffff, 0x10fffe, 0xfffd})
			gen = rapid.Map(rapid.SliceOfN(runes, 0, 70), func(r []rune) []byte { return []byte(string(r)) })
			if rapid.IntRange(0, 9).Draw(t, "invalid") == 0 {
				gen = rapid.SliceOfN(rapid.Byte(), 0, 70)
			}
		}
		prefix := bytes.Repeat([]byte{'a'}, rapid.SampledFrom([]int{0, 7, 60, 63, 64}).Draw(t, "prefix"))
		c := NewBytes(BytesOptions{String: isString, Range: true})
		values := rapid.SliceOfN(gen, 0, 12).Draw(t, "values")
		valid := true
		for i := range values {
			values[i] = append(bytes.Clone(prefix), values[i]...)
			valid = valid && utf8.Valid(values[i])
			c.AddRepeated(values[i], 1)
		}
		f := &shardpb.FieldDescriptor{}
		c.Fill(f)
		_, err := proto.Marshal(f)
		require.NoError(t, err)
		if len(values) == 0 {
			require.True(t, proto.Equal(rangeOf(nil, nil), f.RangeStats))
			return
		}
		if f.RangeStats == nil {
			require.True(t, !valid || bytes.Contains(slices.MaxFunc(values, bytes.Compare), []byte(string(rune(0x10ffff)))) ||
				bytes.Equal(slices.MaxFunc(values, bytes.Compare)[:1], []byte{0xff}))
			return
		}
		bound := func(v *commonpb.AnyValue) []byte {
			if isString {
				return []byte(v.GetStringValue())
			}
			return v.GetBytesValue()
		}
		lo, hi := bound(f.RangeStats.MinValue), bound(f.RangeStats.MaxValue)
		require.LessOrEqual(t, max(len(lo), len(hi)), maxBound)
		least, greatest := slices.MinFunc(values, bytes.Compare), slices.MaxFunc(values, bytes.Compare)
		if f.RangeStats.MinInclusive {
			require.True(t, bytes.Equal(least, lo))
		} else {
			require.Negative(t, bytes.Compare(lo, least))
		}
		if f.RangeStats.MaxInclusive {
			require.True(t, bytes.Equal(greatest, hi))
		} else {
			require.Positive(t, bytes.Compare(hi, greatest))
		}
	})
}

func TestStringConstantOfInvalidUTF8(t *testing.T) {
	for _, isString := range []bool{true, false} {
		c := NewBytes(BytesOptions{String: isString})
		c.AddRepeated([]byte{0xff}, 3)
		f := &shardpb.FieldDescriptor{}
		c.Fill(f)
		require.Equal(t, isString, f.ConstantValue == nil)
		_, err := proto.Marshal(f)
		require.NoError(t, err)
	}
}

func TestList(t *testing.T) {
	var c List
	c.Add([]uint64{5, 5, 8, 10, 17}, bitmap.Bits{Data: []byte{0b0111}, Len: 4})
	f := &shardpb.FieldDescriptor{}
	c.Fill(f)
	two := uint64(2)
	want := &shardpb.FieldDescriptor{PositionCount: 4, NullCount: u64(1), RawDataSize: u64(33), TypeSpecific: &shardpb.FieldDescriptor_ListStats{
		ListStats: &shardpb.ListStats{MinLength: 0, MaxLength: 3, MinNonEmptyLength: &two}}}
	require.True(t, proto.Equal(want, f), "%v", f)
	f = &shardpb.FieldDescriptor{}
	new(List).Fill(f)
	require.Nil(t, f.TypeSpecific)
}

func value(v any) *commonpb.AnyValue {
	switch v := v.(type) {
	case int:
		return i64Value(int64(v))
	case uint64:
		return u64Value(v)
	case float64:
		return doubleValue(v)
	case string:
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_StringValue{StringValue: v}}
	case []byte:
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_BytesValue{BytesValue: v}}
	case bool:
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_BoolValue{BoolValue: v}}
	case decimal.Decimal:
		return decimalValue(v)
	}
	return nullValue()
}

func TestCompareValues(t *testing.T) {
	small, _ := decimal.Parse("1.00")
	large, _ := decimal.Parse("2")
	date := func(t uint64) *commonpb.AnyValue {
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_DatetimeValue{DatetimeValue: &commonpb.DateTimeUtc{Ticks: t}}}
	}
	span := func(t int64) *commonpb.AnyValue {
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_TimespanValue{TimespanValue: &commonpb.TimeSpan{Ticks: uint64(t)}}}
	}
	pairs := [][2]*commonpb.AnyValue{
		{value(-1), value(1)}, {value(uint64(1)), value(uint64(1 << 63))}, {value(-1.5), value(1.5)}, {value("a"), value("b")},
		{value([]byte{1}), value([]byte{1, 0})}, {value(false), value(true)}, {value(small), value(large)}, {date(1), date(2)}, {span(-1), span(1)},
	}
	for _, p := range pairs {
		for i, want := range []int{-1, 1} {
			got, ok := Compare(p[i], p[1-i])
			require.True(t, ok)
			require.Equal(t, want, got, "%v", p)
		}
		got, ok := Compare(p[0], p[0])
		require.True(t, ok && got == 0)
		_, ok = Compare(p[0], nullValue())
		require.False(t, ok)
	}
	_, ok := Compare(value(math.NaN()), value(1.0))
	require.False(t, ok)
	_, ok = Compare(value(1), value(uint64(1)))
	require.False(t, ok)
	_, ok = Compare(nil, nil)
	require.False(t, ok)
	_, ok = Compare(&commonpb.AnyValue{Kind: &commonpb.AnyValue_DecimalValue{DecimalValue: []byte{1}}}, value(small))
	require.False(t, ok)
	require.False(t, sameValue(value(0.0), value(math.Copysign(0, -1))))
	require.True(t, sameValue(value("x"), value("x")))
}

// Merging the descriptors of parts gives that of all.
func TestMergeOfParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var acc *shardpb.FieldDescriptor
		all := NewBytes(BytesOptions{String: true, NoFilter: true})
		parts := rapid.IntRange(0, 4).Draw(t, "parts")
		noValues := false
		for range parts {
			v := genStrings(t, 0)
			valid := genValid(t, v.N)
			part := NewBytes(BytesOptions{String: true})
			part.Add(v, valid)
			all.Add(v, valid)
			f := &shardpb.FieldDescriptor{}
			part.Fill(f)
			before := proto.CloneOf(f)
			acc = Merge(acc, f)
			require.True(t, proto.Equal(before, f), "next stays as it is")
			noValues = noValues || v.N > 0 && valid.Count() == 0
		}
		want := &shardpb.FieldDescriptor{}
		all.Fill(want)
		if want.PositionCount == 0 {
			require.Nil(t, acc)
			return
		}
		want.RawDataSize = acc.RawDataSize // bitmaps are per stripe
		if noValues {                      // such a stripe has no sketch, and its least length is 0
			want.Cardinality, acc.Cardinality = nil, nil
			want.GetStringStats().MinSize = acc.GetStringStats().MinSize
		}
		require.True(t, proto.Equal(want, acc), "%v\n%v", want, acc)
	})
}

func TestMergeNumbers(t *testing.T) {
	part := func(values ...float64) *shardpb.FieldDescriptor {
		var c Float[float64]
		c.Add(values, bitmap.All(len(values)))
		f := &shardpb.FieldDescriptor{}
		c.Fill(f)
		return f
	}
	got := Merge(Merge(nil, part(1, 2)), part())
	got = Merge(got, part(-1, math.NaN()))
	got = Merge(got, part(math.NaN()))
	require.EqualValues(t, 5, got.PositionCount)
	require.Equal(t, -1.0, got.RangeStats.MinValue.GetDoubleValue())
	require.Equal(t, 2.0, got.RangeStats.MaxValue.GetDoubleValue())
	require.EqualValues(t, 2, got.GetFloatingStats().NanCount)

	got = Merge(part(0), part(math.Copysign(0, -1)))
	require.Nil(t, got.ConstantValue)
	require.NotNil(t, Merge(part(7), part(7)).ConstantValue)

	// What is missing, or of another kind, is dropped.
	b := part(1)
	b.NullCount, b.RangeStats = nil, nil
	got = Merge(part(1), b)
	require.Nil(t, got.NullCount)
	require.Nil(t, got.RangeStats)
	var ints Numeric[int64]
	ints.Add([]int64{1}, bitmap.All(1))
	f := &shardpb.FieldDescriptor{}
	ints.Fill(f)
	got = Merge(part(1), f)
	require.Nil(t, got.RangeStats)
	require.Nil(t, got.ConstantValue)
}

func TestMergeOtherSketches(t *testing.T) {
	part := func() *shardpb.FieldDescriptor {
		c := NewBytes(BytesOptions{})
		c.AddRepeated([]byte("x"), 1)
		f := &shardpb.FieldDescriptor{}
		c.Fill(f)
		return f
	}
	for _, spoil := range []func(f *shardpb.FieldDescriptor){
		func(f *shardpb.FieldDescriptor) { f.Cardinality.HllSketch = nil },
		func(f *shardpb.FieldDescriptor) { f.Cardinality.HllSketch.HashSeed++ },
		func(f *shardpb.FieldDescriptor) { f.Cardinality.HllSketch.HashAlgorithm = "md5" },
		func(f *shardpb.FieldDescriptor) { f.Cardinality.HllSketch.BitsPerIndex = 99 },
	} {
		b := part()
		spoil(b)
		got := Merge(part(), b)
		require.True(t, proto.Equal(&shardpb.CardinalityInfo{}, got.Cardinality))
	}
	b := part()
	b.Cardinality = nil
	require.Nil(t, Merge(part(), b).Cardinality)
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

func bench(b *testing.B, n int, f func()) {
	for b.Loop() {
		f()
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(n), "ns/value")
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
		b.Run("int64/"+name, func(b *testing.B) { var c Numeric[int64]; bench(b, n, func() { c.Add(i64, valid) }) })
		b.Run("int8/"+name, func(b *testing.B) { var c Numeric[int8]; bench(b, n, func() { c.Add(i8, valid) }) })
		b.Run("float64/"+name, func(b *testing.B) { var c Float[float64]; bench(b, n, func() { c.Add(f64, valid) }) })
		b.Run("float32/"+name, func(b *testing.B) { var c Float[float32]; bench(b, n, func() { c.Add(f32, valid) }) })
		b.Run("decimal/"+name, func(b *testing.B) { var c Decimal; bench(b, n, func() { c.Add(decimals, valid) }) })
		b.Run("scaled/"+name, func(b *testing.B) { var c Decimal; bench(b, n, func() { c.AddScaled(i64, -2, valid) }) })
	}
	for _, length := range []int{8, 25, 100} {
		v := bytestring.Values{Fixed: length, N: n, Data: make([]byte, n*length)}
		for i := range v.Data {
			v.Data[i] = 'a' + byte(r.Uint32()&15)
		}
		b.Run(fmt.Sprintf("string/distinct/length=%d", length), func(b *testing.B) {
			c := NewBytes(BytesOptions{String: true})
			bench(b, n, func() { c.Add(v, bitmap.All(n)) })
		})
		copy(v.Data[length:], v.Data)
		for i := range n {
			copy(v.Data[i*length:], v.Data[i/20*20*length:][:length])
		}
		b.Run(fmt.Sprintf("string/runs/length=%d", length), func(b *testing.B) {
			c := NewBytes(BytesOptions{String: true})
			bench(b, n, func() { c.Add(v, bitmap.All(n)) })
		})
	}
}
