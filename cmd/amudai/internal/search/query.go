// Package search finds lines by words, phrases and regular expressions in shards, logs and other tables, as grep does in files.
package search

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/pattern"
)

// Query is a question about lines. Its text is
//
//	query  = all { "OR" all } .
//	all    = not { [ "AND" ] not } .
//	not    = "NOT" not | "(" query ")" | term .
//	term   = ( word | '"' { any | '\"' | '\\' } '"' ) [ "*" ] .
//
// A word ends at a space, a quote, a parenthesis or a star. The operators are in upper case; quotes make words of them.
type Query struct{ root *node }

// node is a part of a query.
type node struct {
	op   op
	text string // of a term, or a regular expression
	fold bool   // the regular expression ignores case
	args []*node
}

type op int

const (
	opTerm   op = iota // the text, with words that begin and end where it does
	opPrefix           // the same, except that its last word may go on
	opRegexp
	opAnd
	opOr
	opNot
)

// Error is a mistake in a query.
type Error struct {
	Text    string
	Pos     int // byte of Text, or -1 for the whole
	Message string
}

func (e *Error) Error() string {
	if e.Pos < 0 {
		return "query: " + e.Message
	}
	return fmt.Sprintf("query: %s, at character %d", e.Message, 1+utf8.RuneCountInString(e.Text[:e.Pos]))
}

// Regexp is the query for matches of a regular expression, in the syntax of package regexp.
func Regexp(text string, ignoreCase bool) (*Query, error) {
	if _, err := pattern.Regexp(text, ignoreCase); err != nil {
		return nil, &Error{Text: text, Pos: -1, Message: err.Error()}
	}
	return &Query{&node{op: opRegexp, text: text, fold: ignoreCase}}, nil
}

// Parse parses a query of words.
func Parse(text string) (*Query, error) {
	if len(text) > filter.MaxText {
		return nil, &Error{Text: text, Pos: -1, Message: fmt.Sprintf("it is longer than %d bytes", filter.MaxText)}
	}
	if at := strings.IndexFunc(text, func(r rune) bool { return r == utf8.RuneError }); at >= 0 {
		return nil, &Error{text, at, "it is not UTF-8"}
	}
	p := parser{text: text}
	p.next()
	root, err := p.or(0)
	switch {
	case err != nil:
		return nil, err
	case p.kind == tokenClose:
		return nil, p.errorf("a parenthesis is closed that is not open")
	}
	return &Query{root}, nil
}

type tokenKind int

const (
	tokenEnd tokenKind = iota
	tokenOpen
	tokenClose
	tokenAnd
	tokenOr
	tokenNot
	tokenTerm
)

// parser reads a query token by token.
type parser struct {
	text string
	rest int // position behind the token

	kind  tokenKind
	at    int
	value string // of a term
	star  bool
	err   error // of the token
}

func (p *parser) errorf(format string, args ...any) error {
	return &Error{p.text, p.at, fmt.Sprintf(format, args...)}
}

// next reads a token.
func (p *parser) next() {
	for p.rest < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.text[p.rest:])
		if !unicode.IsSpace(r) {
			break
		}
		p.rest += n
	}
	p.at, p.kind, p.value, p.star = p.rest, tokenEnd, "", false
	if p.rest == len(p.text) {
		return
	}
	switch p.text[p.rest] {
	case '(':
		p.kind, p.rest = tokenOpen, p.rest+1
	case ')':
		p.kind, p.rest = tokenClose, p.rest+1
	default:
		p.term()
	}
}

