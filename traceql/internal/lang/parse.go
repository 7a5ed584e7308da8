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
	p := newParser(text)
	q := &Query{}
	if p.tok.kind == tokEnd {
		p.fail(0, "the query is empty: { } finds all spans")
	}
	q.Pipeline = p.pipeline()
	if p.isWord("with") {
		q.Hints = p.hints()
	}
	if p.tok.kind != tokEnd {
		p.unexpected("| or the end of the query")
	}
	if p.err != nil {
		return nil, p.err
	}
	return q, nil
}

// ParseField parses an attribute or intrinsic alone, such as ".foo" or "span:name".
func ParseField(text string) (*Field, error) {
	p := newParser(text)
	e := p.operand()
	if e.Op != FieldOf || p.tok.kind != tokEnd {
		p.fail(0, "expected the name of an attribute or intrinsic: span.http.method or span:name")
	}
	return e.Field, p.err
}

// parser reads one token ahead. After an error it sees the end of the query, so that only what it returns is wrong.
type parser struct {
	lexer
	tok    token
	depth  int
	stages int
}

func newParser(text string) *parser {
	p := &parser{lexer: lexer{text: text}}
	if len(text) > MaxText {
		p.fail(-1, "the query has %d bytes, more than %d", len(text), MaxText)
	}
	p.advance()
	return p
}

func (p *parser) fail(pos int, format string, args ...any) {
	p.lexer.fail(pos, format, args...)
	p.tok = token{kind: tokEnd, pos: len(p.text)}
}

func (p *parser) advance() {
	if p.err == nil {
		p.tok = p.next()
	}
	if p.err != nil {
		p.tok = token{kind: tokEnd, pos: len(p.text)}
	}
}

func (p *parser) isWord(w string) bool   { return p.tok.kind == tokWord && p.tok.text == w }
func (p *parser) isSymbol(s string) bool { return p.tok.kind == tokSymbol && p.tok.text == s }

func (p *parser) unexpected(want string) {
	p.fail(p.tok.pos, "expected %s, not %s", want, p.tok.describe())
}

func (p *parser) expect(symbol string) {
	if !p.isSymbol(symbol) {
		p.unexpected(symbol)
	}
	p.advance()
}

// accept reads a symbol if it is the next one.
func (p *parser) accept(symbol string) bool {
	if !p.isSymbol(symbol) {
		return false
	}
	p.advance()
	return true
}

// enter counts a level of nesting, which leave ends.
func (p *parser) enter() {
	if p.depth++; p.depth > MaxDepth {
		p.fail(p.tok.pos, "the query is nested deeper than %d levels", MaxDepth)
	}
}

func (p *parser) leave() { p.depth-- }

// stage counts a spanset or a stage of a pipeline.
func (p *parser) stage(pos int) {
	if p.stages++; p.stages > MaxStages {
		p.fail(pos, "the query has more than %d spansets and stages", MaxStages)
	}
}

// hints reads with (name=value, …).
func (p *parser) hints() (hints []Hint) {
	p.advance()
	p.expect("(")
	for {
		name := p.tok
		if name.kind != tokWord || strings.Contains(name.text, ":") {
			p.unexpected("the name of a hint, such as most_recent")
		}
		p.advance()
		p.expect("=")
		e := p.unary()
		if e.Op != Literal {
			p.fail(e.Pos, "the value of a hint is a literal")
		}
		if name.text == "most_recent" && e.Value.Kind() != value.Bool {
			p.fail(e.Pos, "most_recent is true or false")
		}
		hints = append(hints, Hint{name.text, e.Value})
		if !p.accept(",") {
			p.expect(")")
			return hints
		}
	}
}

// expr reads an expression inside of braces, whose operators bind at least as tightly as level.
func (p *parser) expr(level int) *Expr {
	left := p.unary()
	for p.tok.kind == tokSymbol {
		op, ok := binaryOps[p.tok.text]
		own := binaryLevel(op)
		if !ok || own < level {
			break
		}
		pos := p.tok.pos
		p.advance()
		if op != Pow {
			own++
		}
		left = p.binary(op, pos, left, p.expr(own))
	}
	return left
}

var binaryOps = func() map[string]Op {
	m := map[string]Op{}
	for op := And; op <= Pow; op++ {
		m[op.String()] = op
	}
	return m
}()

// unary reads an operand with its signs and negations. A sign before a number is part of it.
func (p *parser) unary() *Expr {
	op := Negate
	switch {
	case p.isSymbol("!"):
		op = Not
	case !p.isSymbol("-"):
		return p.operand()
	}
	p.enter()
	defer p.leave()
	pos := p.tok.pos
	if e := p.negative(op); e != nil {
		return e
	}
	p.advance()
	x := p.unary()
	for p.isSymbol("^") && x.Op != Negate && x.Op != Not { // -a ^ b is -(a ^ b)
		at := p.tok.pos
		p.advance()
		x = p.binary(Pow, at, x, p.expr(levelPow))
	}
	e := &Expr{Op: op, Pos: pos, X: x}
	p.checkUnary(e)
	return e.folded()
}

// negative reads a negative number, if there is one; before ^ the sign is an operator.
func (p *parser) negative(op Op) *Expr {
	if op != Negate || p.at == len(p.text) || !isDigit(p.text[p.at]) {
		return nil
	}
	pos, back := p.tok.pos, p.at
	v := p.number("-")
	if p.space(); p.err == nil && strings.HasPrefix(p.text[p.at:], "^") {
		p.at = back
		return nil
	}
	p.advance()
	return &Expr{Op: Literal, Pos: pos, Value: v}
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

// operand reads a value, a field or an expression in parentheses. After an error it is nil as a literal.
func (p *parser) operand() *Expr {
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
		} else if i, ok := byName[t.text]; ok {
			e.Op, e.Field = FieldOf, &Field{Intrinsic: i, text: t.text}
		} else {
			p.fail(t.pos, "%s", unknownWord(t.text))
		}
	case p.isSymbol("("):
		p.enter()
		defer p.leave()
		p.advance()
		e = p.expr(0)
		p.expect(")")
		return e
	default:
		p.unexpected("an attribute, an intrinsic or a value")
	}
	p.advance()
	return e
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
