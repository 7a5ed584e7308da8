package stats

import (
	"unsafe"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/bounds"
)

// Integer is a type of whole numbers.
type Integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// Numeric collects the range of a column of integers, DateTime (uint64) or
// TimeSpan (int64). The zero value is ready.
type Numeric[T Integer] struct {
	counts
	lo, hi T // if there is a value
}

// Add adds values. valid marks the values that are not null; it has the same length.
func (c *Numeric[T]) Add(values []T, valid bitmap.Bits) {
	first := c.values() == 0
	if c.add(valid) == 0 {
		return
	}
	var buf [bounds.GatherLen]T
	for at := 0; at < len(values); {
		var run []T
		if run, at = bounds.Gather(values, valid, at, &buf); len(run) == 0 {
			continue
		}
		if first {
			c.lo, c.hi, first = run[0], run[0], false
		}
		lo, hi, _ := bounds.Of(run)
		c.lo, c.hi = min(c.lo, lo), max(c.hi, hi)
	}
}

// Range is the least and the greatest value; false if there is none.
func (c *Numeric[T]) Range() (lo, hi T, ok bool) { return c.lo, c.hi, c.values() > 0 }

// Fill implements [Collector].
func (c *Numeric[T]) Fill(f *shardpb.FieldDescriptor) {
	c.fill(f, c.values()*int64(unsafe.Sizeof(c.lo)))
	f.RangeStats = rangeOf(nil, nil)
	if c.values() > 0 {
		f.RangeStats = rangeOf(anyInteger(c.lo), anyInteger(c.hi))
	}
	f.ConstantValue = c.constant(c.lo == c.hi, func() *commonpb.AnyValue { return anyInteger(c.lo) })
}

// anyInteger is v as the format stores it: i64 if its type has a sign, else
// u64, also for DateTime.
func anyInteger[T Integer](v T) *commonpb.AnyValue {
	if ^T(0) < 0 {
		return i64Value(int64(v))
	}
	return u64Value(uint64(v))
}
