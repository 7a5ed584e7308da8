package profile

import (
	"math"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// numbers collects integers, floats, decimals of up to 64 bits, times and durations, all as numbers of 64 bits.
type numbers[T number] struct {
	read  func(arr arrow.Array, dst *[]T) ([]T, error)
	scale int32 // of decimals: digits after the point

	scratch, dense []T
	counts         *numberCounts
	sample         *sample[T]
	moments        moments
	waiting        []T       // for moments
	origin         T         // of moments: the first of integers, as large ones, such as ids, are no floats
	differences    []float64 // from the origin
	order          order
	n              int64 // values that are not NaN
	min, max       T
	last           T
	zeros          int64
	negatives      int64
	nans, infinite int64
	width          int64 // bytes of a value
	fractions      bool  // there are values that are no integers
}

func newNumbers[T number](l limits, read func(arrow.Array, *[]T) ([]T, error), scale int32) *numbers[T] {
	return &numbers[T]{read: read, scale: scale, counts: &numberCounts{limit: l.distinct, slots: make([]numberTop, 64)}, sample: newSample[T](l.sample)}
}

// add implements [collector].
func (c *numbers[T]) add(arr arrow.Array, _ int64) error {
	if w, ok := arr.DataType().(arrow.FixedWidthDataType); ok {
		c.width = int64(w.BitWidth() / 8)
	}
	all, err := c.read(arr, &c.scratch)
	if err != nil {
		return err
	}
	c.addValues(c.withoutNaNs(c.withoutNulls(arr, all)))
	return nil
}

// withoutNulls removes the values of nulls.
func (c *numbers[T]) withoutNulls(arr arrow.Array, all []T) []T {
	if arrowutil.NullN(arr) == 0 {
		return all
	}
	valid := arrowutil.Validity(arr)
	dense := c.dense[:0]
	for i := 0; i < len(all); i += 64 {
		w := valid.Word(i)
		if w == ^uint64(0) {
			dense = append(dense, all[i:i+64]...)
			continue
		}
		for ; w != 0; w &= w - 1 {
			dense = append(dense, all[i+bits.TrailingZeros64(w)])
		}
	}
	c.dense = dense
	return dense
}

// withoutNaNs removes and counts NaNs.
func (c *numbers[T]) withoutNaNs(values []T) []T {
	i := slices.IndexFunc(values, func(v T) bool { return v != v })
	if i < 0 {
		return values
	}
	dense := append([]T(nil), values[:i]...)
	for _, v := range values[i:] {
		if v == v {
			dense = append(dense, v)
		}
	}
	c.nans += int64(len(values) - len(dense))
	return dense
}

func (c *numbers[T]) addValues(values []T) {
	if len(values) == 0 {
		return
	}
	if c.n == 0 {
		c.min, c.max, c.last = values[0], values[0], values[0]
		if _, float := any(values[0]).(float64); !float && c.counts.limit >= nearValues {
			c.counts.startNear(bitsOf(values[0]))
		}
	}
	least, most := c.min, c.max
	zeros, negatives := int64(0), int64(0)
	for _, v := range values {
		least, most = min(least, v), max(most, v)
		zeros += int64(bitmap.Bit(v == 0))
		negatives += int64(bitmap.Bit(v < 0))
	}
	c.min, c.max, c.zeros, c.negatives = least, most, c.zeros+zeros, c.negatives+negatives
	c.follow(values)
	c.n += int64(len(values))
	c.addMoments(values)
	c.fractions = c.fractions || hasFractions(values)
	c.sample.add(values)
	c.count(values)
}

// follow compares values with those before, as long as the column may have an order.
func (c *numbers[T]) follow(values []T) {
	rest := values
	if c.n == 0 {
		c.last, rest = values[0], values[1:]
	}
	for last := c.last; len(rest) > 0 && !(c.order.up && c.order.down); {
		n := min(len(rest), 512)
		up, down, same := int64(0), int64(0), int64(0)
		for _, v := range rest[:n] {
			up += int64(bitmap.Bit(v > last))
			down += int64(bitmap.Bit(v < last))
			same += int64(bitmap.Bit(v == last))
			last = v
		}
		c.order.up, c.order.down, c.order.same = c.order.up || up > 0, c.order.down || down > 0, c.order.same+same
		rest = rest[n:]
	}
	c.last = values[len(values)-1]
}

// hasFractions reports whether some floats are no integers.
func hasFractions[T number](values []T) bool {
	floats, ok := any(values).([]float64)
	return ok && slices.ContainsFunc(floats, func(v float64) bool { return v != math.Trunc(v) })
}

// count counts the values by their bits.
func (c *numbers[T]) count(values []T) {
	near := c.counts.near
	for _, v := range values {
		b := bitsOf(v)
		if k := b - c.counts.base; k < uint64(len(near)) {
			near[k]++
			continue
		}
		c.counts.add(b, 1)
	}
}

// bitsOf is a number as bits; both zeros of floats are the same.
func bitsOf[T number](v T) uint64 {
	switch v := any(v).(type) {
	case int64:
		return uint64(v)
	case uint64:
		return v
	case float64:
		if v == 0 {
			return 0
		}
		return math.Float64bits(v)
	}
	return 0
}

// ofBits is the inverse of bitsOf.
func ofBits[T number](b uint64) T {
	var v T
	switch p := any(&v).(type) {
	case *int64:
		*p = int64(b)
	case *uint64:
		*p = b
	case *float64:
		*p = math.Float64frombits(b)
	}
	return v
}

// order is how values follow each other.
type order struct {
	up, down bool
	same     int64 // values that equal the one before
}

func (o *order) result() Order {
	switch {
	case o.up && o.down, !o.up && !o.down:
		return NoOrder
	case o.up && o.same > 0:
		return Ascending
	case o.up:
		return StrictAscending
	case o.same > 0:
		return Descending
	}
	return StrictDescending
}

// moments are the mean and the sum of squared differences from it, of finite values. Parts are joined by the formula of Chan,
// Golub and LeVeque.
type moments struct {
	n, mean, m2 float64
}

// momentsPart is the number of values that are handled at once, whatever the sizes of batches, so that the same values give the same result.
const momentsPart = 4096

// addMoments adds values to those that wait for a whole part.
func (c *numbers[T]) addMoments(values []T) {
	for len(values) > 0 {
		if len(c.waiting) == 0 && len(values) >= momentsPart {
			c.joinMoments(values[:momentsPart])
			values = values[momentsPart:]
			continue
		}
		n := min(momentsPart-len(c.waiting), len(values))
		c.waiting = append(c.waiting, values[:n]...)
		if values = values[n:]; len(c.waiting) == momentsPart {
			c.joinMoments(c.waiting)
			c.waiting = c.waiting[:0]
		}
	}
}

func (c *numbers[T]) joinMoments(values []T) {
	integers := T(1)/2 == 0
	if integers && c.moments.n == 0 {
		c.origin = values[0]
	}
	c.differences = slices.Grow(c.differences[:0], len(values))[:len(values)]
	if integers && uint64(c.max-c.min) <= math.MaxInt64 {
		for i, v := range values {
			c.differences[i] = float64(int64(v - c.origin))
		}
	} else {
		for i, v := range values {
			c.differences[i] = float64(v) - float64(c.origin)
		}
	}
	x := momentsOf(c.differences)
	if math.IsNaN(x.mean) || math.IsInf(x.mean, 0) { // there are infinite values, or the sum is
		c.infinite += addSlowly(&c.moments, c.differences)
	} else {
		c.moments.join(x)
	}
}

func momentsOf(values []float64) (x moments) {
	s0, s1 := 0.0, 0.0
	for i := 0; i+1 < len(values); i += 2 {
		s0 += values[i]
		s1 += values[i+1]
	}
	if len(values)%2 == 1 {
		s0 += values[len(values)-1]
	}
	x.n = float64(len(values))
	x.mean = (s0 + s1) / x.n
	q0, q1 := 0.0, 0.0
	for i := 0; i+1 < len(values); i += 2 {
		a, b := values[i]-x.mean, values[i+1]-x.mean
		q0 += a * a
		q1 += b * b
	}
	if len(values)%2 == 1 {
		a := values[len(values)-1] - x.mean
		q0 += a * a
	}
	x.m2 = q0 + q1
	return x
}

func (m *moments) join(x moments) {
	n := m.n + x.n
	d := x.mean - m.mean
	m.mean += d * (x.n / n)
	m.m2 += x.m2 + d*d*(m.n*x.n/n)
	m.n = n
}

// addSlowly adds values whose sum is not finite.
func addSlowly(m *moments, values []float64) (infinite int64) {
	for _, f := range values {
		if math.IsInf(f, 0) {
			infinite++
			continue
		}
		m.join(moments{n: 1, mean: f})
	}
	return infinite
}
