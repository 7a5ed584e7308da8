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
	var n *Node
	err := parse(text, func(p *parser) {
		n = p.or()
		p.end("and, or, or the end")
	})
	if n == nil || err != nil {
		return nil, err
	}
	n.from(text)
	return n, nil
}

// parse calls items for a text that is not blank. The error is the first mistake.
func parse(text string, items func(p *parser)) error {
	if len(text) > MaxText {
		return &Error{Pos: -1, Message: fmt.Sprintf("text of %d bytes, more than %d", len(text), MaxText)}
	}
	p := &parser{lexer: lexer{text: text}}
	if p.advance(); p.tok.kind != tokEnd {
		items(p)
	}
	return p.err
}

// from records the text that a tree was parsed from.
func (n *Node) from(text string) {
	n.Text = text
	for _, a := range n.Args {
		a.from(text)
	}
}

// parser parses a text by recursive descent. At a mistake, which it remembers, the text ends: functions go on without a look at errors,
// and what they return then is not used.
type parser struct {
	lexer
	tok   token // the next one
	last  token // the one before
	depth int
	ops   int // arithmetic operations
}

func (p *parser) advance() {
	p.last, p.tok = p.tok, p.next()
}

// fail records a mistake, and ends the text.
func (p *parser) fail(pos int, format string, args ...any) {
	p.lexer.fail(pos, format, args...)
	p.tok = token{kind: tokEnd, pos: len(p.text)}
}

func (p *parser) expected(what string) {
	if p.isWord("||") {
		p.fail(p.tok.pos, "there is no operator ||: conditions are joined by or, texts by concat(a, b)")
		return
	}
	if name := p.spacedName(); name != "" {
		p.fail(p.tok.pos, `expected %s, found %s: is "%s" meant, in quotes because of its spaces?`, what, p.tok.describe(), name)
		return
	}
	p.fail(p.tok.pos, "expected %s, found %s", what, p.tok.describe())
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
func (p *parser) accept(words ...string) bool {
	is := p.isWord(words...)
	if is {
		p.advance()
	}
	return is
}

func (p *parser) require(words ...string) {
	for _, word := range words {
		if !p.accept(word) {
			p.expected(word)
		}
	}
}

// end requires the end of the text.
func (p *parser) end(expected string) {
	if p.tok.kind != tokEnd {
		p.expected(expected)
	}
}

// deeper limits nesting.
func (p *parser) deeper(parse func() *Node) *Node {
	if p.depth++; p.depth > MaxDepth {
		p.fail(p.tok.pos, "parentheses and nots nest deeper than %d", MaxDepth)
	}
	n := parse()
	p.depth--
	return n
}

func (p *parser) or() *Node { return p.series(OpOr, p.and, "or") }

func (p *parser) and() *Node { return p.series(OpAnd, p.not, "and", "&&") }

// series parses operands separated by an operator.
func (p *parser) series(o Op, one func() *Node, words ...string) *Node {
	pos := p.tok.pos
	conditions := []*Node{one()}
	for p.accept(words...) {
		conditions = append(conditions, one())
	}
	if len(conditions) == 1 {
		return conditions[0]
	}
	n := Join(o, conditions)
	n.Pos = pos
	return n
}

func (p *parser) not() *Node {
	pos := p.tok.pos
	if p.accept("not", "!") {
		return negated(p.deeper(p.not), pos)
	}
	return p.predicate(p.value(), pos)
}

func negated(n *Node, pos int) *Node { return &Node{Op: OpNot, Pos: pos, Args: []*Node{n}} }

// comparisons are the operators between two operands.
var comparisons = map[string]Op{
	"=": OpEq, "==": OpEq, "<>": OpNe, "!=": OpNe, "<": OpLt, "<=": OpLe, ">": OpGt, ">=": OpGe,
	"~": OpMatches, "~*": OpMatches, "!~": OpMatches, "!~*": OpMatches,
}

// predicate parses the optional part after an operand.
func (p *parser) predicate(a *Node, pos int) *Node {
	n := &Node{Pos: pos, Args: []*Node{a}}
	not := false
	if o, ok := comparisons[p.tok.text]; ok && p.tok.kind == tokSymbol {
		n.Op, n.Fold, not = o, strings.HasSuffix(p.tok.text, "*"), strings.HasPrefix(p.tok.text, "!~")
		p.binary(n)
	} else if p.accept("is") {
		not = p.accept("not")
		p.is(n)
	} else {
		not = p.accept("not")
		switch {
		case p.isWord("in"):
			n.Op = OpIn
			p.operands(n)
		case p.isWord("between"):
			n.Op = OpBetween
			p.binary(n)
			if !p.isWord("and") {
				p.expected("and")
			}
			p.binary(n)
		default:
			n = p.word(n, not)
		}
	}
	if not {
		n = negated(n, pos)
	}
	return n
}

// word parses an operator that is a word, and its operands.
func (p *parser) word(n *Node, required bool) *Node {
	word := p.tok.word
	for _, two := range []string{"starts", "ends"} {
		if i := strings.TrimPrefix(word, "i"); p.tok.kind == tokName && i == two {
			word += "_with"
		}
	}
	var ok bool
	if n.Op, n.Fold, ok = functionOf(word); !ok || p.tok.kind != tokName {
		if required {
			p.expected("in, between, like or another operator")
		}
		return n.Args[0]
	}
	if strings.HasSuffix(word, "_with") && !strings.HasSuffix(p.tok.word, "_with") {
		if p.advance(); !p.isWord("with") {
			p.expected("with")
		}
	}
	if n.Op == OpHasAny || n.Op == OpHasAll {
		p.operands(n)
	} else {
		p.binary(n)
	}
	return n
}

// binary parses the operand after a binary operator.
func (p *parser) binary(n *Node) {
	p.advance()
	n.Args = append(n.Args, p.value())
}

func (p *parser) is(n *Node) {
	switch {
	case p.accept("null"):
		n.Op = OpIsNull
	case p.accept("nan"):
		n.Op = OpIsNaN
	default:
		p.expected("null or nan")
	}
}

// operands parses a list of operands in parentheses, which may be empty.
func (p *parser) operands(n *Node) {
	p.advance()
	n.Args = append(n.Args, p.list(p.value)...)
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
