package eval

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/value"
)

// Attribute is a value of a spanset, with its name.
type Attribute struct {
	Name  string
	Value value.Value
}

// Set is a set of spans of a trace, by their indexes in ascending order; it is not empty. [Trace.Sort] puts them in the order of results.
type Set struct {
	Spans      []int
	Attributes []Attribute
}

// Program is a query, prepared for evaluation. It is immutable.
type Program struct {
	query   *lang.Query
	Filters []*lang.SpansetFilter // those of the query, numbered
	number  map[*lang.SpansetFilter]int
	ordered bool // the answer depends on the order of spans
}

// NewProgram prepares a query.
func NewProgram(q *lang.Query) *Program {
	p := &Program{query: q, number: map[*lang.SpansetFilter]int{}}
	lang.Walk(q.Pipeline, func(s lang.Stage) {
		switch s := s.(type) {
		case *lang.SpansetFilter:
			p.number[s] = len(p.Filters)
			p.Filters = append(p.Filters, s)
		case *lang.GroupBy, *lang.Metrics:
			p.ordered = true
		}
	})
	lang.Expressions(q.Pipeline, func(e *lang.Expr) {
		switch {
		case e.Op == lang.Aggregate && e.Func != "count":
			p.ordered = true // a sum of floats is
		case e.Op == lang.FieldOf:
			switch e.Field.Intrinsic {
			case lang.NestedSetLeft, lang.NestedSetRight, lang.NestedSetParent:
				p.ordered = true
			}
		}
	})
	return p
}

// Run evaluates the query on a trace. The result is empty if it does not match.
func (p *Program) Run(t *Trace, work *Work) ([]Set, error) {
	if len(t.Spans) == 0 {
		return nil, nil
	}
	return run{p, t, work}.stage(p.query.Pipeline, []Set{All(t)})
}

// All is the set of all spans of a trace.
func All(t *Trace) Set {
	all := Set{Spans: make([]int, len(t.Spans))}
	for i := range all.Spans {
		all.Spans[i] = i
	}
	return all
}

type run struct {
	p    *Program
	t    *Trace
	work *Work
}

// value is that of an expression on the fields of span i.
func (r run) value(e *lang.Expr, i int) (value.Value, error) {
	leaf := func(e *lang.Expr) (value.Value, error) {
		if err := r.work.add(r.t.encoded(e.Field, i) / bytesPerStep); err != nil {
			return value.Value{}, err
		}
		return r.t.Value(e.Field, i)
	}
	return calculation{leaf, r.work}.evaluate(e)
}

func (r run) stage(s lang.Stage, in []Set) (out []Set, err error) {
	switch s := s.(type) {
	case *lang.Pipeline:
		out = in
		for _, below := range s.Stages {
			if out, err = r.stage(below, out); err != nil || len(out) == 0 {
				return nil, err
			}
		}
		return out, nil
	case *lang.SpansetFilter:
		return r.filter(s, in)
	case *lang.SpansetOperation:
		return r.operation(s, in)
	case *lang.ScalarFilter:
		return r.scalars(s, in)
	case *lang.GroupBy:
		for _, set := range in {
			groups, err := r.group(s, set)
			if err != nil {
				return nil, err
			}
			out = append(out, groups...)
		}
		return out, nil
	case *lang.Coalesce:
		return r.coalesce(in), nil
	}
	return in, nil // select() changes the result only
}

func (r run) filter(f *lang.SpansetFilter, in []Set) (out []Set, err error) {
	number := r.p.number[f]
	for _, set := range in {
		if err := r.work.add(int64(len(set.Spans))); err != nil {
			return nil, err
		}
		var left []int
		for _, i := range set.Spans {
			ok, err := r.matches(f, number, i)
			if err != nil {
				return nil, err
			}
			if ok {
				left = append(left, i)
			}
		}
		if len(left) > 0 {
			out = append(out, Set{left, set.Attributes})
		}
	}
	return out, nil
}

// matches reports whether span i meets the condition of a spanset filter.
func (r run) matches(f *lang.SpansetFilter, number, i int) (bool, error) {
	s := &r.t.Spans[i]
	if f.Cond == nil {
		return true, nil
	}
	verdict := &s.Batch.Verdicts[number]
	switch {
	case verdict.Bits != nil && verdict.Bits[s.Row/8]>>(s.Row%8)&1 == 0:
		return false, nil
	case verdict.Exact:
		return true, nil
	}
	r.t.Looks++
	v, err := r.value(f.Cond, i)
	return truth(v), err
}

// operation evaluates both sides on each set, and combines their spans.
func (r run) operation(o *lang.SpansetOperation, in []Set) (out []Set, err error) {
	for _, set := range in {
		if err := r.work.add(int64(len(r.t.Spans))); err != nil {
			return nil, err
		}
		left, err := r.stage(o.L, []Set{set})
		if err != nil {
			return nil, err
		}
		right, err := r.stage(o.R, []Set{set})
		if err != nil {
			return nil, err
		}
		if found := r.combine(o.Op, r.members(left), r.members(right)); len(found) > 0 {
			out = append(out, Set{found, set.Attributes})
		}
	}
	return out, nil
}

