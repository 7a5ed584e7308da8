package lang

import "strings"

// String is the query as text. Parse turns it into an equal query.
func (q *Query) String() string {
	var p printer
	p.pipeline(q.Pipeline)
	if len(q.Hints) > 0 {
		p.WriteString(" with (")
		for i, h := range q.Hints {
			if i > 0 {
				p.WriteString(", ")
			}
			p.WriteString(h.Name + "=" + h.Value.String())
		}
		p.WriteString(")")
	}
	return p.String()
}

// Text is a stage as text.
func Text(s Stage) string {
	var p printer
	p.stage(s, 0)
	return p.String()
}

// String is the expression as text.
func (e *Expr) String() string {
	var p printer
	p.expr(e, 0)
	return p.String()
}

type printer struct{ strings.Builder }

func (p *printer) pipeline(l *Pipeline) {
	for i, s := range l.Stages {
		if i > 0 {
			p.WriteString(" | ")
		}
		p.stage(s, 0)
	}
}

// stage writes a stage in parentheses if it binds less than level.
func (p *printer) stage(s Stage, level int) {
	switch s := s.(type) {
	case *Pipeline:
		p.WriteString("(")
		p.pipeline(s)
		p.WriteString(")")
	case *SpansetFilter:
		p.WriteString("{ ")
		if s.Cond != nil {
			p.expr(s.Cond, 0)
			p.WriteString(" ")
		}
		p.WriteString("}")
	case *SpansetOperation:
		own := levelSet
		if s.Op.IsStructural() {
			own = levelCompare
		}
		p.open(own < level)
		p.stage(s.L, own)
		p.WriteString(" " + s.Op.String() + " ")
		p.stage(s.R, own+1)
		p.close(own < level)
	case *ScalarFilter:
		p.open(levelCompare < level)
		p.expr(s.Cond, 0)
		p.close(levelCompare < level)
	case *GroupBy:
		p.call("by", s.By)
	case *Select:
		p.call("select", s.Fields)
	case *Coalesce:
		p.WriteString("coalesce()")
	case *Metrics:
		p.metrics(s)
	}
}

func (p *printer) call(name string, args []*Expr) {
	p.WriteString(name + "(")
	for i, e := range args {
		if i > 0 {
			p.WriteString(", ")
		}
		p.expr(e, 0)
	}
	p.WriteString(")")
}

func (p *printer) open(yes bool) {
	if yes {
		p.WriteString("(")
	}
}

func (p *printer) close(yes bool) {
	if yes {
		p.WriteString(")")
	}
}

// expr writes an expression in parentheses if it binds less than level.
func (p *printer) expr(e *Expr, level int) {
	own := levelOf(e)
	p.open(own < level)
	defer p.close(own < level)
	switch e.Op {
	case Literal:
		p.WriteString(e.Value.String())
	case FieldOf:
		p.WriteString(e.Field.String())
	case Aggregate:
		p.WriteString(e.Func + "(")
		if e.X != nil {
			p.expr(e.X, 0)
		}
		p.WriteString(")")
	case Not, Negate:
		p.WriteString(e.Op.String())
		p.expr(e.X, own)
	default:
		left, right := own, own+1
		if e.Op == Pow {
			left, right = own+1, own
		}
		p.expr(e.X, left)
		p.WriteString(" " + e.Op.String() + " ")
		p.expr(e.Y, right)
	}
}

// How tightly operators bind. && and || are equal, as in Tempo.
const (
	levelSet     = 1 // && ||
	levelCompare = 2
	levelAdd     = 3
	levelMul     = 4
	levelUnary   = 5
	levelPow     = 6
	levelOperand = 7
)

func levelOf(e *Expr) int {
	switch {
	case e.Op == Literal && e.Value.Kind().IsNumber() && strings.HasPrefix(e.Value.String(), "-"):
		return levelUnary
	case e.Op <= Aggregate:
		return levelOperand
	case e.Op <= Negate:
		return levelUnary
	}
	return binaryLevel(e.Op)
}

func binaryLevel(o Op) int {
	switch {
	case o <= Or:
		return levelSet
	case o.IsComparison():
		return levelCompare
	case o <= Sub:
		return levelAdd
	case o <= Mod:
		return levelMul
	}
	return levelPow
}
