package aggregate

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/column"
	"github.com/amudai/amudai-go/internal/engine/ast"
)

var (
	int64Type   = arrow.PrimitiveTypes.Int64
	float64Type = arrow.PrimitiveTypes.Float64
)

func bindCount(_ *plan, c *bound) error {
	c.dt = int64Type
	c.make = func(a *Aggregator) builder {
		count := a.counted(c)
		return func(from, to int) (arrow.Array, error) {
			return column.FromOrdinals(a.o.Allocator, int64Type, column.Fill(from, to, count), nil), nil
		}
	}
	return nil
}

// reals binds a call whose results are floats: those of a function of groups, null where it reports false.
func (c *bound) reals(begin func(a *Aggregator) func(group int) (float64, bool)) error {
	c.dt = float64Type
	c.make = func(a *Aggregator) builder {
		value := begin(a)
		return func(from, to int) (arrow.Array, error) {
			b := array.NewFloat64Builder(a.o.Allocator)
			defer b.Release()
			b.Reserve(to - from)
			for g := from; g < to; g++ {
				if v, ok := value(g); ok {
					b.UnsafeAppend(v)
				} else {
					b.UnsafeAppendBoolToBitmap(false)
				}
			}
			return b.NewArray(), nil
		}
	}
	return nil
}

// sumOf is the exact sum of integers or decimals, that of x + 1 by that of x.
func sumOf(a *Aggregator, c *bound, count func(group int) int64) func(group int) decimal128.Num {
	s := stateOf(a, "sum", c, false, empty[sums])
	return func(g int) decimal128.Num {
		sum := s.of(g)
		if c.shift != 0 {
			sum = sum.Add(decimal128.FromI64(c.shift).Mul(decimal128.FromI64(count(g))))
		}
		return sum
	}
}

func realSumOf(a *Aggregator, c *bound) *realSums {
	return stateOf(a, "real sum", c, false, empty[realSums])
}

// empty makes a state without any rows.
func empty[S any]() (*S, error) { return new(S), nil }

func bindSum(_ *plan, c *bound) error {
	dt := c.plain()
	if arrow.IsFloating(dt.ID()) {
		c.need(needReals)
		return c.reals(func(a *Aggregator) func(group int) (float64, bool) {
			count, s := a.counted(c), realSumOf(a, c)
			return func(g int) (float64, bool) { return s.n[g].Value(), count(g) > 0 }
		})
	}
	if dt.ID() != arrow.BOOL && !isNumber(dt) {
		return refuse(c, "numbers")
	}
	c.need(needIntegers)
	c.dt = &arrow.Decimal128Type{Precision: 38, Scale: column.ScaleOf(dt)}
	if column.ScaleOf(dt) > 38 {
		c.dt = &arrow.Decimal256Type{Precision: 76, Scale: column.ScaleOf(dt)}
	}
	c.make = func(a *Aggregator) builder {
		count := a.counted(c)
		sum := sumOf(a, c, count)
		return func(from, to int) (arrow.Array, error) {
			valid := column.Fill(from, to, func(g int) bool { return count(g) > 0 })
			out := column.Fill(from, to, sum)
			for i, v := range out {
				if valid[i] && c.dt.ID() == arrow.DECIMAL128 && !v.FitsInPrecision(38) {
					return nil, fault.Limitf("the sum of %s has more than 38 digits", c.arg.name)
				}
			}
			return column.FromNumbers(a.o.Allocator, c.dt, out, valid)
		}
	}
	return nil
}

func bindAverage(_ *plan, c *bound) error {
	dt := c.plain()
	if !isNumber(dt) {
		return refuse(c, "numbers")
	}
	real := arrow.IsFloating(dt.ID())
	if real {
		c.need(needReals)
	} else {
		c.need(needIntegers)
	}
	unit := math.Pow10(int(column.ScaleOf(dt)))
	return c.reals(func(a *Aggregator) func(group int) (float64, bool) {
		count := a.counted(c)
		var total func(g int) float64
		if real {
			s := realSumOf(a, c)
			total = func(g int) float64 { return s.n[g].Value() }
		} else {
			sum := sumOf(a, c, count)
			total = func(g int) float64 { return column.FloatOf(sum(g)) }
		}
		return func(g int) (float64, bool) {
			n := count(g)
			if n == 0 {
				return 0, false
			}
			return total(g) / (float64(n) * unit), true
		}
	})
}