// members are the spans of sets, as a flag for each span of the trace.
func (r run) members(sets []Set) []bool {
	flags := make([]bool, len(r.t.Spans))
	for _, set := range sets {
		for _, i := range set.Spans {
			flags[i] = true
		}
	}
	return flags
}

func (r run) combine(op lang.SpansetOp, left, right []bool) (found []int) {
	keep := func(i int) bool { return left[i] || right[i] }
	switch {
	case op.Relation == lang.SetAnd:
		if !slices.Contains(left, true) || !slices.Contains(right, true) {
			return nil
		}
	case op.IsStructural():
		related := r.t.related(op.Relation, left)
		keep = func(i int) bool { return right[i] && related[i] != op.Not }
		if op.Union {
			back := r.t.related(inverse[op.Relation], right)
			keep = func(i int) bool { return right[i] && related[i] || left[i] && back[i] }
		}
	}
	for i := range left {
		if keep(i) {
			found = append(found, i)
		}
	}
	return found
}

func (r run) coalesce(in []Set) []Set {
	var all Set
	for i, yes := range r.members(in) {
		if yes {
			all.Spans = append(all.Spans, i)
		}
	}
	return []Set{all}
}

// group splits a set by the values of expressions, in the order of their first spans.
func (r run) group(g *lang.GroupBy, set Set) (out []Set, err error) {
	place := map[string]int{}
	for _, i := range set.Spans {
		var key strings.Builder
		var attrs []Attribute
		if err := r.work.add(int64(len(set.Attributes))); err != nil {
			return nil, err
		}
		for _, e := range g.By {
			v, err := r.value(e, i)
			if err != nil {
				return nil, err
			}
			text := v.Key()
			fmt.Fprintf(&key, "%d %s", len(text), text)
			attrs = append(attrs, Attribute{"by(" + e.String() + ")", v})
		}
		k, ok := place[key.String()]
		if !ok {
			k = len(out)
			place[key.String()] = k
			out = append(out, Set{Attributes: append(append([]Attribute(nil), set.Attributes...), attrs...)})
		}
		out[k].Spans = append(out[k].Spans, i)
	}
	return out, nil
}

// scalars keeps the sets for which a comparison of aggregates is true.
func (r run) scalars(f *lang.ScalarFilter, in []Set) (out []Set, err error) {
	for _, set := range in {
		if err := r.work.add(int64(len(set.Attributes))); err != nil {
			return nil, err
		}
		attrs := append([]Attribute(nil), set.Attributes...)
		v, err := calculation{func(e *lang.Expr) (value.Value, error) {
			v, err := r.aggregate(e, set)
			attrs = append(attrs, Attribute{e.String(), v})
			return v, err
		}, r.work}.evaluate(f.Cond)
		if err != nil {
			return nil, err
		}
		if truth(v) {
			out = append(out, Set{set.Spans, attrs})
		}
	}
	return out, nil
}

// aggregate is the value of an aggregate of a set; nil if it has no numbers.
func (r run) aggregate(e *lang.Expr, set Set) (result value.Value, err error) {
	if e.Func == "count" {
		return value.OfInt(int64(len(set.Spans))), nil
	}
	n := int64(0)
	add := func(v value.Value) {
		if !v.Kind().IsNumber() {
			return
		}
		n++
		result = accumulate(e.Func, result, v)
	}
	for _, i := range set.Spans {
		v, err := r.value(e.X, i)
		if err != nil {
			return value.Value{}, err
		}
		numbers(v, add)
	}
	if e.Func == "avg" && n > 0 {
		result = average(result, n)
	}
	return result, nil
}

// numbers calls add for a value, or for those in a list.
func numbers(v value.Value, add func(value.Value)) {
	if v.Kind() != value.Array && v.Kind() != value.Any {
		add(v)
		return
	}
	for _, e := range v.List() {
		numbers(e, add)
	}
}

func accumulate(function string, sum, v value.Value) value.Value {
	if sum.IsNil() {
		return v
	}
	switch function {
	case "min", "max":
		order, ok := value.Compare(v, sum)
		if ok && (order < 0) == (function == "min") && order != 0 || sum.Float64() != sum.Float64() {
			return v
		}
		return sum
	}
	return value.Calculate(value.Add, sum, v)
}

// average divides a sum. That of durations is a duration, rounded to zero.
func average(sum value.Value, n int64) value.Value {
	if sum.Kind() == value.Duration {
		return value.OfDuration(time.Duration(sum.Int64() / n))
	}
	return value.Calculate(value.Div, sum, value.OfInt(n))
}
