package inspect

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
)

// TestDistinctOf compares estimates with limits that follow from other statistics.
func TestDistinctOf(t *testing.T) {
	i64 := func(v int64) *commonpb.AnyValue {
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_I64Value{I64Value: v}}
	}
	text := func(v string) *commonpb.AnyValue {
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_StringValue{StringValue: v}}
	}
	between := func(lo, hi *commonpb.AnyValue, exact bool) *shardpb.RangeStats {
		return &shardpb.RangeStats{MinValue: lo, MaxValue: hi, MinInclusive: exact, MaxInclusive: exact}
	}
	estimate := func(n uint64) *shardpb.CardinalityInfo {
		return &shardpb.CardinalityInfo{Count: proto.Uint64(n), IsEstimate: true}
	}
	const rows = 100
	null := &commonpb.AnyValue{Kind: &commonpb.AnyValue_NullValue{}}
	for want, list := range map[string][]*shardpb.FieldDescriptor{
		"": {{}, {NullCount: proto.Uint64(3)}, {NullCount: proto.Uint64(0), RangeStats: between(i64(1), i64(9), true)},
			{RangeStats: between(i64(1), i64(1), true)}},
		"0": {{ConstantValue: null}, {NullCount: proto.Uint64(rows)}},
		"1": {{ConstantValue: i64(7)}, {NullCount: proto.Uint64(5), RangeStats: between(i64(7), i64(7), true)}, {NullCount: proto.Uint64(rows - 1)}},
		"2": {{NullCount: proto.Uint64(0), RangeStats: between(i64(7), i64(8), true)}, {NullCount: proto.Uint64(rows - 2), RangeStats: between(text("a"), text("c"), true)},
			{TypeSpecific: &shardpb.FieldDescriptor_BooleanStats{BooleanStats: &shardpb.BooleanStats{TrueCount: 3, FalseCount: 9}}}},
		"≈2": {{NullCount: proto.Uint64(0), Cardinality: estimate(1), RangeStats: between(text("x"), text("y"), true)}},
		"≈1": {{NullCount: proto.Uint64(0), Cardinality: estimate(1), RangeStats: between(text("x"), text("y"), false)}},
		"≈7": {{NullCount: proto.Uint64(rows - 7), Cardinality: estimate(9), RangeStats: between(text("x"), text("y"), true)}},
		"5":  {{NullCount: proto.Uint64(0), Cardinality: &shardpb.CardinalityInfo{Count: proto.Uint64(5)}, RangeStats: between(text("x"), text("y"), true)}},
	} {
		for i, f := range list {
			f.PositionCount = rows
			require.Equal(t, want, countText(distinctOf(f)), "%q, %d", want, i)
		}
	}
	n, ok := integersBetween(i64(-1<<63), i64(1<<63-1))
	require.False(t, ok, n)
}

func countText(d distinct) string {
	switch {
	case d.n == nil:
		return ""
	case d.estimate:
		return fmt.Sprint("≈", *d.n)
	}
	return fmt.Sprint(*d.n)
}