func moment2(less float64, root bool) func(*plan, *bound) error {
	return func(_ *plan, c *bound) error {
		if !isNumber(c.plain()) {
			return refuse(c, "numbers")
		}
		c.need(needReals)
		return c.reals(func(a *Aggregator) func(group int) (float64, bool) {
			s := stateOf(a, "moments", c, false, empty[moments])
			return func(g int) (float64, bool) {
				m := s.n[g]
				if m.count <= less {
					return 0, false
				}
				v := m.squares / (m.count - less)
				if root {
					v = math.Sqrt(v)
				}
				return v, true
			}
		})
	}
}

func extreme(isGreatest bool) func(*plan, *bound) error {
	return func(_ *plan, c *bound) error {
		dt := c.plain()
		name, w := "min", least
		if isGreatest {
			name, w = "max", greatest
		}
		switch {
		case column.HasOrdinals(dt):
			c.need(needOrdinals)
		case dt.ID() == arrow.DECIMAL128:
			c.need(needNumbers)
		default:
			return pick(w, false)(nil, c)
		}
		c.dt = c.arg.out
		c.make = func(a *Aggregator) builder {
			count := a.counted(c)
			var values func(from, to int, valid []bool) (arrow.Array, error)
			if column.HasOrdinals(dt) {
				s := stateOf(a, name, c, false, func() (*extremes, error) { return newExtremes(isGreatest), nil })
				values = func(from, to int, valid []bool) (arrow.Array, error) {
					return column.FromOrdinals(a.o.Allocator, dt, s.n[from:to], valid), nil
				}
			} else {
				s := stateOf(a, name, c, false, func() (*numberExtremes, error) { return newNumberExtremes(isGreatest), nil })
				values = func(from, to int, valid []bool) (arrow.Array, error) {
					return column.FromNumbers(a.o.Allocator, dt, s.n[from:to], valid)
				}
			}
			return a.wrapped(c, func(from, to int) (arrow.Array, error) {
				return values(from, to, column.Fill(from, to, func(g int) bool { return count(g) > 0 }))
			})
		}
		return nil
	}
}

// wrapped gives plain results the type of the column.
func (a *Aggregator) wrapped(c *bound, b builder) builder {
	return func(from, to int) (arrow.Array, error) {
		plain, err := b(from, to)
		if plain == nil || err != nil || arrow.TypeEqual(plain.DataType(), c.dt) {
			return plain, err
		}
		defer plain.Release()
		if plain.DataType().ID() == arrow.DECIMAL64 {
			return arrowutil.Widen(a.o.Allocator, plain, c.dt), nil
		}
		return arrowutil.Wrap(a.o.Allocator, plain, c.dt)
	}
}

func bindBool(isGreatest bool) func(*plan, *bound) error {
	return func(p *plan, c *bound) error {
		if c.plain().ID() != arrow.BOOL {
			return refuse(c, "true and false")
		}
		return extreme(isGreatest)(p, c)
	}
}

// pick picks a value. Null is one of them if nulls is set.
func pick(w which, nulls bool) func(*plan, *bound) error {
	return func(_ *plan, c *bound) error {
		if w == first || w == last {
			c.need(needPlain)
		}
		c.dt = c.arg.out
		c.make = func(a *Aggregator) builder {
			key := [...]string{"first", "last", "min", "max"}[w]
			s := stateOf(a, key, c, nulls, func() (*picks, error) { return newPicks(a.o.Allocator, c.plain(), w) })
			return a.wrapped(c, s.values)
		}
		if w == least || w == greatest {
			_, err := newPicks(nil, c.plain(), w)
			return err
		}
		return nil
	}
}

