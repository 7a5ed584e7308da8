package lang

import (
	"slices"

	"github.com/amudai/amudai-go/traceql/internal/value"
)

// operandNode is a part of a pipeline: a stage, or a number made of aggregates.
type operandNode struct {
	set    Stage
	number *Expr
	pos    int
}

// pipeline reads the rest of a pipeline that has some stages. The caller sees what follows it.
func (p *parser) pipeline(stages ...Stage) (*Pipeline, error) {
	l := &Pipeline{stages}
	for {
		n, err := p.stageNode(len(l.Stages) == 0)
		if err != nil {
			return nil, err
		}
		if n.number != nil {
			return nil, p.errorf(n.pos, "%s is a number: compare it, as in %[1]s > 2", n.number)
		}
		l.Stages = append(l.Stages, n.set)
		if !p.isSymbol("|") {
			return l, nil
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
}

// metrics are the functions that make time series.
var metrics = []string{
	"rate", "count_over_time", "min_over_time", "max_over_time", "avg_over_time", "sum_over_time", "quantile_over_time", "histogram_over_time",
	"compare", "topk", "bottomk",
}

func (p *parser) stageNode(first bool) (operandNode, error) {
	pos := p.tok.pos
	if p.tok.kind != tokWord {
		return p.sets(0)
	}
	word := p.tok.text
	if slices.Contains(metrics, word) {
		return operandNode{}, p.errorf(pos, "%s() makes time series, which is not supported: queries find traces", word)
	}
	if first && (word == "select" || word == "coalesce") {
		return operandNode{}, p.errorf(pos, "%s() follows other stages: { } | %[1]s(…)", word)
	}
	var s Stage
	var err error
	switch word {
	case "by":
		g := &GroupBy{}
		g.By, err = p.arguments(word)
		s = g
	case "select":
		l := &Select{}
		l.Fields, err = p.arguments(word)
		s = l
	case "coalesce":
		s = &Coalesce{}
		err = p.noArguments()
	default:
		return p.sets(0)
	}
	if err == nil {
		err = p.stage(pos)
	}
	return operandNode{set: s, pos: pos}, err
}

func (p *parser) noArguments() error {
	if err := p.advance(); err != nil {
		return err
	}
	if err := p.expect("("); err != nil {
		return err
	}
	return p.expect(")")
}

// arguments reads the arguments of by() and select(): expressions with a field.
func (p *parser) arguments(word string) (args []*Expr, err error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	for {
		e, err := p.expr(0)
		if err != nil {
			return nil, err
		}
		if word == "select" && e.Op != FieldOf {
			return nil, p.errorf(e.Pos, "select() needs attributes or intrinsics")
		}
		if !hasField(e) {
			return nil, p.errorf(e.Pos, "%s() needs an attribute or intrinsic", word)
		}
		args = append(args, e)
		if !p.isSymbol(",") {
			return args, p.expect(")")
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
}

func hasField(e *Expr) bool {
	return !e.Walk(func(e *Expr) bool { return e.Op != FieldOf })
}

// setOps are the operators between spansets. Those that also compare numbers are in binaryOps, too.
var setOps = map[string]SpansetOp{
	"&&": {Relation: SetAnd}, "||": {Relation: SetOr},
	">": {Relation: Child}, ">>": {Relation: Descendant}, "<": {Relation: Parent}, "<<": {Relation: Ancestor}, "~": {Relation: Sibling},
	"!>": {Relation: Child, Not: true}, "!>>": {Relation: Descendant, Not: true}, "!<": {Relation: Parent, Not: true},
	"!<<": {Relation: Ancestor, Not: true}, "!~": {Relation: Sibling, Not: true},
	"&>": {Relation: Child, Union: true}, "&>>": {Relation: Descendant, Union: true}, "&<": {Relation: Parent, Union: true},
	"&<<": {Relation: Ancestor, Union: true}, "&~": {Relation: Sibling, Union: true},
}

// setLevel is how tightly an operator of a pipeline binds; 0 if it is none.
func setLevel(symbol string) int {
	if op, ok := setOps[symbol]; ok && op.IsStructural() {
		return levelCompare
	}
	if op, ok := binaryOps[symbol]; ok && op != Match {
		return binaryLevel(op)
	}
	return 0
}

// sets reads operands and operators that bind at least as tightly as level.
func (p *parser) sets(level int) (operandNode, error) {
	left, err := p.setOperand()
	if err != nil {
		return left, err
	}
	for p.tok.kind == tokSymbol {
		own := setLevel(p.tok.text)
		if own == 0 || own < level {
			break
		}
		op := p.tok
		if err := p.advance(); err != nil {
			return left, err
		}
		if op.text != "^" {
			own++
		}
		right, err := p.sets(own)
		if err != nil {
			return left, err
		}
		if left, err = p.combine(op, left, right); err != nil {
			return left, err
		}
	}
	return left, nil
}

func (p *parser) combine(op token, l, r operandNode) (operandNode, error) {
	n := operandNode{pos: l.pos}
	set, isSet := setOps[op.text]
	binary, isBinary := binaryOps[op.text]
	switch {
	case l.set != nil && r.set != nil && isSet:
		n.set = &SpansetOperation{set, l.set, r.set, op.pos}
		return n, nil
	case l.set != nil && r.set != nil:
		return n, p.errorf(op.pos, "%s is no operator between spansets", op.text)
	case l.set != nil || r.set != nil:
		return n, p.errorf(op.pos, "%s has spans on one side and a number on the other", op.text)
	case !isBinary || binary == And || binary == Or || binary == NotMatch:
		return n, p.errorf(op.pos, "%s is no operator between numbers", op.text)
	}
	e, err := p.binary(binary, op.pos, l.number, r.number)
	if err != nil {
		return n, err
	}
	if !binary.IsComparison() {
		n.number = e
		return n, nil
	}
	if e.Walk(func(e *Expr) bool { return e.Op != Aggregate }) {
		return n, p.errorf(l.pos, "the comparison needs an aggregate: count(), avg(…), min(…), max(…) or sum(…)")
	}
	n.set = &ScalarFilter{e}
	return n, p.stage(l.pos)
}

func (p *parser) setOperand() (operandNode, error) {
	n := operandNode{pos: p.tok.pos}
	var err error
	switch {
	case p.isSymbol("{"):
		n.set, err = p.spansetFilter()
	case p.isSymbol("("):
		return p.setParentheses()
	case p.isSymbol("-"):
		return p.negated()
	case p.tok.kind == tokValue && p.tok.value.Kind().IsNumber():
		n.number = &Expr{Pos: p.tok.pos, Value: p.tok.value}
		err = p.advance()
	case p.tok.kind == tokWord:
		n.number, err = p.aggregate()
	case p.tok.kind == tokField:
		err = p.errorf(p.tok.pos, "conditions are in braces: { %s … }", p.tok.text)
	default:
		err = p.unexpected("{ or an aggregate such as count()")
	}
	return n, err
}

func (p *parser) negated() (operandNode, error) {
	n := operandNode{pos: p.tok.pos}
	e, err := p.negative(Negate)
	if e != nil || err != nil {
		n.number = e
		return n, err
	}
	if err := p.enter(); err != nil {
		return n, err
	}
	defer func() { p.depth-- }()
	if err := p.advance(); err != nil {
		return n, err
	}
	x, err := p.sets(levelUnary)
	if err != nil {
		return n, err
	}
	if x.number == nil {
		return n, p.errorf(n.pos, "- needs a number, not spans")
	}
	n.number = (&Expr{Op: Negate, Pos: n.pos, X: x.number}).folded()
	return n, nil
}

func (p *parser) spansetFilter() (Stage, error) {
	f := &SpansetFilter{Pos: p.tok.pos}
	if err := p.stage(f.Pos); err != nil {
		return nil, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.isSymbol("}") {
		return f, p.advance()
	}
	var err error
	if f.Cond, err = p.expr(0); err != nil {
		return nil, err
	}
	if t := typeOf(f.Cond); t != tBool && t != tUnknown {
		return nil, p.errorf(f.Cond.Pos, "%s is no condition: compare it", typNames[t])
	}
	if p.tok.kind == tokSymbol && setOps[p.tok.text].IsStructural() {
		return nil, p.errorf(p.tok.pos, "%s stands between spansets: { … } %[1]s { … }", p.tok.text)
	}
	return f, p.expect("}")
}

// setParentheses reads a nested pipeline, or numbers in parentheses.
func (p *parser) setParentheses() (operandNode, error) {
	n := operandNode{pos: p.tok.pos}
	if err := p.enter(); err != nil {
		return n, err
	}
	defer func() { p.depth-- }()
	if err := p.advance(); err != nil {
		return n, err
	}
	inner, err := p.stageNode(true)
	if err != nil {
		return n, err
	}
	if inner.number != nil && p.isSymbol(")") {
		n.number = inner.number
		return n, p.advance()
	}
	if inner.number != nil {
		return n, p.errorf(inner.pos, "%s is a number: compare it, as in %[1]s > 2", inner.number)
	}
	l := &Pipeline{Stages: []Stage{inner.set}}
	if p.isSymbol("|") {
		if err := p.advance(); err != nil {
			return n, err
		}
		if l, err = p.pipeline(inner.set); err != nil {
			return n, err
		}
	}
	n.set = l
	if _, group := inner.set.(*GroupBy); len(l.Stages) == 1 && !group {
		n.set = inner.set
	}
	return n, p.expect(")")
}

// aggregate reads count(), or a function of an expression.
func (p *parser) aggregate() (*Expr, error) {
	e := &Expr{Op: Aggregate, Pos: p.tok.pos, Func: p.tok.text}
	switch e.Func {
	case "count":
		return e, p.noArguments()
	case "avg", "min", "max", "sum":
	case "by", "select", "coalesce":
		return nil, p.errorf(e.Pos, "%s() is a stage of its own: put it behind |", e.Func)
	default:
		return nil, p.errorf(e.Pos, "%s", unknownStage(e.Func))
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	var err error
	if e.X, err = p.expr(0); err != nil {
		return nil, err
	}
	if t := typeOf(e.X); t != tNumber && t != tUnknown {
		return nil, p.errorf(e.X.Pos, "%s() needs a number, not %s", e.Func, typNames[t])
	}
	if !hasField(e.X) {
		return nil, p.errorf(e.X.Pos, "%s() needs an attribute or intrinsic", e.Func)
	}
	return e, p.expect(")")
}

func unknownStage(word string) string {
	if _, ok := byName[word]; ok {
		return "conditions are in braces: { " + word + " … }"
	}
	if _, ok := constants[word]; ok && value.Bool == constants[word].Kind() {
		return "conditions are in braces: { " + word + " }"
	}
	return word + " is no stage: expected { … }, count(), avg(…), min(…), max(…), sum(…), by(…), select(…) or coalesce()"
}
