package lower

import (
	"cmp"
	"slices"
	"time"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/traceql/internal/eval"
	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/spans"
	"github.com/amudai/amudai-go/traceql/internal/value"
)

// Lower is the condition of the rows for which an expression is true or, without want, is not. A nil expression is always true.
func Lower(s *spans.Schema, e *lang.Expr, want bool) Cond {
	return lowerer{s}.condition(e, want)
}

type lowerer struct{ s *spans.Schema }

func (l lowerer) condition(e *lang.Expr, want bool) Cond {
	if e == nil {
		return constant(want)
	}
	switch e.Op {
	case lang.Not:
		return l.condition(e.X, !want)
	case lang.And, lang.Or:
		var parts []Cond
		for _, operand := range e.Chain(e.Op) {
			parts = append(parts, l.condition(operand, want))
		}
		if (e.Op == lang.And) == want {
			return and(parts...)
		}
		return Or(parts...)
	case lang.FieldOf:
		return l.comparison(e.Field, lang.Eq, value.OfBool(true), nil, want)
	}
	if v, ok := eval.Constant(e); ok {
		return constant(v.Bool() == want)
	}
	if f, missing := e.NilTest(); f != nil {
		return l.missing(f, missing == want)
	}
	if f, op, v, ok := fieldAndValue(e); ok {
		return l.comparison(f, op, v, e, want)
	}
	return l.several(e, want)
}

// several is a comparison of more than one field: for it to be true, all of them must be there.
func (l lowerer) several(e *lang.Expr, want bool) Cond {
	if !want {
		return maybe
	}
	parts := []Cond{maybe}
	e.Walk(func(e *lang.Expr) bool {
		if e.Op == lang.FieldOf && !OfTrace(e.Field) {
			parts = append(parts, l.missing(e.Field, false))
		}
		return true
	})
	return and(parts...).inexact()
}

// fieldAndValue takes a comparison of a field with a constant apart. A field on the right is moved to the left.
func fieldAndValue(e *lang.Expr) (f *lang.Field, op lang.Op, v value.Value, ok bool) {
	if !e.Op.IsComparison() {
		return nil, 0, v, false
	}
	if v, ok = eval.Constant(e.Y); ok && e.X.Op == lang.FieldOf {
		return e.X.Field, e.Op, v, true
	}
	if v, ok = eval.Constant(e.X); ok && e.Y.Op == lang.FieldOf {
		return e.Y.Field, cmp.Or(mirrored[e.Op], e.Op), v, true
	}
	return nil, 0, v, false
}

// mirrored are the comparisons that mean something else when their sides are exchanged.
var mirrored = map[lang.Op]lang.Op{lang.Lt: lang.Gt, lang.Le: lang.Ge, lang.Gt: lang.Lt, lang.Ge: lang.Le}

// OfTrace reports whether a field needs other spans of the trace.
func OfTrace(f *lang.Field) bool {
	if f.Parent {
		return true
	}
	switch f.Intrinsic {
	case lang.TraceDuration, lang.TraceRootName, lang.TraceRootService, lang.SpanChildCount, lang.NestedSetParent, lang.NestedSetLeft, lang.NestedSetRight:
		return true
	}
	return false
}

// comparison is field op v; e is the expression, for its regular expression.
func (l lowerer) comparison(f *lang.Field, op lang.Op, v value.Value, e *lang.Expr, want bool) Cond {
	if f.Intrinsic == lang.NestedSetParent && !f.Parent {
		return l.nestedSetParent(op, v, want)
	}
	if OfTrace(f) {
		return maybe
	}
	c := comparison{op: op, value: v, want: want}
	if e != nil && (op == lang.Match || op == lang.NotMatch) {
		c.pattern, c.match = e.Regexp.String(), e.Regexp.MatchString
	}
	if f.Intrinsic != lang.NoIntrinsic {
		return l.intrinsic(f.Intrinsic, c)
	}
	if f.Scope != lang.Unscoped {
		return l.attribute(f.Scope, f.Name, c)
	}
	// The first scope that has the attribute decides.
	var alternatives, before []Cond
	for _, scope := range lang.Scopes {
		here := append(slices.Clone(before), l.attribute(scope, f.Name, c))
		if !want {
			here = append(here, l.attributeMissing(scope, f.Name, false))
		}
		alternatives = append(alternatives, and(here...))
		before = append(before, l.attributeMissing(scope, f.Name, true))
	}
	if !want {
		alternatives = append(alternatives, and(before...))
	}
	return Or(alternatives...)
}

