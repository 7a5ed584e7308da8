// Package lang has TraceQL as text and as trees: it is parsed, checked and printed here.
package lang

import (
	"regexp"
	"slices"

	"github.com/amudai/amudai-go/traceql/internal/value"
)

// Limits of Parse.
const (
	MaxText   = 128 << 10 // bytes of text
	MaxDepth  = 100       // levels of nested parentheses, signs and negations
	MaxStages = 1000      // spansets and stages of pipelines: each looks at all spans of a trace
)

// Query is a parsed query. It is immutable.
type Query struct {
	Pipeline *Pipeline
	Hints    []Hint
}

// Hint is a setting of with (…).
type Hint struct {
	Name  string
	Value value.Value
}

// Pipeline is stages, one behind the other. The first takes all spans of a trace.
type Pipeline struct {
	Stages []Stage
}

// Stage turns spansets into spansets.
type Stage interface{ stage() }

// SpansetFilter is { … }: the spans for which a condition is true, all of them if it is nil.
type SpansetFilter struct {
	Cond *Expr
	Pos  int
}

// SpansetOperation combines the spansets of two stages.
type SpansetOperation struct {
	Op   SpansetOp
	L, R Stage
	Pos  int // of the operator
}

// ScalarFilter keeps the spansets for which a comparison of aggregates is true.
type ScalarFilter struct {
	Cond *Expr
}

// GroupBy is by(…).
type GroupBy struct {
	By []*Expr
}

// Select is select(…).
type Select struct {
	Fields []*Expr
}

// Coalesce is coalesce().
type Coalesce struct{}

func (*Pipeline) stage()         {}
func (*SpansetFilter) stage()    {}
func (*SpansetOperation) stage() {}
func (*ScalarFilter) stage()     {}
func (*GroupBy) stage()          {}
func (*Select) stage()           {}
func (*Coalesce) stage()         {}

// SpansetOp is an operator between spansets.
type SpansetOp struct {
	Relation Relation
	Not      bool // !>: spans on the right that are in no such relation
	Union    bool // &>: the spans of both sides
}

// Relation is a relation of a span on the right to one on the left.
type Relation uint8

// The relations of spansets.
const (
	SetAnd     Relation = iota // both sides have spans
	SetOr                      // either has
	Child                      // > the right one is a child of the left one
	Descendant                 // >>
	Parent                     // <
	Ancestor                   // <<
	Sibling                    // ~
)

var relationText = [...]string{"&&", "||", ">", ">>", "<", "<<", "~"}

// IsStructural reports whether the operator looks at the tree of spans.
func (o SpansetOp) IsStructural() bool { return o.Relation >= Child }

func (o SpansetOp) String() string {
	switch {
	case o.Not:
		return "!" + relationText[o.Relation]
	case o.Union:
		return "&" + relationText[o.Relation]
	}
	return relationText[o.Relation]
}

// Op is the operation of an Expr.
type Op uint8

// The operations of expressions.
const (
	Literal   Op = iota
	FieldOf      // an attribute or intrinsic
	Aggregate    // count(), avg(X), …
	Not
	Negate
	And
	Or
	Eq
	Ne
	Lt
	Le
	Gt
	Ge
	Match
	NotMatch
	Add
	Sub
	Mul
	Div
	Mod
	Pow
)

var opText = [...]string{
	Not: "!", Negate: "-", And: "&&", Or: "||", Eq: "=", Ne: "!=", Lt: "<", Le: "<=", Gt: ">", Ge: ">=", Match: "=~", NotMatch: "!~",
	Add: "+", Sub: "-", Mul: "*", Div: "/", Mod: "%", Pow: "^",
}

func (o Op) String() string { return opText[o] }

// IsComparison reports whether the result is a Boolean made of two values.
func (o Op) IsComparison() bool { return o >= Eq && o <= NotMatch }

// IsArithmetic reports whether the result is a number made of two numbers.
func (o Op) IsArithmetic() bool { return o >= Add }

// Expr is an expression on the fields of a span or, in a ScalarFilter, on aggregates of a spanset.
type Expr struct {
	Op     Op
	Pos    int
	X, Y   *Expr          // operands; Y is nil for one
	Value  value.Value    // of a Literal
	Field  *Field         // of a FieldOf
	Regexp *regexp.Regexp // of Match and NotMatch, for whole values
	Func   string         // of an Aggregate: "count", "avg", "min", "max", "sum"; X is nil for count
}

// Walk calls visit for an expression and those in it until it returns false.
func (e *Expr) Walk(visit func(*Expr) bool) bool {
	if e == nil {
		return true
	}
	return visit(e) && e.X.Walk(visit) && e.Y.Walk(visit)
}

// Chain are the operands of a row of && or || that begins at the expression, from the left; the expression itself if it is another operation.
func (e *Expr) Chain(op Op) (operands []*Expr) {
	for ; e.Op == op; e = e.X {
		operands = append(operands, e.Y)
	}
	operands = append(operands, e)
	slices.Reverse(operands)
	return operands
}

// Walk calls visit for the stages in a stage, itself included.
func Walk(s Stage, visit func(Stage)) {
	visit(s)
	switch s := s.(type) {
	case *Pipeline:
		for _, below := range s.Stages {
			Walk(below, visit)
		}
	case *SpansetOperation:
		Walk(s.L, visit)
		Walk(s.R, visit)
	case *Metrics:
		if s.Subset != nil {
			Walk(s.Subset, visit)
		}
	}
}

// Expressions calls visit for all expressions of a stage and those in it, outermost first.
func Expressions(s Stage, visit func(*Expr)) {
	all := func(e *Expr) { e.Walk(func(e *Expr) bool { visit(e); return true }) }
	Walk(s, func(s Stage) {
		switch s := s.(type) {
		case *SpansetFilter:
			all(s.Cond)
		case *ScalarFilter:
			all(s.Cond)
		case *GroupBy:
			for _, e := range s.By {
				all(e)
			}
		case *Select:
			for _, e := range s.Fields {
				all(e)
			}
		case *Metrics:
			all(s.X)
			for _, e := range s.By {
				all(e)
			}
		}
	})
}
