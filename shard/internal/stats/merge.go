package stats

import (
	"bytes"
	"cmp"
	"math"

	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/decimal"
	"github.com/amudai/amudai-go/internal/format/hll"
)

// Merge adds the descriptor of a field in a stripe, next, to the merged descriptor of all
// earlier stripes, acc, which is nil at first. It may change acc, which must not be used
// afterwards, but not next. Stripes without positions change nothing. If all stripes are
// without positions, the result is nil, and the shard has an empty descriptor.
//
// Counts are added, ranges widened and sketches merged. Facts that are missing or different in
// a stripe are dropped. Filters and dictionary sizes are per stripe only. Properties and
// indexes are those of the first stripe.
func Merge(acc, next *shardpb.FieldDescriptor) *shardpb.FieldDescriptor {
	if next.GetPositionCount() == 0 {
		return acc
	}
	if acc == nil {
		acc = proto.CloneOf(next)
		acc.MembershipFilters, acc.DictionarySize = nil, nil
		return acc
	}
	acc.PositionCount += next.PositionCount
	acc.NullCount = sum(acc.NullCount, next.NullCount)
	acc.RawDataSize = sum(acc.RawDataSize, next.RawDataSize)
	if !sameValue(acc.ConstantValue, next.ConstantValue) {
		acc.ConstantValue = nil
	}
	acc.RangeStats = mergeRange(acc.RangeStats, next.RangeStats)
	acc.Cardinality = mergeCardinality(acc.Cardinality, next.Cardinality)
	mergeTypeSpecific(acc, next)
	return acc
}

// sum is nil unless both are known.
func sum(a, b *uint64) *uint64 {
	if a == nil || b == nil {
		return nil
	}
	s := *a + *b
	return &s
}

func mergeRange(a, b *shardpb.RangeStats) *shardpb.RangeStats {
	if a == nil || b == nil {
		return nil
	}
	lo, loInc, ok1 := bound(a.MinValue, b.MinValue, a.MinInclusive, b.MinInclusive, -1)
	hi, hiInc, ok2 := bound(a.MaxValue, b.MaxValue, a.MaxInclusive, b.MaxInclusive, 1)
	if !ok1 || !ok2 {
		return nil
	}
	return &shardpb.RangeStats{MinValue: lo, MinInclusive: loInc, MaxValue: hi, MaxInclusive: hiInc}
}

// bound is the outer one of two bounds; the parameter which is -1 for lower bounds and 1 for
// upper ones. A missing bound is that of a stripe without values. It is false if the two cannot
// be compared.
func bound(a, b *commonpb.AnyValue, aInc, bInc bool, which int) (v *commonpb.AnyValue, inclusive, ok bool) {
	switch {
	case a == nil:
		return proto.CloneOf(b), bInc, true
	case b == nil:
		return a, aInc, true
	}
	c, ok := Compare(a, b)
	switch {
	case !ok:
		return nil, false, false
	case c == 0:
		return a, aInc || bInc, true
	case c == which:
		return a, aInc, true
	}
	return proto.CloneOf(b), bInc, true
}

// Compare orders two values of the same kind. It is false for different kinds,
// for NaNs, and for kinds without an order.
func Compare(a, b *commonpb.AnyValue) (order int, ok bool) {
	switch a := a.GetKind().(type) {
	case *commonpb.AnyValue_I64Value:
		if b, ok := b.GetKind().(*commonpb.AnyValue_I64Value); ok {
			return cmp.Compare(a.I64Value, b.I64Value), true
		}
	case *commonpb.AnyValue_U64Value:
		if b, ok := b.GetKind().(*commonpb.AnyValue_U64Value); ok {
			return cmp.Compare(a.U64Value, b.U64Value), true
		}
	case *commonpb.AnyValue_DoubleValue:
		b, ok := b.GetKind().(*commonpb.AnyValue_DoubleValue)
		if ok && !math.IsNaN(a.DoubleValue) && !math.IsNaN(b.DoubleValue) {
			return cmp.Compare(a.DoubleValue, b.DoubleValue), true
		}
	case *commonpb.AnyValue_BoolValue:
		if b, ok := b.GetKind().(*commonpb.AnyValue_BoolValue); ok {
			return cmp.Compare(boolInt(a.BoolValue), boolInt(b.BoolValue)), true
		}
	case *commonpb.AnyValue_StringValue:
		if b, ok := b.GetKind().(*commonpb.AnyValue_StringValue); ok {
			return cmp.Compare(a.StringValue, b.StringValue), true
		}
	case *commonpb.AnyValue_BytesValue:
		if b, ok := b.GetKind().(*commonpb.AnyValue_BytesValue); ok {
			return bytes.Compare(a.BytesValue, b.BytesValue), true
		}
	case *commonpb.AnyValue_DatetimeValue:
		if b, ok := b.GetKind().(*commonpb.AnyValue_DatetimeValue); ok {
			return cmp.Compare(a.DatetimeValue.GetTicks(), b.DatetimeValue.GetTicks()), true
		}
	case *commonpb.AnyValue_TimespanValue:
		if b, ok := b.GetKind().(*commonpb.AnyValue_TimespanValue); ok {
			return cmp.Compare(int64(a.TimespanValue.GetTicks()), int64(b.TimespanValue.GetTicks())), true
		}
	case *commonpb.AnyValue_DecimalValue:
		if b, ok := b.GetKind().(*commonpb.AnyValue_DecimalValue); ok {
			return compareDecimals(a.DecimalValue, b.DecimalValue)
		}
	}
	return 0, false
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func compareDecimals(a, b []byte) (int, bool) {
	if len(a) != 16 || len(b) != 16 {
		return 0, false
	}
	x, y := decimal.Decimal(a), decimal.Decimal(b)
	return x.Compare(y), !x.IsNaN() && !y.IsNaN()
}

// sameValue reports whether two values have the same bits; 0 and -0 do not.
func sameValue(a, b *commonpb.AnyValue) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, ok1 := a.GetKind().(*commonpb.AnyValue_DoubleValue)
	y, ok2 := b.GetKind().(*commonpb.AnyValue_DoubleValue)
	if ok1 && ok2 && math.Float64bits(x.DoubleValue) != math.Float64bits(y.DoubleValue) {
		return false
	}
	return proto.Equal(a, b)
}