// term reads a word or a phrase, and the star behind it.
func (p *parser) term() {
	p.kind = tokenTerm
	if p.text[p.rest] == '"' {
		p.phrase()
	} else {
		p.word()
	}
	if p.err != nil || p.kind != tokenTerm {
		return
	}
	if p.rest < len(p.text) && p.text[p.rest] == '*' {
		p.star, p.rest = true, p.rest+1
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.rest:])
	switch {
	case p.value == "":
		p.err = p.errorf("there is no text to search for")
	case p.rest < len(p.text) && r != '(' && r != ')' && !unicode.IsSpace(r):
		p.at = p.rest
		p.err = p.errorf("a space is missing, or the whole should be in quotes, as in \"user=\\\"bob\\\"\"")
		if p.star {
			p.err = p.errorf("a star can only end a word; --regex takes other patterns")
		}
	}
}

func (p *parser) word() {
	from := p.rest
	end := strings.IndexFunc(p.text[from:], func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"()*`, r) })
	if end < 0 {
		end = len(p.text) - from
	}
	p.rest = from + end
	p.value = p.text[from:p.rest]
	if p.rest < len(p.text) && (p.text[p.rest] == '*' || p.text[p.rest] == '"') {
		return
	}
	switch p.value {
	case "AND":
		p.kind = tokenAnd
	case "OR":
		p.kind = tokenOr
	case "NOT":
		p.kind = tokenNot
	}
}

func (p *parser) phrase() {
	var b strings.Builder
	for i := p.rest + 1; i < len(p.text); i++ {
		c := p.text[i]
		switch {
		case c == '"':
			p.value, p.rest = b.String(), i+1
			return
		case c == '\\' && i+1 < len(p.text) && (p.text[i+1] == '"' || p.text[i+1] == '\\'):
			i++
			b.WriteByte(p.text[i])
		default:
			b.WriteByte(c)
		}
	}
	p.err = p.errorf("a quote is open")
	p.rest = len(p.text)
}

func (p *parser) or(depth int) (*node, error) {
	return p.several(depth, opOr, (*parser).and, func() bool { return p.kind == tokenOr })
}

func (p *parser) and(depth int) (*node, error) {
	return p.several(depth, opAnd, (*parser).not, func() bool {
		return p.kind != tokenEnd && p.kind != tokenClose && p.kind != tokenOr
	})
}

// several reads operands as long as more is true.
func (p *parser) several(depth int, op op, operand func(*parser, int) (*node, error), more func() bool) (*node, error) {
	first, err := operand(p, depth)
	if err != nil {
		return nil, err
	}
	all := &node{op: op, args: []*node{first}}
	for more() {
		if p.kind == tokenAnd || p.kind == tokenOr {
			p.next()
		}
		n, err := operand(p, depth)
		if err != nil {
			return nil, err
		}
		all.args = append(all.args, n)
	}
	if len(all.args) == 1 {
		return first, nil
	}
	return all, nil
}

func (p *parser) not(depth int) (*node, error) {
	if p.err != nil {
		return nil, p.err
	}
	if depth > filter.MaxDepth/4 { // a level is up to three of a condition
		return nil, p.errorf("it is nested too deeply")
	}
	switch p.kind {
	case tokenNot:
		p.next()
		n, err := p.not(depth + 1)
		return &node{op: opNot, args: []*node{n}}, err
	case tokenOpen:
		return p.parentheses(depth)
	case tokenTerm:
		n := &node{op: opTerm, text: p.value}
		if p.star {
			n.op = opPrefix
		}
		p.next()
		return n, nil
	case tokenEnd:
		if p.at == len(p.text) && strings.TrimSpace(p.text) == "" {
			return nil, &Error{p.text, -1, "it is empty"}
		}
		return nil, p.errorf("a word is missing at the end")
	}
	return nil, p.errorf("a word is missing")
}

func (p *parser) parentheses(depth int) (*node, error) {
	open := p.at
	p.next()
	n, err := p.or(depth + 1)
	if err != nil {
		return nil, err
	}
	if p.err != nil {
		return nil, p.err
	}
	if p.kind != tokenClose {
		p.at = open
		return nil, p.errorf("a parenthesis is not closed")
	}
	p.next()
	return n, nil
}
