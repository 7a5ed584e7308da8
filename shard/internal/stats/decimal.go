package stats

import (
	"slices"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/bounds"
	"github.com/amudai/amudai-go/internal/format/decimal"
)

// Decimal collects the range and the classes of a column of decimals. NaNs are
// outside of the range, infinities inside. The zero value is ready.
type Decimal struct {
	counts
	zero, positive, negative, nan int64
	lo, hi                        decimal.Decimal // if there is a value that is no NaN
	first                         decimal.Decimal
	differ                        bool // not all bits alike

	// near are bounds at one exponent, so that most chunks of a column need no comparison with lo
	// and hi.
	near struct {
		known    bool
		exponent int
		lo, hi   int64
	}
}

// Add adds values. valid marks the values that are not null; it has the same length.
func (c *Decimal) Add(values []decimal.Decimal, valid bitmap.Bits) {
	started := c.values() > 0
	if c.add(valid) == 0 {
		return
	}
	var buf [bounds.GatherLen]decimal.Decimal
	for at := 0; at < len(values); {
		var run []decimal.Decimal
		if run, at = bounds.Gather(values, valid, at, &buf); len(run) == 0 {
			continue
		}
		if !started {
			c.first, started = run[0], true
		}
		for i := 0; i < len(run) && !c.differ; i++ {
			c.differ = run[i] != c.first
		}
		c.dense(run)
	}
}

// dense adds non-null values: if possible as integers with the exponent of the first value,
// which usually suits a whole column.
func (c *Decimal) dense(values []decimal.Decimal) {
	var ints [bounds.GatherLen]int64
	for len(values) > 0 {
		part := values[:min(len(values), len(ints))]
		exponent := part[0].Parts().Exponent
		n := decimal.ToInt64(ints[:], part, -exponent)
		if n == 0 {
			c.one(part[0])
			values = values[1:]
			continue
		}
		c.integers(part[:n], ints[:n], exponent)
		values = values[n:]
	}
}

// integers adds values that are the integers times 10^exponent.
func (c *Decimal) integers(values []decimal.Decimal, ints []int64, exponent int) {
	lo, hi, _ := bounds.Of(ints)
	fresh := !c.near.known || c.near.exponent != exponent
	if fresh || lo < c.near.lo {
		c.near.lo = lo
		c.bound(values[slices.Index(ints, lo)])
	}
	c.countSigns(ints, lo, hi)
	if fresh || hi > c.near.hi {
		c.near.hi = hi
		c.bound(values[slices.Index(ints, hi)])
	}
	c.near.exponent, c.near.known = exponent, true
}

// AddScaled adds the values coefficients[i] × 10^exponent, in the form that
// decimal.FromInt64 gives them. valid marks the values that are not null.
func (c *Decimal) AddScaled(coefficients []int64, exponent int, valid bitmap.Bits) {
	started := c.values() > 0
	if c.add(valid) == 0 {
		return
	}
	var buf [bounds.GatherLen]int64
	for at := 0; at < len(coefficients); {
		var run []int64
		if run, at = bounds.Gather(coefficients, valid, at, &buf); len(run) == 0 {
			continue
		}
		lo, hi, _ := bounds.Of(run)
		var ends [2]decimal.Decimal
		decimal.FromInt64(ends[:], []int64{lo, hi}, exponent)
		if !started {
			c.first, started = ends[0], true
		}
		c.differ = c.differ || lo != hi || c.first != ends[0]
		c.bound(ends[0])
		c.countSigns(run, lo, hi)
		c.bound(ends[1])
	}
}

// countSigns counts values with the signs of ints, which lie between lo and hi.
func (c *Decimal) countSigns(ints []int64, lo, hi int64) {
	n := int64(len(ints))
	switch {
	case lo > 0:
		c.positive += n
		return
	case hi < 0:
		c.negative += n
		return
	}
	zero, negative := int64(0), uint64(0)
	for _, v := range ints {
		negative += uint64(v) >> 63
		if v == 0 {
			zero++
		}
	}
	c.zero += zero
	c.negative += int64(negative)
	c.positive += n - zero - int64(negative)
}

// one adds a value of any class.
func (c *Decimal) one(d decimal.Decimal) {
	if d.IsNaN() {
		c.nan++
		return
	}
	c.bound(d)
	switch d.Sign() {
	case 0:
		c.zero++
	case 1:
		c.positive++
	default:
		c.negative++
	}
}

// bound widens the range by d, before d is counted. Of equal values the first stays.
func (c *Decimal) bound(d decimal.Decimal) {
	if c.ordered() == 0 {
		c.lo, c.hi = d, d
		return
	}
	if d.Compare(c.lo) < 0 {
		c.lo = d
	}
	if d.Compare(c.hi) > 0 {
		c.hi = d
	}
}

// ordered is the number of values that are no NaN.
func (c *Decimal) ordered() int64 { return c.zero + c.positive + c.negative }

// Fill implements [Collector].
func (c *Decimal) Fill(f *shardpb.FieldDescriptor) {
	c.fill(f, 16*c.values())
	f.RangeStats = rangeOf(nil, nil)
	if c.ordered() > 0 {
		f.RangeStats = rangeOf(decimalValue(c.lo), decimalValue(c.hi))
	}
	f.TypeSpecific = &shardpb.FieldDescriptor_DecimalStats{DecimalStats: &shardpb.DecimalStats{
		ZeroCount: uint64(c.zero), PositiveCount: uint64(c.positive), NegativeCount: uint64(c.negative), NanCount: uint64(c.nan),
	}}
	same := c.nan == 0 && !c.differ
	f.ConstantValue = c.constant(same, func() *commonpb.AnyValue { return decimalValue(c.first) })
}

func decimalValue(d decimal.Decimal) *commonpb.AnyValue {
	return &commonpb.AnyValue{Kind: &commonpb.AnyValue_DecimalValue{DecimalValue: append([]byte(nil), d[:]...)}}
}
