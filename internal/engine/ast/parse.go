package ast

import (
	"fmt"
	"math/big"
	"strings"
)

// Limits of Parse.
const (
	MaxText  = 1 << 20 // bytes
	MaxDepth = 100     // nested parentheses, calls, signs and nots
	maxOps   = 10_000  // arithmetic operations: a + b + … nests as deep
)

// Parse parses an expression. The documentation of package filter has the grammar. The result is nil, for no
// condition, if the text is blank. The error is an [*Error].
func Parse(text string) (*Node, error) {
	if len(text) > MaxText {
		return nil, &Error{Pos: -1, Message: fmt.Sprintf("text of %d bytes, more than %d", len(text), MaxText)}
	}
	p := &parser{lexer: lexer{text: text}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == tokEnd {
		return nil, nil
	}
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokEnd {
		return nil, p.expected("and, or, or the end")
	}
	n.from(text)
	return n, nil
}

// from records the text that a tree was parsed from.
func (n *Node) from(text string) {
	n.Text = text
	for _, a := range n.Args {
		a.from(text)
	}
}

type parser struct {
	lexer
	tok   token // the next one
	last  token // the one before
	depth int
	ops   int // arithmetic operations
}

func (p *parser) advance() (err error) {
	p.last = p.tok
	p.tok, err = p.next()
	return err
}

func (p *parser) expected(what string) error {
	if p.isWord("||") {
		return p.errorf(p.tok.pos, "there is no operator ||: conditions are joined by or, texts by concat(a, b)")
	}
	if name := p.spacedName(); name != "" {
		return p.errorf(p.tok.pos, `expected %s, found %s: is "%s" meant, in quotes because of its spaces?`, what, p.tok.describe(), name)
	}
	return p.errorf(p.tok.pos, "expected %s, found %s", what, p.tok.describe())
}

// spacedName is the name that the last word and those behind it would be in quotes, "" if it is no name.
func (p *parser) spacedName() string {
	end := p.last.pos
	for n, rest := 0, p.text[end:]; ; n++ {
		word := rest[:len(rest)-len(strings.TrimLeftFunc(rest, nameRune))]
		if word == "" || reserved[strings.ToLower(word)] {
			if n < 2 || p.last.kind != tokName {
				return ""
			}
			return p.text[p.last.pos:end]
		}
		end = len(p.text) - len(rest) + len(word)
		rest = strings.TrimLeft(p.text[end:], " ")
	}
}

// isWord reports whether the next token is one of the given words or symbols.
func (p *parser) isWord(words ...string) bool {
	for _, w := range words {
		if p.tok.kind == tokName && p.tok.word == w || p.tok.kind == tokSymbol && p.tok.text == w {
			return true
		}
	}
	return false
}

// accept skips the next token if it is one of the given words or symbols.
func (p *parser) accept(words ...string) (bool, error) {
	if !p.isWord(words...) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) require(word string) error {
	if !p.isWord(word) {
		return p.expected(word)
	}
	return p.advance()
}

// deeper limits nesting.
func (p *parser) deeper(parse func() (*Node, error)) (*Node, error) {
	if p.depth++; p.depth > MaxDepth {
		return nil, p.errorf(p.tok.pos, "parentheses and nots nest deeper than %d", MaxDepth)
	}
	n, err := parse()
	p.depth--
	return n, err
}

func (p *parser) or() (*Node, error) { return p.series(OpOr, p.and, "or") }

func (p *parser) and() (*Node, error) { return p.series(OpAnd, p.not, "and", "&&") }

// series parses operands separated by an operator.
func (p *parser) series(o Op, one func() (*Node, error), words ...string) (*Node, error) {
	pos := p.tok.pos
	first, err := one()
	if err != nil || !p.isWord(words...) {
		return first, err
	}
	conditions := []*Node{first}
	for p.isWord(words...) {
		if err := p.advance(); err != nil {
			return nil, err
		}
		n, err := one()
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, n)
	}
	n := Join(o, conditions)
	n.Pos = pos
	return n, nil
}

func (p *parser) not() (*Node, error) {
	pos := p.tok.pos
	if ok, err := p.accept("not", "!"); !ok || err != nil {
		if err != nil {
			return nil, err
		}
		return p.condition()
	}
	n, err := p.deeper(p.not)
	if err != nil {
		return nil, err
	}
	return negated(n, pos), nil
}

