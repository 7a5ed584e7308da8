package stats

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/decimal"
)

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
	small, _ := decimal.FromCoefficient(false, 0, 100, -2)
	large, _ := decimal.FromCoefficient(false, 0, 2, 0)
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

// Merging the descriptors of parts gives that of the whole.
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

	// Statistics that are missing, or of another kind, are dropped.
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
