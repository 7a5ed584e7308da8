package lang

import "github.com/amudai/amudai-go/traceql/internal/value"

// operandNode is a part of a pipeline: a stage, or a number made of aggregates.
type operandNode struct {
	set    Stage
	number *Expr
	pos    int
}

// pipeline reads the rest of a pipeline that has some stages. The caller sees what follows it.
func (p *parser) pipeline(stages ...Stage) *Pipeline {
	l := &Pipeline{stages}
	for {
		n := p.stageNode(len(l.Stages) == 0)
		p.noNumber(n)
		l.Stages = append(l.Stages, n.set)
		if _, last := n.set.(*Metrics); last || !p.accept("|") {
			return l
		}
	}
}

func (p *parser) noNumber(n operandNode) {
	if n.number != nil {
		p.fail(n.pos, "%s is a number: compare it, as in %[1]s > 2", n.number)
	}
}

func (p *parser) stageNode(first bool) operandNode {
	pos := p.tok.pos
	if p.tok.kind != tokWord {
		return p.sets(0)
	}
	word := p.tok.text
	if p.isMetrics() {
		return operandNode{set: p.metrics(first), pos: pos}
	}
	if first && (word == "select" || word == "coalesce") {
		p.fail(pos, "%s() follows other stages: { } | %[1]s(…)", word)
	}
	var s Stage
	switch word {
	case "by":
		s = &GroupBy{p.arguments(word)}
	case "select":
		s = &Select{p.arguments(word)}
	case "coalesce":
		s = &Coalesce{}
		p.noArguments()
	default:
		return p.sets(0)
	}
	p.stage(pos)
	return operandNode{set: s, pos: pos}
}

func (p *parser) noArguments() {
	p.advance()
	p.expect("(")
	p.expect(")")
}

// arguments reads the arguments of by() and select(): expressions with a field.
func (p *parser) arguments(word string) (args []*Expr) {
	p.advance()
	p.expect("(")
	for {
		e := p.expr(0)
		if word == "select" && e.Op != FieldOf {
			p.fail(e.Pos, "select() needs attributes or intrinsics")
		}
		if !hasField(e) {
			p.fail(e.Pos, "%s() needs an attribute or intrinsic", word)
		}
		args = append(args, e)
		if !p.accept(",") {
			p.expect(")")
			return args
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
func (p *parser) sets(level int) operandNode {
	left := p.setOperand()
	for p.tok.kind == tokSymbol {
		own := setLevel(p.tok.text)
		if own == 0 || own < level {
			break
		}
		op := p.tok
		p.advance()
		if op.text != "^" {
			own++
		}
		left = p.combine(op, left, p.sets(own))
	}
	return left
}

func (p *parser) combine(op token, l, r operandNode) operandNode {
	n := operandNode{pos: l.pos}
	set, isSet := setOps[op.text]
	binary, isBinary := binaryOps[op.text]
	switch {
	case p.err != nil:
		return n
	case l.set != nil && r.set != nil && isSet:
		n.set = &SpansetOperation{set, l.set, r.set, op.pos}
		return n
	case l.set != nil && r.set != nil:
		p.fail(op.pos, "%s is no operator between spansets", op.text)
		return n
	case l.set != nil || r.set != nil:
		p.fail(op.pos, "%s has spans on one side and a number on the other", op.text)
		return n
	case !isBinary || binary == And || binary == Or || binary == NotMatch:
		p.fail(op.pos, "%s is no operator between numbers", op.text)
		return n
	}
	e := p.binary(binary, op.pos, l.number, r.number)
	if !binary.IsComparison() {
		n.number = e
		return n
	}
	if e.Walk(func(e *Expr) bool { return e.Op != Aggregate }) {
		p.fail(l.pos, "the comparison needs an aggregate: count(), avg(…), min(…), max(…) or sum(…)")
	}
	p.stage(l.pos)
	n.set = &ScalarFilter{e}
	return n
}

func (p *parser) setOperand() operandNode {
	n := operandNode{pos: p.tok.pos}
	switch {
	case p.isSymbol("{"):
		n.set = p.spansetFilter()
	case p.isSymbol("("):
		return p.setParentheses()
	case p.isSymbol("-"):
		n.number = p.negated()
	case p.tok.kind == tokValue && p.tok.value.Kind().IsNumber():
		n.number = &Expr{Pos: p.tok.pos, Value: p.tok.value}
		p.advance()
	case p.tok.kind == tokWord:
		n.number = p.aggregate()
	case p.tok.kind == tokField:
		p.fail(p.tok.pos, "conditions are in braces: { %s … }", p.tok.text)
	default:
		p.unexpected("{ or an aggregate such as count()")
	}
	return n
}

func (p *parser) negated() *Expr {
	pos := p.tok.pos
	if e := p.negative(Negate); e != nil {
		return e
	}
	p.enter()
	defer p.leave()
	p.advance()
	x := p.sets(levelUnary)
	if x.number == nil {
		p.fail(pos, "- needs a number, not spans")
		return &Expr{Pos: pos}
	}
	return (&Expr{Op: Negate, Pos: pos, X: x.number}).folded()
}

func (p *parser) spansetFilter() Stage {
	f := &SpansetFilter{Pos: p.tok.pos}
	p.stage(f.Pos)
	p.advance()
	if p.accept("}") {
		return f
	}
	f.Cond = p.expr(0)
	if t := typeOf(f.Cond); t != tBool && t != tUnknown {
		p.fail(f.Cond.Pos, "%s is no condition: compare it", typNames[t])
	}
	if p.tok.kind == tokSymbol && setOps[p.tok.text].IsStructural() {
		p.fail(p.tok.pos, "%s stands between spansets: { … } %[1]s { … }", p.tok.text)
	}
	p.expect("}")
	return f
}

// setParentheses reads a nested pipeline, or numbers in parentheses.
func (p *parser) setParentheses() operandNode {
	n := operandNode{pos: p.tok.pos}
	p.enter()
	defer p.leave()
	p.advance()
	inner := p.stageNode(true)
	if inner.number != nil && p.accept(")") {
		n.number = inner.number
		return n
	}
	p.noNumber(inner)
	l := &Pipeline{Stages: []Stage{inner.set}}
	if p.accept("|") {
		l = p.pipeline(inner.set)
	}
	n.set = l
	if _, group := inner.set.(*GroupBy); len(l.Stages) == 1 && !group {
		n.set = inner.set
	}
	p.expect(")")
	return n
}

// aggregate reads count(), or a function of an expression.
func (p *parser) aggregate() *Expr {
	e := &Expr{Op: Aggregate, Pos: p.tok.pos, Func: p.tok.text}
	switch e.Func {
	case "count":
		p.noArguments()
		return e
	case "avg", "min", "max", "sum":
	case "by", "select", "coalesce":
		p.fail(e.Pos, "%s() is a stage of its own: put it behind |", e.Func)
	default:
		p.fail(e.Pos, "%s", unknownStage(e.Func))
	}
	p.advance()
	p.expect("(")
	e.X = p.numeric(e.Func)
	p.expect(")")
	return e
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
