package lang

import (
	"regexp"

	"github.com/amudai/amudai-go/traceql/internal/value"
)

// typ is what is known about the value of an expression before it is evaluated.
type typ uint8

const (
	tUnknown typ = iota // an attribute
	tNil
	tString
	tNumber
	tBool
	tStatus
	tKind
	tParent
)

var typNames = [...]string{"an attribute", "nil", "a string", "a number", "a Boolean", "a status", "a kind", "a span"}

func typeOf(e *Expr) typ {
	switch {
	case e.Op == Literal:
		return typOfKind(e.Value.Kind())
	case e.Op == FieldOf && e.Field.Intrinsic == NoIntrinsic:
		return tUnknown
	case e.Op == FieldOf:
		return typOfKind(e.Field.Intrinsic.Kind())
	case e.Op == Aggregate || e.Op == Negate || e.Op.IsArithmetic():
		return tNumber
	}
	return tBool
}

func typOfKind(k value.Kind) typ {
	switch k {
	case value.Nil:
		return tNil
	case value.String:
		return tString
	case value.Bool:
		return tBool
	case value.Status:
		return tStatus
	case value.SpanKind:
		return tKind
	case value.Other:
		return tParent
	}
	return tNumber
}

func (p *parser) checkUnary(e *Expr) {
	want := tNumber
	if e.Op == Not {
		want = tBool
	}
	p.want(want, e.X, e.Op)
}

// want checks that an operand may have a type.
func (p *parser) want(want typ, e *Expr, op Op) {
	if t := typeOf(e); t != want && t != tUnknown {
		p.fail(e.Pos, "%s needs %s, not %s", op, typNames[want], typNames[t])
	}
}

// binary makes an expression of two operands, whose types must suit the operator.
func (p *parser) binary(op Op, pos int, x, y *Expr) *Expr {
	e := &Expr{Op: op, Pos: pos, X: x, Y: y}
	switch {
	case op == And || op == Or:
		p.want(tBool, x, op)
		p.want(tBool, y, op)
	case op.IsArithmetic():
		p.want(tNumber, x, op)
		p.want(tNumber, y, op)
	case op == Match || op == NotMatch:
		p.checkMatch(e)
	default:
		p.checkComparison(e)
	}
	return e
}

func (p *parser) checkMatch(e *Expr) {
	if e.Y.Op != Literal || e.Y.Value.Kind() != value.String {
		p.fail(e.Y.Pos, "%s needs a regular expression in quotes", e.Op)
	}
	p.want(tString, e.X, e.Op)
	if e.X.Op == Literal {
		p.fail(e.X.Pos, "%s needs an attribute or intrinsic", e.Op)
	}
	var err error
	if e.Regexp, err = regexp.Compile("^(?:" + e.Y.Value.Text() + ")$"); err != nil {
		p.fail(e.Y.Pos, "%v", err)
	}
}

func (p *parser) checkComparison(e *Expr) {
	a, b := typeOf(e.X), typeOf(e.Y)
	equality := e.Op == Eq || e.Op == Ne
	switch {
	case a == tNil || b == tNil:
		if !equality {
			p.fail(e.Pos, "nil is compared only by = and !=")
		}
		if x, _ := e.NilTest(); x == nil {
			p.fail(e.Pos, "only an attribute or intrinsic is compared with nil")
		}
		return
	case a == tParent || b == tParent:
		p.fail(e.Pos, "parent is compared only with nil; its fields are parent.span.x, parent.resource.x or parent.name")
	case a != b && a != tUnknown && b != tUnknown:
		p.fail(e.Pos, "%s is compared with %s", typNames[a], typNames[b])
	case equality || a == tUnknown && b == tUnknown:
		return
	}
	if a == tUnknown {
		a = b
	}
	if a != tNumber && a != tString {
		p.fail(e.Pos, "%s has no order: use = or !=", typNames[a])
	}
}

// NilTest is the field that is compared with nil, or nil if the expression is no such comparison. missing says that it is true where
// the field is missing.
func (e *Expr) NilTest() (x *Field, missing bool) {
	if e.Op != Eq && e.Op != Ne {
		return nil, false
	}
	for _, pair := range [][2]*Expr{{e.X, e.Y}, {e.Y, e.X}} {
		if pair[0].Op == FieldOf && pair[1].Op == Literal && pair[1].Value.IsNil() {
			return pair[0].Field, e.Op == Eq
		}
	}
	return nil, false
}
