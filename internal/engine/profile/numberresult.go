package profile

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
)

// finish implements [collector].
func (c *numbers[T]) finish(r *Column, dt arrow.DataType, o Options) {
	f := newFormatter[T](dt, r.Class, c.scale)
	r.Bytes = c.width * r.Count
	if len(c.waiting) > 0 {
		c.joinMoments(c.waiting)
	}
	n := &Numbers{Zeros: c.zeros, Negatives: c.negatives, NaNs: c.nans, Infinite: c.infinite, Fractions: c.fractions}
	r.Numbers = n
	r.Distinct, r.DistinctExact = c.counts.distinct()+min(c.nans, 1), c.counts.exact()
	r.Order = c.order.result()
	if c.nans > 0 {
		r.Order = NoOrder
	}
	if r.Order != NoOrder { // equal values follow each other
		r.Distinct, r.DistinctExact = c.n-c.order.same, true
	}
	if r.Distinct > c.n+c.nans {
		r.Distinct = c.n + c.nans
	}
	if c.n == 0 {
		return
	}
	r.Min, r.Max = f.value(c.min), f.value(c.max)
	c.describe(n, f)
	c.topValues(r, f, o)
	sorted, exact := c.sortedValues()
	total := int64(0)
	for _, w := range sorted {
		total += w.n
	}
	for _, share := range Shares {
		n.Quantiles = append(n.Quantiles, *f.value(quantile(sorted, total, share)))
	}
	if !exact {
		n.RankError = c.sample.error()
	}
	r.Histogram = histogramOf(sorted, c.n, exact, f, o.Bins)
}

// sortedValues returns all values, or those of the sample.
func (c *numbers[T]) sortedValues() (sorted []weighted[T], exact bool) {
	if !c.counts.exact() {
		exact = c.sample.exact()
		return c.sample.sorted(), exact
	}
	c.counts.each(func(b uint64, n int64) { sorted = append(sorted, weighted[T]{ofBits[T](b), n}) })
	slices.SortFunc(sorted, func(a, b weighted[T]) int { return cmp.Compare(a.value, b.value) })
	return sorted, true
}

// describe sets the mean and the deviation.
func (c *numbers[T]) describe(n *Numbers, f *formatter[T]) {
	m := c.moments
	if m.n == 0 {
		return
	}
	n.Mean = f.float(float64(c.origin) + m.mean)
	if f.class == Time || m.n < 2 {
		return
	}
	if d := math.Sqrt(m.m2/(m.n-1)) / f.factor; !math.IsInf(d, 0) && !math.IsNaN(d) {
		n.Deviation = &d
	}
}

func (c *numbers[T]) topValues(r *Column, f *formatter[T], o Options) {
	var all []weighted[T]
	c.counts.each(func(b uint64, n int64) { all = append(all, weighted[T]{ofBits[T](b), n}) })
	slices.SortFunc(all, func(a, b weighted[T]) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.value, b.value))
	})
	r.Top = &Top{Error: c.counts.error, All: len(all) <= o.TopValues && c.counts.exact()}
	for _, w := range all[:min(len(all), o.TopValues)] {
		r.Top.Values = append(r.Top.Values, TopValue{*f.value(w.value), w.n})
	}
}

// formatter makes values of numbers as they are collected.
type formatter[T number] struct {
	dt     arrow.DataType // without dictionaries and runs
	class  Class
	factor float64 // 10^scale of decimals
}

func newFormatter[T number](dt arrow.DataType, class Class, scale int32) *formatter[T] {
	return &formatter[T]{kinds.Decoded(dt), class, math.Pow10(int(scale))}
}

// value formats a value in the type of the column.
func (f *formatter[T]) value(v T) *Value {
	out := &Value{Float: float64(v) / f.factor}
	plain, _ := extension.Unwrap(f.dt)
	switch x := any(v).(type) {
	case int64:
		out.Text = f.textOf(plain, x)
	case uint64:
		out.Text = strconv.FormatUint(x, 10)
	case float64:
		bitsOf := 64
		if id := plain.ID(); id == arrow.FLOAT32 || id == arrow.FLOAT16 {
			bitsOf = 32
		}
		out.Text = string(text.AppendFloat(nil, x, bitsOf))
	}
	out.Number = f.class == Number && !math.IsInf(out.Float, 0) && !arrow.IsDecimal(plain.ID())
	return out
}

// textOf formats an integer by means of an array of one value.
func (f *formatter[T]) textOf(plain arrow.DataType, v int64) string {
	width := 8
	if w, ok := plain.(arrow.FixedWidthDataType); ok {
		width = w.BitWidth() / 8
	}
	raw := make([]byte, max(width, 8))
	arrowutil.As[int64](raw)[0] = v
	for i := 8; i < width; i++ {
		raw[i] = byte(v >> 63)
	}
	d := array.NewData(plain, 1, []*memory.Buffer{nil, memory.NewBufferBytes(raw[:width])}, nil, 0, 0)
	defer d.Release()
	arr := array.MakeFromData(d)
	defer arr.Release()
	if ext, ok := f.dt.(arrow.ExtensionType); ok && arrow.TypeEqual(ext.StorageType(), plain) {
		wrapped := array.NewExtensionArrayWithStorage(ext, arr)
		defer wrapped.Release()
		return string(values.Text(wrapped)(nil, 0))
	}
	return string(values.Text(arr)(nil, 0))
}

// float formats a number that is not a value of the column, such as a mean, in the unit of values before they are scaled.
func (f *formatter[T]) float(v float64) *Value {
	out := &Value{Float: v / f.factor}
	if f.class == Time || f.class == Span {
		if rounded := math.Round(v); math.Abs(rounded) < 1<<63 {
			plain, _ := extension.Unwrap(f.dt)
			out.Text = f.textOf(plain, int64(rounded))
		}
		return out
	}
	out.Text = strconv.FormatFloat(out.Float, 'g', -1, 64)
	out.Number = !math.IsInf(out.Float, 0) && !math.IsNaN(out.Float)
	return out
}

// FormatFloat formats a computed number with six significant digits.
func FormatFloat(v float64) string {
	s := strconv.FormatFloat(v, 'g', 6, 64)
	if a := math.Abs(v); a >= 1e6 && a < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(f) >= 1e-4 && math.Abs(f) < 1e6 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return s
}
