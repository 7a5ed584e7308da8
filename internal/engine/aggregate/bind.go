package aggregate

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/ast"
)

var (
	int64Type   = arrow.PrimitiveTypes.Int64
	float64Type = arrow.PrimitiveTypes.Float64
)

func bindCount(_ *plan, c *bound) error {
	c.dt = int64Type
	c.make = func(a *Aggregator) (builder, error) {
		count, err := a.counted(c)
		return func(from, to int) (arrow.Array, error) {
			return fromOrdinals(a.o.mem, int64Type, fill(from, to, count), allValid(to-from)), nil
		}, err
	}
	return nil
}

// fill makes a slice of what f returns for groups.
func fill[T any](from, to int, f func(group int) T) []T {
	out := make([]T, to-from)
	for i := range out {
		out[i] = f(from + i)
	}
	return out
}

func allValid(n int) []bool {
	valid := make([]bool, n)
	for i := range valid {
		valid[i] = true
	}
	return valid
}

// floatsOf makes an array of floats, with null where valid is false.
func floatsOf(mem memory.Allocator, from, to int, f func(group int) (float64, bool)) arrow.Array {
	b := array.NewFloat64Builder(mem)
	defer b.Release()
	b.Reserve(to - from)
	for g := from; g < to; g++ {
		if v, ok := f(g); ok {
			b.UnsafeAppend(v)
		} else {
			b.UnsafeAppendBoolToBitmap(false)
		}
	}
	return b.NewArray()
}

// sumOf is the state of the sum of an argument.
func sumOf(a *Aggregator, c *bound) (*sums, error) {
	s, err := a.state("sum", a.mask(c, true), c.index, func() (state, error) { return &sums{}, nil })
	if err != nil {
		return nil, err
	}
	return s.(*sums), nil
}

func realSumOf(a *Aggregator, c *bound) (*realSums, error) {
	s, err := a.state("real sum", a.mask(c, true), c.index, func() (state, error) { return &realSums{}, nil })
	if err != nil {
		return nil, err
	}
	return s.(*realSums), nil
}

func bindSum(_ *plan, c *bound) error {
	dt := c.plain()
	if arrow.IsFloating(dt.ID()) {
		c.need(needReals)
		c.dt = float64Type
		c.make = func(a *Aggregator) (builder, error) {
			count, err := a.counted(c)
			if err != nil {
				return nil, err
			}
			s, err := realSumOf(a, c)
			return func(from, to int) (arrow.Array, error) {
				return floatsOf(a.o.mem, from, to, func(g int) (float64, bool) { return s.n[g].value(), count(g) > 0 }), nil
			}, err
		}
		return nil
	}
	if !isInteger(dt) && !isNumber(dt) {
		return refuse(c, "numbers")
	}
	c.need(needIntegers)
	c.dt = &arrow.Decimal128Type{Precision: 38, Scale: scaleOf(dt)}
	if scaleOf(dt) > 38 {
		c.dt = &arrow.Decimal256Type{Precision: 76, Scale: scaleOf(dt)}
	}
	c.make = func(a *Aggregator) (builder, error) {
		count, err := a.counted(c)
		if err != nil {
			return nil, err
		}
		s, err := sumOf(a, c)
		return func(from, to int) (arrow.Array, error) {
			valid := fill(from, to, func(g int) bool { return count(g) > 0 })
			out := fill(from, to, func(g int) decimal128.Num { return decimal128.New(s.n[g].hi, s.n[g].lo) })
			for i, v := range out {
				if valid[i] && c.dt.ID() == arrow.DECIMAL128 && !v.FitsInPrecision(38) {
					return nil, fault.Limitf("the sum of %s has more than 38 digits", c.arg.name)
				}
			}
			return fromNumbers(a.o.mem, c.dt, out, valid)
		}, err
	}
	return nil
}

// fromNumbers makes an array of integers, times or decimals.
func fromNumbers(mem memory.Allocator, dt arrow.DataType, v []decimal128.Num, valid []bool) (arrow.Array, error) {
	bits, nulls := validity(mem, valid)
	switch dt.ID() {
	case arrow.DECIMAL128:
		values := arrowutil.NewBuffer(mem, 16*len(v))
		copy(arrowutil.As[decimal128.Num](values.Bytes()), v)
		return arrowutil.Make(dt, len(v), []*memory.Buffer{bits, values}, nil, nulls), nil
	case arrow.DECIMAL256:
		values := arrowutil.NewBuffer(mem, 32*len(v))
		for i, x := range v {
			arrowutil.As[decimal256.Num](values.Bytes())[i] = decimal256.FromDecimal128(x)
		}
		return arrowutil.Make(dt, len(v), []*memory.Buffer{bits, values}, nil, nulls), nil
	}
	if bits != nil {
		bits.Release()
	}
	ints := make([]int64, len(v))
	for i, x := range v {
		ints[i] = int64(x.LowBits())
		if dt.ID() == arrow.UINT64 {
			ints[i] = int64(x.LowBits() ^ 1<<63)
		}
	}
	return fromOrdinals(mem, dt, ints, valid), nil
}

