package stats

import (
	"bytes"
	"cmp"
	"math"
	"reflect"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
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
	return new(*a + *b)
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
	if reflect.TypeOf(a.GetKind()) != reflect.TypeOf(b.GetKind()) {
		return 0, false
	}
	switch a := a.GetKind().(type) {
	case *commonpb.AnyValue_I64Value:
		return cmp.Compare(a.I64Value, b.GetI64Value()), true
	case *commonpb.AnyValue_U64Value:
		return cmp.Compare(a.U64Value, b.GetU64Value()), true
	case *commonpb.AnyValue_DoubleValue:
		x, y := a.DoubleValue, b.GetDoubleValue()
		return cmp.Compare(x, y), x == x && y == y
	case *commonpb.AnyValue_BoolValue:
		return cmp.Compare(bitmap.Bit(a.BoolValue), bitmap.Bit(b.GetBoolValue())), true
	case *commonpb.AnyValue_StringValue:
		return cmp.Compare(a.StringValue, b.GetStringValue()), true
	case *commonpb.AnyValue_BytesValue:
		return bytes.Compare(a.BytesValue, b.GetBytesValue()), true
	case *commonpb.AnyValue_DatetimeValue:
		return cmp.Compare(a.DatetimeValue.GetTicks(), b.GetDatetimeValue().GetTicks()), true
	case *commonpb.AnyValue_TimespanValue:
		return cmp.Compare(int64(a.TimespanValue.GetTicks()), int64(b.GetTimespanValue().GetTicks())), true
	case *commonpb.AnyValue_DecimalValue:
		return compareDecimals(a.DecimalValue, b.GetDecimalValue())
	}
	return 0, false
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
	if reflect.TypeOf(acc.TypeSpecific) != reflect.TypeOf(next.TypeSpecific) {
		return
	}
	if a, b := LengthsOf(acc), LengthsOf(next); a != nil {
		*a.Min, *a.Max = min(*a.Min, *b.Min), max(*a.Max, *b.Max)
		*a.MinNonEmpty = minOf(*a.MinNonEmpty, *b.MinNonEmpty)
		if s := acc.GetStringStats(); s != nil {
			s.AsciiCount = sum(s.AsciiCount, next.GetStringStats().AsciiCount)
		}
	}
	addCounts(acc.GetBooleanStats(), next.GetBooleanStats())
	addCounts(acc.GetDecimalStats(), next.GetDecimalStats())
	addCounts(acc.GetFloatingStats(), next.GetFloatingStats())
}

// addCounts adds the fields of a message, which are all counts, to those of another.
func addCounts(acc, next proto.Message) {
	a := acc.ProtoReflect()
	next.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		a.Set(f, protoreflect.ValueOfUint64(a.Get(f).Uint()+v.Uint()))
		return true
	})
}

// Lengths are the fields of the statistics of strings, byte strings or lists that are about lengths.
type Lengths struct {
	Min, Max    *uint64
	MinNonEmpty **uint64
	Names       [3]string // of the fields
}

// LengthsOf are the statistics of lengths in a descriptor, nil if there are none.
func LengthsOf(f *shardpb.FieldDescriptor) *Lengths {
	lengths := [3]string{"min_length", "max_length", "min_non_empty_length"}
	switch s := f.GetTypeSpecific().(type) {
	case *shardpb.FieldDescriptor_StringStats:
		return &Lengths{&s.StringStats.MinSize, &s.StringStats.MaxSize, &s.StringStats.MinNonEmptySize, [3]string{"min_size", "max_size", "min_non_empty_size"}}
	case *shardpb.FieldDescriptor_BinaryStats:
		return &Lengths{&s.BinaryStats.MinLength, &s.BinaryStats.MaxLength, &s.BinaryStats.MinNonEmptyLength, lengths}
	case *shardpb.FieldDescriptor_ListStats:
		return &Lengths{&s.ListStats.MinLength, &s.ListStats.MaxLength, &s.ListStats.MinNonEmptyLength, lengths}
	}
	return nil
}

// minOf is the lesser of the known values.
func minOf(a, b *uint64) *uint64 {
	if a == nil || b != nil && *b < *a {
		a = b
	}
	if a == nil {
		return nil
	}
	return new(*a)
}
