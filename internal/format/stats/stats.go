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

// Collector is what all collectors have in common.
type Collector interface {
	// AddNulls adds n nulls.
	AddNulls(n int)
	// Fill sets the counts, statistics, constant and raw size of what was
	// added. Everything else of the descriptor stays as it is.
	Fill(f *shardpb.FieldDescriptor)
}

// counts is what every collector counts.
type counts struct {
	rows  int64 // nulls included
	nulls int64
}

// AddNulls adds n nulls.
func (c *counts) AddNulls(n int) {
	c.rows += int64(n)
	c.nulls += int64(n)
}

// add counts the positions of valid, and gives how many hold a value.
func (c *counts) add(valid bitmap.Bits) int {
	n := valid.Count()
	c.rows += int64(valid.Len)
	c.nulls += int64(valid.Len - n)
	return n
}

// values is the number of positions that are not null.
func (c *counts) values() int64 { return c.rows - c.nulls }

// bitmapBytes is what the nulls add to the raw size: one bit for each position
// if some are null and some are not.
func (c *counts) bitmapBytes() int64 {
	if c.nulls == 0 || c.nulls == c.rows {
		return 0
	}
	return (c.rows + 7) / 8
}

// fill sets what all types have. raw is the size of the values alone.
func (c *counts) fill(f *shardpb.FieldDescriptor, raw int64) {
	f.PositionCount = uint64(c.rows)
	f.NullCount = u64(c.nulls)
	f.RawDataSize = u64(raw + c.bitmapBytes())
	f.ConstantValue = nil
}

// constant is the value at all positions: null if all are, value if none is and
// same says that all are alike, bit for bit.
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

func u64(v int64) *uint64 {
	u := uint64(v)
	return &u
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