func bindAverage(_ *plan, c *bound) error {
	dt := c.plain()
	if !isNumber(dt) {
		return refuse(c, "numbers")
	}
	c.dt = float64Type
	real := arrow.IsFloating(dt.ID())
	if real {
		c.need(needReals)
	} else {
		c.need(needIntegers)
	}
	unit := math.Pow10(int(scaleOf(dt)))
	c.make = func(a *Aggregator) (builder, error) {
		count, err := a.counted(c)
		if err != nil {
			return nil, err
		}
		var total func(g int) float64
		if real {
			s, e := realSumOf(a, c)
			total, err = func(g int) float64 { return s.n[g].value() }, e
		} else {
			s, e := sumOf(a, c)
			total, err = func(g int) float64 { return floatOf(decimal128.New(s.n[g].hi, s.n[g].lo)) }, e
		}
		return func(from, to int) (arrow.Array, error) {
			return floatsOf(a.o.mem, from, to, func(g int) (float64, bool) {
				n := count(g)
				if n == 0 {
					return 0, false
				}
				return total(g) / (float64(n) * unit), true
			}), nil
		}, err
	}
	return nil
}

func moment2(less float64, root bool) func(*plan, *bound) error {
	return func(_ *plan, c *bound) error {
		if !isNumber(c.plain()) {
			return refuse(c, "numbers")
		}
		c.need(needReals)
		c.dt = float64Type
		c.make = func(a *Aggregator) (builder, error) {
			s, err := a.state("moments", a.mask(c, true), c.index, func() (state, error) { return &moments{}, nil })
			if err != nil {
				return nil, err
			}
			n := s.(*moments)
			return func(from, to int) (arrow.Array, error) {
				return floatsOf(a.o.mem, from, to, func(g int) (float64, bool) {
					m := n.n[g]
					if m.count <= less {
						return 0, false
					}
					v := m.squares / (m.count - less)
					if root {
						v = math.Sqrt(v)
					}
					return v, true
				}), nil
			}, nil
		}
		return nil
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
		case hasOrdinals(dt):
			c.need(needOrdinals)
			c.dt = c.arg.out
			c.make = func(a *Aggregator) (builder, error) {
				return a.extremes(c, name, dt, isGreatest)
			}
			return nil
		case dt.ID() == arrow.DECIMAL128:
			c.need(needNumbers)
			c.dt = c.arg.out
			c.make = func(a *Aggregator) (builder, error) {
				count, err := a.counted(c)
				if err != nil {
					return nil, err
				}
				s, err := a.state(name, a.mask(c, true), c.index, func() (state, error) { return &numberExtremes{greatest: isGreatest}, nil })
				if err != nil {
					return nil, err
				}
				return a.wrapped(c, func(from, to int) (arrow.Array, error) {
					valid := fill(from, to, func(g int) bool { return count(g) > 0 })
					return fromNumbers(a.o.mem, dt, s.(*numberExtremes).best[from:to], valid)
				}), nil
			}
			return nil
		}
		return pick(w, false)(nil, c)
	}
}

// extremes builds the least or greatest values that are ordinals.
func (a *Aggregator) extremes(c *bound, name string, dt arrow.DataType, isGreatest bool) (builder, error) {
	count, err := a.counted(c)
	if err != nil {
		return nil, err
	}
	s, err := a.state(name, a.mask(c, true), c.index, func() (state, error) { return &extremes{greatest: isGreatest}, nil })
	if err != nil {
		return nil, err
	}
	return a.wrapped(c, func(from, to int) (arrow.Array, error) {
		valid := fill(from, to, func(g int) bool { return count(g) > 0 })
		return fromOrdinals(a.o.mem, dt, s.(*extremes).best[from:to], valid), nil
	}), nil
}

