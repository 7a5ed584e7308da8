package lang

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/internal/base/suggest"
	"github.com/amudai/amudai-go/traceql/internal/value"
)

// Parse parses and checks a query. The error is an *Error.
func Parse(text string) (*Query, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	q := &Query{}
	if p.tok.kind == tokEnd {
		return nil, p.errorf(0, "the query is empty: { } finds all spans")
	}
	if q.Pipeline, err = p.pipeline(); err != nil {
		return nil, err
	}
	if p.isWord("with") {
		if q.Hints, err = p.hints(); err != nil {
			return nil, err
		}
	}
	if p.tok.kind != tokEnd {
		return nil, p.unexpected("| or the end of the query")
	}
	return q, nil
}

// ParseField parses an attribute or intrinsic alone, such as ".foo" or "span:name".
func ParseField(text string) (*Field, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	e, err := p.operand()
	if err != nil {
		return nil, err
	}
	if e.Op != FieldOf || p.tok.kind != tokEnd {
		return nil, p.errorf(0, "expected the name of an attribute or intrinsic: span.http.method or span:name")
	}
	return e.Field, nil
}

type parser struct {
	lexer
	tok    token
	depth  int
	stages int
}

func newParser(text string) (*parser, error) {
	if len(text) > MaxText {
		return nil, &Error{text, -1, fmt.Sprintf("the query has %d bytes, more than %d", len(text), MaxText)}
	}
	p := &parser{lexer: lexer{text: text}}
	return p, p.advance()
}

func (p *parser) advance() (err error) {
	p.tok, err = p.next()
	return err
}

func (p *parser) isWord(w string) bool   { return p.tok.kind == tokWord && p.tok.text == w }
func (p *parser) isSymbol(s string) bool { return p.tok.kind == tokSymbol && p.tok.text == s }

func (p *parser) unexpected(want string) error {
	return p.errorf(p.tok.pos, "expected %s, not %s", want, p.tok.describe())
}

func (p *parser) expect(symbol string) error {
	if !p.isSymbol(symbol) {
		return p.unexpected(symbol)
	}
	return p.advance()
}

// enter counts a level of nesting.
func (p *parser) enter() error {
	if p.depth++; p.depth > MaxDepth {
		return p.errorf(p.tok.pos, "the query is nested deeper than %d levels", MaxDepth)
	}
	return nil
}

// stage counts a spanset or a stage of a pipeline.
func (p *parser) stage(pos int) error {
	if p.stages++; p.stages > MaxStages {
		return p.errorf(pos, "the query has more than %d spansets and stages", MaxStages)
	}
	return nil
}