// nestedSetParent knows the number of root spans, which is less than that of the others.
func (l lowerer) nestedSetParent(op lang.Op, v value.Value, want bool) Cond {
	root := eval.Compare(op, value.OfInt(-1), v, nil) == want
	other := eval.Compare(op, value.OfInt(0), v, nil) == want
	zero, ok := value.Compare(v, value.OfInt(0))
	if root && !other && ok && zero <= 0 && (op == lang.Lt || op == lang.Le || op == lang.Eq) && want {
		return l.root().inexact()
	}
	return maybe
}

// missing is the condition that a field is nil or, without want, is not.
func (l lowerer) missing(f *lang.Field, want bool) Cond {
	switch {
	case OfTrace(f):
		return maybe
	case f.Intrinsic == lang.NoIntrinsic:
		var parts []Cond
		for _, scope := range spans.ScopesOf(f) {
			parts = append(parts, l.attributeMissing(scope, f.Name, want))
		}
		if want {
			return and(parts...)
		}
		return Or(parts...)
	}
	switch f.Intrinsic {
	case lang.HasParent, lang.SpanParentID:
		if want {
			return l.root()
		}
		return l.child()
	case lang.EventName, lang.EventTime:
		return l.listMissing(lang.EventScope, want)
	case lang.LinkSpanID, lang.LinkTraceID:
		return l.listMissing(lang.LinkScope, want)
	}
	return constant(!want) // other intrinsics are always there
}

// Present is the condition that a field has a value.
func Present(s *spans.Schema, f *lang.Field) Cond { return lowerer{s}.missing(f, false) }

// Alone reports whether a query looks at each span alone: it needs no other span of the trace.
func Alone(pipeline *lang.Pipeline) bool {
	alone, _ := ByMatches(pipeline)
	lang.Walk(pipeline, func(s lang.Stage) {
		switch s := s.(type) {
		case *lang.Pipeline, *lang.SpansetFilter, *lang.Select:
		case *lang.SpansetOperation:
			alone = alone && s.Op.Relation == lang.SetOr
		case *lang.Metrics:
			alone = alone && s.Subset == nil
		default:
			alone = false
		}
	})
	return alone
}

// ByMatches reports whether the spans that Matches leaves are all that a query needs of a trace, and whether it needs their places in its tree.
func ByMatches(pipeline *lang.Pipeline) (enough, places bool) {
	enough = true
	lang.Walk(pipeline, func(s lang.Stage) {
		o, ok := s.(*lang.SpansetOperation)
		places = places || ok && o.Op.IsStructural()
	})
	lang.Expressions(pipeline, func(e *lang.Expr) { enough = enough && !(e.Op == lang.FieldOf && OfTrace(e.Field)) })
	return enough, places
}

// Matches is a condition of all rows that a stage looks at, but for those that its first filters leave out.
func Matches(s *spans.Schema, stage lang.Stage) Cond {
	switch stage := stage.(type) {
	case *lang.SpansetFilter:
		return Lower(s, stage.Cond, true)
	case *lang.SpansetOperation:
		return Or(Matches(s, stage.L), Matches(s, stage.R))
	case *lang.Pipeline:
		var filters []Cond
		for i, below := range stage.Stages {
			_, ok := below.(*lang.SpansetFilter)
			if ok || i == 0 {
				filters = append(filters, Matches(s, below))
			}
			if !ok {
				break
			}
		}
		return and(filters...)
	}
	return always
}

// Rows is the condition of the rows that a stage of such a query leaves.
func Rows(s *spans.Schema, stage lang.Stage) Cond {
	switch stage := stage.(type) {
	case *lang.Pipeline:
		parts := make([]Cond, len(stage.Stages))
		for i, below := range stage.Stages {
			parts[i] = Rows(s, below)
		}
		return and(parts...)
	case *lang.SpansetFilter:
		return Lower(s, stage.Cond, true)
	case *lang.SpansetOperation:
		return Or(Rows(s, stage.L), Rows(s, stage.R))
	}
	return always
}

// Within is the condition of the rows that began in a time, from a first nanosecond to a last.
func Within(s *spans.Schema, from, to int64) Cond {
	c, ok := s.One(spans.Start)
	switch {
	case !ok:
		return always
	case c.Class == spans.Timestamp:
		return of(filter.And(filter.Ge(filter.Col(c.Path), time.Unix(0, from)), filter.Le(filter.Col(c.Path), time.Unix(0, to))))
	}
	return of(filter.And(filter.Ge(filter.Col(c.Path), from), filter.Le(filter.Col(c.Path), to)))
}

// Both is the condition of the rows that meet two.
func Both(a, b Cond) Cond { return and(a, b) }
