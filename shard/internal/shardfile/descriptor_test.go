package shardfile

import (
	"encoding/hex"
	"fmt"
	"math"
	"sort"
	"strconv"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
)

// recordedDescriptor is a field descriptor in the form of stats.jsonl.gz, for comparison with a recorded one.
func recordedDescriptor(d *shardpb.FieldDescriptor) map[string]any {
	m := map[string]any{"position_count": float64(d.GetPositionCount())}
	if d.NullCount != nil {
		m["null_count"] = float64(d.GetNullCount())
	}
	if d.RawDataSize != nil {
		m["raw_data_size"] = float64(d.GetRawDataSize())
	}
	if d.DictionarySize != nil {
		m["dictionary_size"] = float64(d.GetDictionarySize())
	}
	if d.ConstantValue != nil {
		m["constant_value"] = recordedValue(d.ConstantValue)
	}
	if r := d.RangeStats; r != nil {
		m["range"] = map[string]any{
			"min": recordedValue(r.MinValue), "min_inclusive": r.MinInclusive,
			"max": recordedValue(r.MaxValue), "max_inclusive": r.MaxInclusive,
		}
	}
	if c := d.Cardinality; c != nil {
		m["cardinality"] = cardinality(c)
	}
	if f := d.GetMembershipFilters().GetSbbf(); f != nil {
		m["sbbf"] = map[string]any{
			"algorithm": f.HashAlgorithm, "bytes": float64(len(f.Data)), "num_blocks": float64(f.NumBlocks),
			"num_values": float64(f.NumValues), "seed": fmt.Sprintf("%016x", f.HashSeed), "target_fpp": f.TargetFpp,
		}
	}
	if len(d.CustomProperties) > 0 {
		var list []any
		for _, p := range recordedProperties(d.CustomProperties) {
			list = append(list, []any{p[0], p[1]})
		}
		m["custom_properties"] = list
	}
	typeStats(m, d)
	return m
}

func cardinality(c *shardpb.CardinalityInfo) map[string]any {
	m := map[string]any{"is_estimate": c.IsEstimate}
	if c.Count != nil {
		m["count"] = float64(c.GetCount())
	}
	if h := c.HllSketch; h != nil {
		m["hll"] = map[string]any{
			"algorithm": h.HashAlgorithm, "bits": float64(h.BitsPerIndex),
			"counters": hex.EncodeToString(h.Counters), "seed": fmt.Sprintf("%016x", h.HashSeed),
		}
	}
	return m
}

func typeStats(m map[string]any, d *shardpb.FieldDescriptor) {
	if s := d.GetStringStats(); s != nil {
		m["string_stats"] = map[string]any{
			"min_size": float64(s.MinSize), "max_size": float64(s.MaxSize),
			"min_non_empty_size": optional(s.MinNonEmptySize), "ascii_count": optional(s.AsciiCount),
		}
	}
	if s := d.GetBinaryStats(); s != nil {
		m["binary_stats"] = map[string]any{
			"min_length": float64(s.MinLength), "max_length": float64(s.MaxLength), "min_non_empty_length": optional(s.MinNonEmptyLength),
		}
	}
	if s := d.GetListStats(); s != nil {
		m["list_stats"] = map[string]any{
			"min_length": float64(s.MinLength), "max_length": float64(s.MaxLength), "min_non_empty_length": optional(s.MinNonEmptyLength),
		}
	}
	if s := d.GetBooleanStats(); s != nil {
		m["boolean_stats"] = map[string]any{"true": float64(s.TrueCount), "false": float64(s.FalseCount)}
	}
	if s := d.GetDecimalStats(); s != nil {
		m["decimal_stats"] = map[string]any{
			"zero": float64(s.ZeroCount), "positive": float64(s.PositiveCount),
			"negative": float64(s.NegativeCount), "nan": float64(s.NanCount),
		}
	}
	if s := d.GetFloatingStats(); s != nil {
		m["floating_stats"] = map[string]any{
			"zero": float64(s.ZeroCount), "positive": float64(s.PositiveCount), "negative": float64(s.NegativeCount),
			"nan": float64(s.NanCount), "positive_infinity": float64(s.PositiveInfinityCount),
			"negative_infinity": float64(s.NegativeInfinityCount),
		}
	}
}

func optional(v *uint64) any {
	if v == nil {
		return nil
	}
	return float64(*v)
}

// recordedValue is a value in the form of stats.jsonl.gz.
func recordedValue(v *commonpb.AnyValue) any {
	if v == nil {
		return nil
	}
	switch k := v.Kind.(type) {
	case *commonpb.AnyValue_NullValue:
		return map[string]any{"null": true}
	case *commonpb.AnyValue_BoolValue:
		return map[string]any{"bool": k.BoolValue}
	case *commonpb.AnyValue_I64Value:
		return map[string]any{"i64": strconv.FormatInt(k.I64Value, 10)}
	case *commonpb.AnyValue_U64Value:
		return map[string]any{"u64": strconv.FormatUint(k.U64Value, 10)}
	case *commonpb.AnyValue_DoubleValue:
		return map[string]any{"bits": fmt.Sprintf("%016x", math.Float64bits(k.DoubleValue))}
	case *commonpb.AnyValue_StringValue:
		return map[string]any{"string": k.StringValue}
	case *commonpb.AnyValue_BytesValue:
		return map[string]any{"bytes": hex.EncodeToString(k.BytesValue)}
	case *commonpb.AnyValue_DecimalValue:
		return map[string]any{"decimal": hex.EncodeToString(k.DecimalValue)}
	}
	return fmt.Sprintf("%T", v.Kind)
}

// recordedProperties are names and values, sorted by name.
func recordedProperties(list []*commonpb.NameValuePair) [][2]any {
	out := [][2]any{}
	for _, p := range list {
		out = append(out, [2]any{p.Name, recordedValue(p.Value)})
	}
	sort.Slice(out, func(i, j int) bool { return out[i][0].(string) < out[j][0].(string) })
	return out
}

// withoutText drops the text of doubles, whose bits are recorded too.
func withoutText(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["bits"]; ok {
			delete(v, "double")
		}
		for _, e := range v {
			withoutText(e)
		}
	case []any:
		for _, e := range v {
			withoutText(e)
		}
	}
	return v
}