// hints reads with (name=value, …).
func (p *parser) hints() ([]Hint, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	var hints []Hint
	for {
		name := p.tok
		if name.kind != tokWord || strings.Contains(name.text, ":") {
			return nil, p.unexpected("the name of a hint, such as most_recent")
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		if err := p.expect("="); err != nil {
			return nil, err
		}
		e, err := p.unary()
		if err != nil {
			return nil, err
		}
		if e.Op != Literal {
			return nil, p.errorf(e.Pos, "the value of a hint is a literal")
		}
		if name.text == "most_recent" && e.Value.Kind() != value.Bool {
			return nil, p.errorf(e.Pos, "most_recent is true or false")
		}
		hints = append(hints, Hint{name.text, e.Value})
		if !p.isSymbol(",") {
			return hints, p.expect(")")
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
}

// expr reads an expression inside of braces, whose operators bind at least as tightly as level.
func (p *parser) expr(level int) (*Expr, error) {
	left, err := p.unary()
	if err != nil {
		return nil, err
	}
	for p.tok.kind == tokSymbol {
		op, ok := binaryOps[p.tok.text]
		own := binaryLevel(op)
		if !ok || own < level {
			break
		}
		pos := p.tok.pos
		if err := p.advance(); err != nil {
			return nil, err
		}
		if op != Pow {
			own++
		}
		right, err := p.expr(own)
		if err != nil {
			return nil, err
		}
		if left, err = p.binary(op, pos, left, right); err != nil {
			return nil, err
		}
	}
	return left, nil
}

var binaryOps = func() map[string]Op {
	m := map[string]Op{}
	for op := And; op <= Pow; op++ {
		m[op.String()] = op
	}
	return m
}()

// unary reads an operand with its signs and negations. A sign before a number is part of it.
func (p *parser) unary() (*Expr, error) {
	op := Negate
	switch {
	case p.isSymbol("!"):
		op = Not
	case !p.isSymbol("-"):
		return p.operand()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	pos := p.tok.pos
	if e, err := p.negative(op); e != nil || err != nil {
		return e, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	x, err := p.unary()
	if err != nil {
		return nil, err
	}
	for p.isSymbol("^") && x.Op != Negate && x.Op != Not { // -a ^ b is -(a ^ b)
		at := p.tok.pos
		if err := p.advance(); err != nil {
			return nil, err
		}
		y, err := p.expr(levelPow)
		if err != nil {
			return nil, err
		}
		if x, err = p.binary(Pow, at, x, y); err != nil {
			return nil, err
		}
	}
	e := &Expr{Op: op, Pos: pos, X: x}
	return e.folded(), p.checkUnary(e)
}

// negative reads a negative number, if there is one; before ^ the sign is an operator.
func (p *parser) negative(op Op) (*Expr, error) {
	if op != Negate || p.at == len(p.text) || !isDigit(p.text[p.at]) {
		return nil, nil
	}
	pos, back := p.tok.pos, p.at
	v, err := p.number("-")
	if err != nil {
		return nil, err
	}
	if p.space(); strings.HasPrefix(p.text[p.at:], "^") {
		p.at = back
		return nil, nil
	}
	return &Expr{Op: Literal, Pos: pos, Value: v}, p.advance()
}

// folded replaces a sign before a number by a negative number.
func (e *Expr) folded() *Expr {
	if e.Op == Negate && e.X.Op == Literal && e.X.Value.Kind().IsNumber() {
		return &Expr{Op: Literal, Pos: e.Pos, Value: value.Negative(e.X.Value)}
	}
	return e
}

// constants are the words that stand for values.
var constants = func() map[string]value.Value {
	m := map[string]value.Value{
		"true": value.OfBool(true), "false": value.OfBool(false), "nil": {},
		"minInt": value.OfInt(-1 << 63), "maxInt": value.OfInt(1<<63 - 1),
	}
	for code, name := range value.StatusNames {
		m[name] = value.OfStatus(int64(code))
	}
	for code, name := range value.SpanKindNames {
		m[name] = value.OfSpanKind(int64(code))
	}
	return m
}()

func (p *parser) operand() (*Expr, error) {
	t := p.tok
	e := &Expr{Pos: t.pos}
	switch {
	case t.kind == tokValue:
		e.Value = t.value
	case t.kind == tokField:
		e.Op, e.Field = FieldOf, t.field
	case t.kind == tokWord:
		if v, ok := constants[t.text]; ok {
			e.Value = v
			break
		}
		i, ok := byName[t.text]
		if !ok {
			return nil, p.errorf(t.pos, "%s", unknownWord(t.text))
		}
		e.Op, e.Field = FieldOf, &Field{Intrinsic: i, text: t.text}
	case p.isSymbol("("):
		return p.parentheses()
	default:
		return nil, p.unexpected("an attribute, an intrinsic or a value")
	}
	return e, p.advance()
}

func (p *parser) parentheses() (*Expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	if err := p.advance(); err != nil {
		return nil, err
	}
	e, err := p.expr(0)
	if err != nil {
		return nil, err
	}
	return e, p.expect(")")
}

// unknownWord is the message about a word that is no intrinsic and no value.
func unknownWord(word string) string {
	known := func(yield func(string) bool) {
		for _, words := range []iter.Seq[string]{maps.Keys(byName), maps.Keys(constants)} {
			for _, w := range slices.Sorted(words) {
				if !yield(w) {
					return
				}
			}
		}
	}
	hint := suggest.Name(word, known)
	scope, name, colon := strings.Cut(word, ":")
	_, isScope := scopeOf(scope)
	switch {
	case hint != "":
		return fmt.Sprintf("there is no intrinsic %s: is %s meant?", word, hint)
	case colon && isScope:
		return fmt.Sprintf("there is no intrinsic %s: is the attribute %s.%s meant?", word, scope, name)
	case colon:
		return fmt.Sprintf("there is no intrinsic %s: intrinsics are %s", word, strings.Join(Intrinsics(), ", "))
	}
	return fmt.Sprintf("%s is no intrinsic and no value: an attribute is written span.%[1]s or .%[1]s, a string %q", word, word)
}