// all is the state that has all values of an argument.
func (a *Aggregator) all(c *bound, nulls bool) *collected {
	key := "all"
	if nulls {
		key = "all with nulls"
	}
	return stateOf(a, key, c, nulls, func() (*collected, error) {
		return &collected{mem: a.o.Allocator, name: c.call.Text, limit: a.o.limit}, nil
	})
}

func bindMedian(p *plan, c *bound) error { return bindQuantile(c, 0.5, interpolates(c.plain())) }

// interpolates reports whether there are values between those of a type.
func interpolates(dt arrow.DataType) bool {
	switch dt.ID() {
	case arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP, arrow.TIME32, arrow.TIME64, arrow.DURATION:
		return true
	}
	return isNumber(dt)
}

// quantile binds the value at a quantile, or with continuous one between two values.
func quantile(continuous bool) func(*plan, *bound) error {
	return func(_ *plan, c *bound) error {
		q, err := c.fraction()
		if err != nil {
			return err
		}
		if continuous && !interpolates(c.plain()) {
			return refuse(c, "numbers and times")
		}
		return bindQuantile(c, q, continuous)
	}
}

func bindQuantile(c *bound, q float64, continuous bool) error {
	c.need(needPlain)
	c.dt = kinds.Decoded(c.arg.dt)
	dt := c.plain()
	if continuous {
		switch {
		case arrow.IsInteger(dt.ID()):
			c.dt, dt = float64Type, float64Type
		case dt.ID() == arrow.DATE32, dt.ID() == arrow.DATE64:
			c.dt, dt = timestampType, timestampType
		}
	}
	c.make = func(a *Aggregator) builder {
		s := a.all(c, false)
		return a.wrapped(c, func(from, to int) (arrow.Array, error) {
			if !continuous {
				return s.discrete(from, to, q)
			}
			return s.continuous(from, to, q, dt)
		})
	}
	return nil
}

var timestampType = &arrow.TimestampType{Unit: arrow.Microsecond}

func bindApproxQuantile(_ *plan, c *bound) error {
	q, err := c.fraction()
	if err != nil {
		return err
	}
	if !isNumber(c.plain()) {
		return refuse(c, "numbers")
	}
	c.need(needReals)
	return c.reals(func(a *Aggregator) func(group int) (float64, bool) {
		s := stateOf(a, "digest", c, false, empty[digests])
		return func(g int) (float64, bool) { return s.n[g].Quantile(q) }
	})
}

func bindApproxDistinct(_ *plan, c *bound) error {
	c.dt = int64Type
	if column.HasOrdinals(c.plain()) || kinds.Storage(c.arg.dt).ID() != arrow.DICTIONARY {
		c.need(needPlain)
	}
	_, err := newSketches(c.arg.dt)
	if err != nil {
		return errorAt(c.call.Pos, "%v", err)
	}
	c.make = func(a *Aggregator) builder {
		s := stateOf(a, "sketch", c, false, func() (*sketches, error) { return newSketches(c.arg.dt) })
		return func(from, to int) (arrow.Array, error) {
			return column.FromOrdinals(a.o.Allocator, int64Type, column.Fill(from, to, func(g int) int64 { return s.n[g].Estimate() }), nil), nil
		}
	}
	return nil
}

func bindList(_ *plan, c *bound) error {
	c.need(needPlain)
	c.dt = arrow.ListOf(kinds.Decoded(c.arg.dt))
	c.make = func(a *Aggregator) builder {
		s := a.all(c, true)
		return func(from, to int) (arrow.Array, error) { return s.list(from, to, kinds.Decoded(c.arg.dt)) }
	}
	return nil
}

func bindJoin(_ *plan, c *bound) error {
	separator := ","
	if len(c.call.Args) > 1 {
		n := c.call.Args[1]
		if n.Op != ast.OpLiteral || n.Lit.Kind != ast.LitString {
			return errorAt(n.Pos, "the separator of %s is a text in single quotes", c.call.Name)
		}
		separator = n.Lit.Text
	}
	c.need(needPlain)
	c.dt = arrow.BinaryTypes.String
	c.make = func(a *Aggregator) builder {
		s := a.all(c, false)
		return func(from, to int) (arrow.Array, error) { return s.join(from, to, separator) }
	}
	return nil
}
