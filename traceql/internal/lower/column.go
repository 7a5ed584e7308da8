package lower

import (
	"math"
	"math/big"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/traceql/internal/eval"
	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/spans"
	"github.com/amudai/amudai-go/traceql/internal/value"
)

// comparison is a comparison with a value, or its negation.
type comparison struct {
	op      lang.Op
	value   value.Value
	pattern string // of a regular expression
	match   func(string) bool
	want    bool
}

// test reports whether a value is one of those that are looked for.
func (c comparison) test(v value.Value) bool {
	return eval.Compare(c.op, v, c.value, c.match) == c.want
}

func (c comparison) negative() bool { return c.op == lang.Ne || c.op == lang.NotMatch }

// column compares a column whose missing values do not count. A missing value is no match, and thus one of a negation.
func (c comparison) column(col spans.Column) Cond {
	positive, ok := c.positive(filter.Col(col.Path), col)
	switch {
	case !ok && c.want:
		return and(maybe, notNull(col))
	case !ok:
		return maybe
	}
	if positive.none || positive.all {
		return constant(positive.all == c.want)
	}
	if c.want {
		return positive
	}
	if !positive.exact {
		return maybe
	}
	return Or(isNull(col), of(filter.Not(positive.expr)))
}

func isNull(col spans.Column) Cond {
	if !col.Nullable {
		return never
	}
	return of(filter.IsNull(filter.Col(col.Path)))
}

func notNull(col spans.Column) Cond {
	if !col.Nullable {
		return always
	}
	return of(filter.Not(filter.IsNull(filter.Col(col.Path))))
}

// positive is the comparison without want; ok is false if no filter can tell.
func (c comparison) positive(x filter.Expr, col spans.Column) (cond Cond, ok bool) {
	if c.op == lang.Match || c.op == lang.NotMatch {
		if col.Class == spans.List {
			return maybe, false
		}
		if col.Class != spans.Text {
			return never, true
		}
		m := filter.Matches(x, c.pattern)
		if c.op == lang.NotMatch {
			m = filter.Not(m)
		}
		return of(m), true
	}
	lit, ok := literal(c.value, col)
	if !ok {
		return maybe, false
	}
	return of(comparisons[c.op](x, lit)), true
}

// comparisons are the conditions of filters that compare with a literal.
var comparisons = map[lang.Op]func(x filter.Expr, literal any) filter.Expr{
	lang.Eq: filter.Eq, lang.Ne: filter.Ne, lang.Lt: filter.Lt, lang.Le: filter.Le, lang.Gt: filter.Gt, lang.Ge: filter.Ge,
}

// relevant reports whether values of a column can be compared with a value.
func relevant(v value.Value, class spans.Class) bool {
	switch class {
	case spans.Text:
		return v.Kind() == value.String
	case spans.Integer, spans.Float, spans.Duration64:
		return v.Kind().IsNumber()
	case spans.Bool:
		return v.Kind() == value.Bool
	}
	return class == spans.List
}

// literal is a value as a literal of a filter; ok is false if there is none that means exactly the same.
func literal(v value.Value, col spans.Column) (lit any, ok bool) {
	switch v.Kind() {
	case value.String:
		return v.Text(), col.Class == spans.Text
	case value.Bool:
		return v.Bool(), col.Class == spans.Bool
	case value.Int, value.Duration:
		if col.Class == spans.Duration64 {
			return time.Duration(v.Int64()), true
		}
		return v.Int64(), col.Class == spans.Integer || isFloat64(col)
	case value.Float:
		f := v.Float64()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, false
		}
		if f == math.Trunc(f) { // a whole number is exact
			n, _ := big.NewFloat(f).Int(nil)
			return n, col.Class == spans.Integer && math.Abs(f) < 1e30 || isFloat64(col)
		}
		return f, col.Class == spans.Integer || isFloat64(col)
	}
	return nil, false
}

func isFloat64(col spans.Column) bool { return col.Type.ID() == arrow.FLOAT64 }

// NotNull is the condition that a column has a value.
func NotNull(col spans.Column) filter.Expr { return notNull(col).Filter() }
