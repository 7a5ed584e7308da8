package stats

import (
	"math"
	"unsafe"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/bounds"
)

// Float collects the range and the classes of a column of floats. NaNs are
// outside of the range. The zero value is ready.
type Float[F float32 | float64] struct {
	counts
	zero, positive, negative, nan, posInf, negInf int64
	lo, hi                                        int64 // keys, if there is a value that is no NaN
}

// floatKey orders floats other than NaN like integers, with -0 before 0. Keys are distinct, and
// the function is its own inverse.
func floatKey(bits uint64) int64 { return int64(bits ^ uint64(int64(bits)>>63)>>1) }

func keyFloat(key int64) float64 { return math.Float64frombits(uint64(floatKey(uint64(key)))) }

const (
	infBits = 0x7ff << 52
	infKey  = int64(infBits)
)

// Add adds values. valid marks the values that are not null; it has the same length.
func (c *Float[F]) Add(values []F, valid bitmap.Bits) {
	if c.add(valid) == 0 {
		return
	}
	var buf [bounds.GatherLen]F
	for at := 0; at < len(values); {
		var run []F
		run, at = bounds.Gather(values, valid, at, &buf)
		for len(run) > 0 {
			part := run[:min(len(run), 1024)]
			c.dense(part)
			run = run[len(part):]
		}
	}
}

// dense adds non-null values.
func (c *Float[F]) dense(values []F) {
	lo, hi := keyBounds(values)
	n := int64(len(values))
	switch {
	case lo <= ^infKey || hi >= infKey:
		c.special(values)
		return
	case lo > 0:
		c.bound(lo, hi)
		c.positive += n
		return
	}
	c.bound(lo, hi)
	zero, negative := int64(0), uint64(0)
	for _, v := range values {
		negative += math.Float64bits(float64(v)) >> 63
		if v == 0 {
			zero++
			negative -= math.Float64bits(float64(v)) >> 63 // -0 counts as zero
		}
	}
	c.zero += zero
	c.negative += int64(negative)
	c.positive += n - zero - int64(negative)
}

// keyBounds is the least and the greatest key of v, which is not empty. NaNs
// are beyond the infinities.
func keyBounds[F float32 | float64](v []F) (lo, hi int64) {
	lo, hi = math.MaxInt64, math.MinInt64
	lo1, hi1 := lo, hi
	for len(v) >= 2 {
		a, b := floatKey(math.Float64bits(float64(v[0]))), floatKey(math.Float64bits(float64(v[1])))
		lo, hi = min(lo, a), max(hi, a)
		lo1, hi1 = min(lo1, b), max(hi1, b)
		v = v[2:]
	}
	for _, x := range v {
		a := floatKey(math.Float64bits(float64(x)))
		lo, hi = min(lo, a), max(hi, a)
	}
	return min(lo, lo1), max(hi, hi1)
}

// special is dense for values with NaNs or infinities among them.
func (c *Float[F]) special(values []F) {
	for _, v := range values {
		if v != v {
			c.nan++
			continue
		}
		key := floatKey(math.Float64bits(float64(v)))
		c.bound(key, key)
		switch {
		case key == infKey:
			c.posInf++
		case key == ^infKey:
			c.negInf++
		case v > 0:
			c.positive++
		case v < 0:
			c.negative++
		default:
			c.zero++
		}
	}
}

// bound widens the range, before the values are counted.
func (c *Float[F]) bound(lo, hi int64) {
	if c.ordered() == 0 {
		c.lo, c.hi = lo, hi
		return
	}
	c.lo, c.hi = min(c.lo, lo), max(c.hi, hi)
}

// ordered is the number of values that are no NaN.
func (c *Float[F]) ordered() int64 {
	return c.zero + c.positive + c.negative + c.posInf + c.negInf
}

// Fill implements [Collector].
func (c *Float[F]) Fill(f *shardpb.FieldDescriptor) {
	var width F
	c.fill(f, c.values()*int64(unsafe.Sizeof(width)))
	f.RangeStats = rangeOf(nil, nil)
	if c.ordered() > 0 {
		f.RangeStats = rangeOf(doubleValue(keyFloat(c.lo)), doubleValue(keyFloat(c.hi)))
	}
	f.TypeSpecific = &shardpb.FieldDescriptor_FloatingStats{FloatingStats: &shardpb.FloatingStats{
		ZeroCount: uint64(c.zero), PositiveCount: uint64(c.positive), NegativeCount: uint64(c.negative), NanCount: uint64(c.nan),
		PositiveInfinityCount: uint64(c.posInf), NegativeInfinityCount: uint64(c.negInf),
	}}
	// Equal keys are equal bits, so 0 and -0 are no constant. NaNs never are.
	same := c.nan == 0 && c.lo == c.hi
	f.ConstantValue = c.constant(same, func() *commonpb.AnyValue { return doubleValue(keyFloat(c.lo)) })
}