// wrapped gives plain results the type of the column.
func (a *Aggregator) wrapped(c *bound, b builder) builder {
	return func(from, to int) (arrow.Array, error) {
		plain, err := b(from, to)
		if plain == nil || err != nil {
			return nil, err
		}
		if arrow.TypeEqual(plain.DataType(), c.dt) {
			return plain, nil
		}
		defer plain.Release()
		if plain.DataType().ID() == arrow.DECIMAL64 {
			return arrowutil.Widen(a.o.mem, plain, c.dt), nil
		}
		return arrowutil.Wrap(a.o.mem, plain, c.dt)
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
		c.need(needPlain)
		c.dt = c.arg.out
		c.make = func(a *Aggregator) (builder, error) {
			key := [...]string{"first", "last", "min", "max"}[w]
			s, err := a.state(key, a.mask(c, !nulls), c.index, func() (state, error) { return newPicks(a.o.mem, c.plain(), w) })
			if err != nil {
				return nil, err
			}
			return a.wrapped(c, s.(*picks).values), nil
		}
		if w == least || w == greatest {
			_, err := newPicks(nil, c.plain(), w)
			return err
		}
		return nil
	}
}

// all is the state that has all values of an argument.
func (a *Aggregator) all(c *bound, nulls bool) (*collected, error) {
	key := "all"
	if nulls {
		key = "all with nulls"
	}
	s, err := a.state(key, a.mask(c, !nulls), c.index, func() (state, error) {
		return &collected{mem: a.o.mem, name: c.call.Text, limit: a.o.limit}, nil
	})
	if err != nil {
		return nil, err
	}
	return s.(*collected), nil
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

func bindDiscrete(_ *plan, c *bound) error {
	q, err := c.fraction()
	if err != nil {
		return err
	}
	return bindQuantile(c, q, false)
}

func bindContinuous(_ *plan, c *bound) error {
	q, err := c.fraction()
	if err != nil {
		return err
	}
	if !interpolates(c.plain()) {
		return refuse(c, "numbers and times")
	}
	return bindQuantile(c, q, true)
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
	c.make = func(a *Aggregator) (builder, error) {
		s, err := a.all(c, false)
		return a.wrapped(c, func(from, to int) (arrow.Array, error) {
			if !continuous {
				return s.discrete(from, to, q)
			}
			return s.continuous(from, to, q, dt)
		}), err
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
	c.dt = float64Type
	c.make = func(a *Aggregator) (builder, error) {
		s, err := a.state("digest", a.mask(c, true), c.index, func() (state, error) { return &digests{}, nil })
		if err != nil {
			return nil, err
		}
		return func(from, to int) (arrow.Array, error) {
			return floatsOf(a.o.mem, from, to, func(g int) (float64, bool) { return s.(*digests).n[g].quantile(q) }), nil
		}, nil
	}
	return nil
}

func bindApproxDistinct(_ *plan, c *bound) error {
	c.dt = int64Type
	if hasOrdinals(c.plain()) || kinds.Storage(c.arg.dt).ID() != arrow.DICTIONARY {
		c.need(needPlain)
	}
	_, err := newSketches(c.arg.dt)
	if err != nil {
		return errorAt(c.call.Pos, "%v", err)
	}
	c.make = func(a *Aggregator) (builder, error) {
		s, err := a.state("sketch", a.mask(c, true), c.index, func() (state, error) { return newSketches(c.arg.dt) })
		if err != nil {
			return nil, err
		}
		return func(from, to int) (arrow.Array, error) {
			n := fill(from, to, func(g int) int64 { return s.(*sketches).n[g].estimate() })
			return fromOrdinals(a.o.mem, int64Type, n, allValid(to-from)), nil
		}, nil
	}
	return nil
}

func bindList(_ *plan, c *bound) error {
	c.need(needPlain)
	c.dt = arrow.ListOf(kinds.Decoded(c.arg.dt))
	c.make = func(a *Aggregator) (builder, error) {
		s, err := a.all(c, true)
		return func(from, to int) (arrow.Array, error) { return s.list(from, to, kinds.Decoded(c.arg.dt)) }, err
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
	c.make = func(a *Aggregator) (builder, error) {
		s, err := a.all(c, false)
		return func(from, to int) (arrow.Array, error) {
			texts, err := s.join(from, to, separator)
			if err != nil {
				return nil, err
			}
			b := array.NewStringBuilder(a.o.mem)
			defer b.Release()
			for _, t := range texts {
				if t == nil {
					b.AppendNull()
				} else {
					b.BinaryBuilder.Append(t)
				}
			}
			return b.NewArray(), nil
		}, err
	}
	return nil
}