func negated(n *Node, pos int) *Node { return &Node{Op: OpNot, Pos: pos, Args: []*Node{n}} }

// condition parses a value and the predicate after it.
func (p *parser) condition() (*Node, error) {
	pos := p.tok.pos
	n, err := p.value()
	if err != nil {
		return nil, err
	}
	return p.predicate(n, pos)
}

// comparisons are the operators between two operands.
var comparisons = map[string]Op{
	"=": OpEq, "==": OpEq, "<>": OpNe, "!=": OpNe, "<": OpLt, "<=": OpLe, ">": OpGt, ">=": OpGe,
	"~": OpMatches, "~*": OpMatches, "!~": OpMatches, "!~*": OpMatches,
}

// predicate parses the optional part after an operand.
func (p *parser) predicate(a *Node, pos int) (*Node, error) {
	if o, ok := comparisons[p.tok.text]; ok && p.tok.kind == tokSymbol {
		symbol := p.tok.text
		n, err := p.binary(&Node{Op: o, Pos: pos, Args: []*Node{a}, Fold: strings.HasSuffix(symbol, "*")})
		if err == nil && strings.HasPrefix(symbol, "!~") {
			n = negated(n, pos)
		}
		return n, err
	}
	if ok, err := p.accept("is"); ok || err != nil {
		if err != nil {
			return nil, err
		}
		return p.is(a, pos)
	}
	not, err := p.accept("not")
	if err != nil {
		return nil, err
	}
	n := &Node{Pos: pos, Args: []*Node{a}}
	switch {
	case p.isWord("in"):
		n, err = p.in(n)
	case p.isWord("between"):
		n, err = p.between(n)
	default:
		n, err = p.word(n, not)
	}
	if err == nil && not {
		n = negated(n, pos)
	}
	return n, err
}

// word parses an operator that is a word, and its operands.
func (p *parser) word(n *Node, required bool) (*Node, error) {
	word := p.tok.word
	for _, two := range []string{"starts", "ends"} {
		if i := strings.TrimPrefix(word, "i"); p.tok.kind == tokName && i == two {
			word += "_with"
		}
	}
	var ok bool
	if n.Op, n.Fold, ok = functionOf(word); !ok || p.tok.kind != tokName {
		if required {
			return nil, p.expected("in, between, like or another operator")
		}
		return n.Args[0], nil
	}
	if strings.HasSuffix(word, "_with") && !strings.HasSuffix(p.tok.word, "_with") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		if !p.isWord("with") {
			return nil, p.expected("with")
		}
	}
	if n.Op == OpHasAny || n.Op == OpHasAll {
		return p.operands(n)
	}
	return p.binary(n)
}

// binary parses the operand after a binary operator.
func (p *parser) binary(n *Node) (*Node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	b, err := p.value()
	if err != nil {
		return nil, err
	}
	n.Args = append(n.Args, b)
	return n, nil
}

func (p *parser) is(a *Node, pos int) (*Node, error) {
	not, err := p.accept("not")
	if err != nil {
		return nil, err
	}
	n := &Node{Op: OpIsNull, Pos: pos, Args: []*Node{a}}
	switch {
	case p.isWord("null"):
	case p.isWord("nan"):
		n.Op = OpIsNaN
	default:
		return nil, p.expected("null or nan")
	}
	if not {
		n = negated(n, pos)
	}
	return n, p.advance()
}

func (p *parser) in(n *Node) (*Node, error) {
	n.Op = OpIn
	return p.operands(n)
}

// operands parses a list of operands in parentheses, which may be empty.
func (p *parser) operands(n *Node) (*Node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	return p.list(n, p.value)
}

func (p *parser) between(n *Node) (*Node, error) {
	n.Op = OpBetween
	n, err := p.binary(n)
	if err != nil {
		return nil, err
	}
	if !p.isWord("and") {
		return nil, p.expected("and")
	}
	return p.binary(n)
}

// parseRadix parses an integer that begins with 0x or 0b.
func parseRadix(text string) (Literal, error) {
	base := 16
	if text[1]|0x20 == 'b' {
		base = 2
	}
	v, ok := new(big.Int).SetString(text[2:], base)
	if !ok || len(text) > 1000 || strings.ContainsAny(text[2:], "+-_") {
		return Literal{}, fmt.Errorf("%s is not an integer", Shorten(text))
	}
	return Literal{LitNumber, v.String()}, nil
}
