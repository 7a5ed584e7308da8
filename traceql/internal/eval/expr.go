// Package eval evaluates queries on traces, span by span.
package eval

import (
	"strings"

	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/value"
)

// Constant is the value of an expression without fields; ok is false if it has some.
func Constant(e *lang.Expr) (v value.Value, ok bool) {
	constant := e.Walk(func(e *lang.Expr) bool { return e.Op != lang.FieldOf && e.Op != lang.Aggregate })
	if !constant {
		return v, false
	}
	v, err := calculation{}.evaluate(e)
	return v, err == nil
}

// Compare is the result of a comparison; match is that of a regular expression.
func Compare(op lang.Op, a, b value.Value, match func(string) bool) bool {
	switch op {
	case lang.Eq:
		return value.Equal(a, b)
	case lang.Ne:
		return value.Differ(a, b)
	case lang.Lt:
		return value.Ordered(a, b, func(order int) bool { return order < 0 })
	case lang.Le:
		return value.Ordered(a, b, func(order int) bool { return order <= 0 })
	case lang.Gt:
		return value.Ordered(a, b, func(order int) bool { return order > 0 })
	case lang.Ge:
		return value.Ordered(a, b, func(order int) bool { return order >= 0 })
	case lang.Match:
		return value.Matches(a, match)
	}
	return value.MatchesNot(a, match)
}

// calculation evaluates expressions.
type calculation struct {
	leaf func(*lang.Expr) (value.Value, error) // the value of a field or an aggregate
	work *Work
}

func (c calculation) evaluate(e *lang.Expr) (value.Value, error) {
	if err := c.work.add(1); err != nil {
		return value.Value{}, err
	}
	switch e.Op {
	case lang.Literal:
		return e.Value, nil
	case lang.FieldOf, lang.Aggregate:
		v, err := c.leaf(e)
		if err != nil {
			return v, err
		}
		return v, c.work.add(sizeOf(v))
	case lang.And, lang.Or:
		return c.logic(e)
	}
	a, err := c.evaluate(e.X)
	if err != nil {
		return a, err
	}
	switch e.Op {
	case lang.Not:
		return value.OfBool(!truth(a)), nil
	case lang.Negate:
		return value.Negative(a), nil
	case lang.Match, lang.NotMatch:
		return value.OfBool(Compare(e.Op, a, value.Value{}, e.Regexp.MatchString)), nil
	}
	return c.binary(e, a)
}

// binary computes an operation of a value on the left and the operand on the right.
func (c calculation) binary(e *lang.Expr, a value.Value) (value.Value, error) {
	b, err := c.evaluate(e.Y)
	switch {
	case err != nil:
		return b, err
	case e.Op.IsArithmetic():
		return value.Calculate(value.Arithmetic(e.Op-lang.Add), a, b), nil
	}
	if f, missing := e.NilTest(); f != nil {
		isNil := a.IsNil() && b.IsNil() || f.Intrinsic == lang.SpanParentID && a.Text()+b.Text() == ""
		return value.OfBool(isNil == missing), nil
	}
	if isID(e.X) || isID(e.Y) {
		a, b = idText(a, e.Op), idText(b, e.Op)
	}
	if err := c.work.add(int64(len(a.List())) * int64(len(b.List()))); err != nil {
		return value.Value{}, err
	}
	return value.OfBool(Compare(e.Op, a, b, nil)), nil
}

// truth reports whether a value is true. An array is if one of its elements is.
func truth(v value.Value) bool { return value.Equal(v, value.OfBool(true)) }

// logic evaluates a row of && or || from the left.
func (c calculation) logic(e *lang.Expr) (value.Value, error) {
	decided := e.Op == lang.Or
	if e.X.Op != e.Op { // only two, as mostly
		v, err := c.evaluate(e.X)
		if err != nil || truth(v) == decided {
			return value.OfBool(decided), err
		}
		v, err = c.evaluate(e.Y)
		return value.OfBool(truth(v)), err
	}
	for _, operand := range e.Chain(e.Op) {
		v, err := c.evaluate(operand)
		if err != nil || truth(v) == decided {
			return value.OfBool(decided), err
		}
	}
	return value.OfBool(!decided), nil
}

func isID(e *lang.Expr) bool {
	return e.Op == lang.FieldOf && e.Field.Intrinsic.IsID()
}

// idText is an id without leading zeros, which do not count in = and !=.
func idText(v value.Value, op lang.Op) value.Value {
	if op != lang.Eq && op != lang.Ne {
		return v
	}
	switch v.Kind() {
	case value.String:
		return value.OfString(strings.TrimLeft(strings.ToLower(v.Text()), "0"))
	case value.Any:
		var list []value.Value
		for _, e := range v.List() {
			list = append(list, idText(e, op))
		}
		return value.OfAny(list)
	}
	return v
}
