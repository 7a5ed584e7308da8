package lower

import (
	"fmt"
	"strings"
	"time"

	"github.com/amudai/amudai-go/traceql/internal/eval"
	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/spans"
	"github.com/amudai/amudai-go/traceql/internal/value"
)

// Candidates says which traces may match: those with a row that meets Rows, those in all of And, or those in any of Or. Without any of
// them, all traces may.
type Candidates struct {
	Rows []Row // alternatives
	And  []*Candidates
	Or   []*Candidates
}

// Row is a condition that a row of a trace meets.
type Row struct {
	Expr *lang.Expr
	Want bool // the expression is true, or it is not
	Root bool // the row is a root span

	From, To int64 // nanoseconds between which the row began; 0: at any time
}

// Within are those of the candidates that have a row which began between two times, in nanoseconds.
func (c *Candidates) Within(from, to int64) *Candidates {
	return both(c, &Candidates{Rows: []Row{{Want: true, From: from, To: to}}})
}

// All reports whether all traces may match.
func (c *Candidates) All() bool { return c.Rows == nil && c.And == nil && c.Or == nil }

// Cond is the condition on the rows of a table.
func (r Row) Cond(s *spans.Schema) Cond {
	c := Lower(s, r.Expr, r.Want)
	if r.Root {
		c = and(c, lowerer{s}.root())
	}
	if r.To != 0 {
		c = and(c, Within(s, r.From, r.To))
	}
	return c
}

// String is the condition as text.
func (r Row) String() string {
	if r.Expr == nil {
		return fmt.Sprintf("a span from %s to %s", text(r.From), text(r.To))
	}
	text := "{ " + r.Expr.String() + " }"
	if !r.Want {
		text = "{ !(" + r.Expr.String() + ") }"
	}
	if r.Root {
		return "root span " + text
	}
	return text
}

func text(nanos int64) string { return time.Unix(0, nanos).UTC().Format(time.RFC3339Nano) }

// String is the candidates as text.
func (c *Candidates) String() string {
	switch {
	case c.Rows != nil:
		parts := make([]string, len(c.Rows))
		for i, r := range c.Rows {
			parts[i] = r.String()
		}
		return strings.Join(parts, " or ")
	case c.And != nil:
		return joined(c.And, " and ")
	case c.Or != nil:
		return joined(c.Or, " or ")
	}
	return "all traces"
}

func joined(list []*Candidates, word string) string {
	parts := make([]string, len(list))
	for i, c := range list {
		parts[i] = c.String()
		if c.And != nil || c.Or != nil {
			parts[i] = "(" + parts[i] + ")"
		}
	}
	return strings.Join(parts, word)
}

var anyTrace = &Candidates{}

// both are traces that are in all of several candidates.
func both(list ...*Candidates) *Candidates {
	out := &Candidates{}
	seen := map[string]bool{}
	for _, c := range list {
		parts := []*Candidates{c}
		if c.And != nil {
			parts = c.And
		}
		for _, p := range parts {
			if text := p.String(); !p.All() && !seen[text] {
				seen[text] = true
				out.And = append(out.And, p)
			}
		}
	}
	switch len(out.And) {
	case 0:
		return anyTrace
	case 1:
		return out.And[0]
	}
	return out
}

// either are traces that are in one of several candidates.
func either(list ...*Candidates) *Candidates {
	out, rows := &Candidates{}, &Candidates{}
	for _, c := range list {
		switch {
		case c.All():
			return anyTrace
		case c.Rows != nil:
			rows.Rows = append(rows.Rows, c.Rows...)
		case c.Or != nil:
			out.Or = append(out.Or, c.Or...)
		default:
			out.Or = append(out.Or, c)
		}
	}
	if rows.Rows != nil {
		out.Or = append([]*Candidates{rows}, out.Or...)
	}
	if len(out.Or) == 1 {
		return out.Or[0]
	}
	return out
}

// Of are the candidates for a stage whose input is all spans of a trace, or some of them.
func Of(s lang.Stage) *Candidates {
	if o, ok := s.(*lang.SpansetOperation); ok && o.Op.Relation == lang.SetOr {
		return either(alternatives(s, nil)...)
	}
	return both(conjuncts(s, nil)...)
}

