// Package stats collects the statistics of a column while it is written, and
// merges those of stripes into those of a shard (docs/format.md §10).
//
// There is one collector for each group of types: [Numeric], [Float],
// [Decimal], [Bool], [Bytes], [List] and [Presence]. Each takes slices of
// values with their validity, one pass over each, and at the end fills a field
// descriptor. A collector belongs to one goroutine; its zero value is ready
// unless there is a New function.
package stats

import (
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Collector is the common interface of all collectors.
type Collector interface {
	// Fill sets the counts, statistics, constant and raw size of the values that were added. It
	// does not change other fields of the descriptor.
	Fill(f *shardpb.FieldDescriptor)
}

// counts are the common counts of all collectors.
type counts struct {
	rows  int64 // nulls included
	nulls int64
}

// AddNulls adds n nulls.
func (c *counts) AddNulls(n int) {
	c.rows += int64(n)
	c.nulls += int64(n)
}

// add counts the positions of valid, and returns the number of values.
func (c *counts) add(valid bitmap.Bits) int {
	n := valid.Count()
	c.rows += int64(valid.Len)
	c.nulls += int64(valid.Len - n)
	return n
}

// values is the number of positions that are not null.
func (c *counts) values() int64 { return c.rows - c.nulls }

// bitmapBytes is the raw size of nulls: one bit for each position if some are null and some are
// not.
func (c *counts) bitmapBytes() int64 {
	if c.nulls == 0 || c.nulls == c.rows {
		return 0
	}
	return (c.rows + 7) / 8
}

// fill sets the statistics of all types. raw is the size of the values alone.
func (c *counts) fill(f *shardpb.FieldDescriptor, raw int64) {
	f.PositionCount = uint64(c.rows)
	f.NullCount = new(uint64(c.nulls))
	f.RawDataSize = new(uint64(raw + c.bitmapBytes()))
	f.ConstantValue = nil
}

// constant is the value at all positions: null if all are null, or value if none is null and
// same is true.
func (c *counts) constant(same bool, value func() *commonpb.AnyValue) *commonpb.AnyValue {
	switch {
	case c.rows == 0:
		return nil
	case c.nulls == c.rows:
		return nullValue()
	case c.nulls == 0 && same:
		return value()
	}
	return nil
}

func nullValue() *commonpb.AnyValue {
	return &commonpb.AnyValue{Kind: &commonpb.AnyValue_NullValue{NullValue: &commonpb.UnitValue{}}}
}

func i64Value(v int64) *commonpb.AnyValue {
	return &commonpb.AnyValue{Kind: &commonpb.AnyValue_I64Value{I64Value: v}}
}

func u64Value(v uint64) *commonpb.AnyValue {
	return &commonpb.AnyValue{Kind: &commonpb.AnyValue_U64Value{U64Value: v}}
}

func doubleValue(v float64) *commonpb.AnyValue {
	return &commonpb.AnyValue{Kind: &commonpb.AnyValue_DoubleValue{DoubleValue: v}}
}

// rangeOf is the range of a column; lo and hi are nil if it has no value.
func rangeOf(lo, hi *commonpb.AnyValue) *shardpb.RangeStats {
	return &shardpb.RangeStats{MinValue: lo, MinInclusive: true, MaxValue: hi, MaxInclusive: true}
}