// mergeCardinality joins the sketches. If that is impossible, the number of distinct values is
// unknown.
func mergeCardinality(a, b *shardpb.CardinalityInfo) *shardpb.CardinalityInfo {
	if a == nil || b == nil {
		return nil
	}
	x, y := sketchOf(a.HllSketch), sketchOf(b.HllSketch)
	if x == nil || y == nil || a.HllSketch.HashSeed != b.HllSketch.HashSeed ||
		a.HllSketch.HashAlgorithm != b.HllSketch.HashAlgorithm || !x.Merge(y) {
		return &shardpb.CardinalityInfo{}
	}
	merged := cardinality(x)
	merged.HllSketch.HashAlgorithm, merged.HllSketch.HashSeed = a.HllSketch.HashAlgorithm, a.HllSketch.HashSeed
	return merged
}

func sketchOf(m *shardpb.HllSketchV1) *hll.Sketch {
	if m == nil {
		return nil
	}
	s, err := hll.Parse(m.BitsPerIndex, m.Counters)
	if err != nil {
		return nil // an unusable sketch counts as none
	}
	return s
}

// mergeTypeSpecific merges statistics of the same kind into those of acc. If next has none, acc
// keeps its own.
func mergeTypeSpecific(acc, next *shardpb.FieldDescriptor) {
	switch a := acc.TypeSpecific.(type) {
	case *shardpb.FieldDescriptor_StringStats:
		if b := next.GetStringStats(); b != nil {
			s := a.StringStats
			s.MinSize, s.MaxSize = min(s.MinSize, b.MinSize), max(s.MaxSize, b.MaxSize)
			s.MinNonEmptySize = minOf(s.MinNonEmptySize, b.MinNonEmptySize)
			s.AsciiCount = sum(s.AsciiCount, b.AsciiCount)
		}
	case *shardpb.FieldDescriptor_BinaryStats:
		if b := next.GetBinaryStats(); b != nil {
			s := a.BinaryStats
			s.MinLength, s.MaxLength = min(s.MinLength, b.MinLength), max(s.MaxLength, b.MaxLength)
			s.MinNonEmptyLength = minOf(s.MinNonEmptyLength, b.MinNonEmptyLength)
		}
	case *shardpb.FieldDescriptor_ListStats:
		if b := next.GetListStats(); b != nil {
			s := a.ListStats
			s.MinLength, s.MaxLength = min(s.MinLength, b.MinLength), max(s.MaxLength, b.MaxLength)
			s.MinNonEmptyLength = minOf(s.MinNonEmptyLength, b.MinNonEmptyLength)
		}
	case *shardpb.FieldDescriptor_BooleanStats:
		s, b := a.BooleanStats, next.GetBooleanStats()
		s.TrueCount += b.GetTrueCount()
		s.FalseCount += b.GetFalseCount()
	case *shardpb.FieldDescriptor_DecimalStats:
		s, b := a.DecimalStats, next.GetDecimalStats()
		s.ZeroCount += b.GetZeroCount()
		s.PositiveCount += b.GetPositiveCount()
		s.NegativeCount += b.GetNegativeCount()
		s.NanCount += b.GetNanCount()
	case *shardpb.FieldDescriptor_FloatingStats:
		s, b := a.FloatingStats, next.GetFloatingStats()
		s.ZeroCount += b.GetZeroCount()
		s.PositiveCount += b.GetPositiveCount()
		s.NegativeCount += b.GetNegativeCount()
		s.NanCount += b.GetNanCount()
		s.PositiveInfinityCount += b.GetPositiveInfinityCount()
		s.NegativeInfinityCount += b.GetNegativeInfinityCount()
	}
}

// minOf is the lesser of the known values.
func minOf(a, b *uint64) *uint64 {
	if a == nil || b != nil && *b < *a {
		a = b
	}
	if a == nil {
		return nil
	}
	v := *a
	return &v
}