// alternatives appends the candidates for the sides of a row of ||.
func alternatives(s lang.Stage, list []*Candidates) []*Candidates {
	if o, ok := s.(*lang.SpansetOperation); ok && o.Op.Relation == lang.SetOr {
		return alternatives(o.R, alternatives(o.L, list))
	}
	return append(list, Of(s))
}

// conjuncts appends candidates to which a trace must belong, all of them.
func conjuncts(s lang.Stage, list []*Candidates) []*Candidates {
	switch s := s.(type) {
	case *lang.Pipeline:
		for _, below := range s.Stages {
			list = conjuncts(below, list)
		}
	case *lang.SpansetFilter:
		if s.Cond != nil {
			list = append(list, ofCondition(s.Cond, true, 0))
		}
	case *lang.SpansetOperation:
		switch {
		case s.Op.Relation == lang.SetOr:
			return append(list, Of(s))
		case s.Op.Not:
			return conjuncts(s.R, list)
		}
		list = conjuncts(s.R, conjuncts(s.L, list))
	}
	return list
}

// maxNested bounds the levels of && in || in && … that candidates are made of: each has a condition of its own, made of all below it.
const maxNested = 16

// ofCondition are the traces with a span for which an expression is true or, without want, is not.
func ofCondition(e *lang.Expr, want bool, level int) *Candidates {
	if level > maxNested {
		return anyTrace
	}
	if !needsTrace(e) {
		if v, ok := eval.Constant(e); ok && v.Bool() == want {
			return anyTrace
		}
		return &Candidates{Rows: []Row{{Expr: e, Want: want}}}
	}
	switch e.Op {
	case lang.Not:
		return ofCondition(e.X, !want, level)
	case lang.And, lang.Or:
		return ofChain(e, want, level+1)
	}
	return ofTrace(e, want)
}

// ofChain are the candidates for a row of && or ||.
func ofChain(e *lang.Expr, want bool, level int) *Candidates {
	var parts []*Candidates
	if (e.Op == lang.And) != want {
		for _, operand := range e.Chain(e.Op) {
			parts = append(parts, ofCondition(operand, want, level))
		}
		return either(parts...)
	}
	// The operands that look at the span alone must be met by the same row.
	parts = append(parts, &Candidates{Rows: []Row{{Expr: e, Want: want}}})
	for _, operand := range e.Chain(e.Op) {
		if needsTrace(operand) {
			parts = append(parts, ofCondition(operand, want, level))
		}
	}
	return both(parts...)
}

func needsTrace(e *lang.Expr) bool {
	return !e.Walk(func(e *lang.Expr) bool { return e.Op != lang.FieldOf || !OfTrace(e.Field) })
}

// ofTrace are the candidates for a comparison with a field of the trace or the parent: another span that has the value.
func ofTrace(e *lang.Expr, want bool) *Candidates {
	f, op, v, ok := fieldAndValue(e)
	if e.Op == lang.FieldOf {
		f, op, v, ok = e.Field, lang.Eq, value.OfBool(true), true
	}
	if !ok || !want {
		return anyTrace
	}
	row := Row{Want: true}
	other := *f
	switch {
	case f.Intrinsic == lang.NestedSetParent && !f.Parent:
		return &Candidates{Rows: []Row{{Expr: e, Want: true}}}
	case v.IsNil():
		return anyTrace
	case f.Parent:
		other.Parent = false
	case f.Intrinsic == lang.TraceRootName:
		other, row.Root = lang.Field{Intrinsic: lang.SpanName}, true
	case f.Intrinsic == lang.TraceRootService:
		other, row.Root = lang.Field{Scope: lang.ResourceScope, Name: "service.name"}, true
	default:
		return anyTrace
	}
	row.Expr = &lang.Expr{Op: op, Pos: e.Pos, X: &lang.Expr{Op: lang.FieldOf, Field: &other}, Y: &lang.Expr{Value: v}, Regexp: e.Regexp}
	return &Candidates{Rows: []Row{row}}
}
