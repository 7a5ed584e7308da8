package query

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/pattern"
)

// Parse parses a query of words.
func Parse(text string) (*Query, error) {
	if len(text) > filter.MaxText {
		return nil, &Error{Text: text, Pos: -1, Message: fmt.Sprintf("it is longer than %d bytes", filter.MaxText)}
	}
	if at := strings.IndexFunc(text, func(r rune) bool { return r == utf8.RuneError }); at >= 0 {
		return nil, &Error{text, at, "it is not UTF-8"}
	}
	p := parser{text: text}
	if err := p.divide(); err != nil {
		return nil, err
	}
	if p.kind() == "" {
		return nil, &Error{text, -1, "it is empty"}
	}
	root, err := p.or(0)
	if err == nil && p.kind() == ")" {
		err = p.errorf("a parenthesis is closed that is not open")
	}
	if err != nil {
		return nil, err
	}
	return &Query{root}, nil
}

// token is a part of the text.
type token struct {
	kind string // "(", ")", "AND", "OR", "NOT", "term", or "" at the end
	at   int
	term *node
}

// parser reads a query token by token.
type parser struct {
	text   string
	tokens []token // that are left, the end at least
}

func (p *parser) kind() string { return p.tokens[0].kind }

// take goes on if the next token is of a kind.
func (p *parser) take(kind string) bool {
	if p.kind() != kind {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

func (p *parser) errorf(message string) error { return &Error{p.text, p.tokens[0].at, message} }

// divide finds the tokens.
func (p *parser) divide() error {
	for at := 0; ; {
		at = len(p.text) - len(strings.TrimLeftFunc(p.text[at:], unicode.IsSpace))
		t := token{at: at}
		switch rest := p.text[at:]; {
		case rest == "":
			p.tokens = append(p.tokens, t)
			return nil
		case rest[0] == '(' || rest[0] == ')':
			t.kind = rest[:1]
			at++
		default:
			n, err := p.term(&t)
			if err != nil {
				return err
			}
			at += n
		}
		p.tokens = append(p.tokens, t)
	}
}

// term reads a word, an operator or a phrase, and the star behind it, and returns the number of their bytes.
func (p *parser) term(t *token) (int, error) {
	rest := p.text[t.at:]
	n := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"()*`, r) })
	if n < 0 {
		n = len(rest)
	}
	value := rest[:n]
	if rest[0] == '"' {
		if value, n = phrase(rest); n == 0 {
			return 0, &Error{p.text, t.at, "a quote is open"}
		}
	}
	t.kind, t.term = "term", &node{op: opTerm, text: value}
	isStar := strings.HasPrefix(rest[n:], "*")
	if isStar {
		t.term.op = opPrefix
		n++
	}
	next, _ := utf8.DecodeRuneInString(rest[n:])
	isApart := n == len(rest) || next == '(' || next == ')' || unicode.IsSpace(next)
	switch {
	case value == "":
		return 0, &Error{p.text, t.at, "there is no text to search for"}
	case !isApart && isStar:
		return 0, &Error{p.text, t.at + n, "a star can only end a word; --regex takes other patterns"}
	case !isApart:
		return 0, &Error{p.text, t.at + n, `a space is missing, or the whole should be in quotes, as in "user=\"bob\""`}
	case rest[0] != '"' && !isStar && fuzzy.MatchString(value):
		var err error
		if t.term.text, t.term.distance, err = pattern.DivideFuzzy(value); err != nil {
			return 0, &Error{p.text, t.at, err.Error()}
		}
		t.term.op = opFuzzy
	case !isStar && (rest[:n] == "AND" || rest[:n] == "OR" || rest[:n] == "NOT"):
		t.kind = rest[:n]
	}
	return n, nil
}

// fuzzy is a word with a tilde and a distance.
var fuzzy = regexp.MustCompile(`^[^~]*[\pL\pN]~[0-9]*$`)

// phrase returns the text in quotes at the beginning of a text, and the bytes that it takes, 0 if the last quote is missing.
func phrase(text string) (value string, n int) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), i + 1
		case c == '\\' && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\'):
			i++
			b.WriteByte(text[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", 0
}

func (p *parser) or(depth int) (*node, error) {
	return p.several(opOr, func() (*node, error) { return p.and(depth) }, func() bool { return p.take("OR") })
}

func (p *parser) and(depth int) (*node, error) {
	return p.several(opAnd, func() (*node, error) { return p.not(depth) }, func() bool {
		return p.take("AND") || p.kind() != "" && p.kind() != ")" && p.kind() != "OR"
	})
}

// several reads operands as long as more is true.
func (p *parser) several(op op, operand func() (*node, error), more func() bool) (*node, error) {
	first, err := operand()
	if err != nil {
		return nil, err
	}
	all := &node{op: op, args: []*node{first}}
	for more() {
		n, err := operand()
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
	if depth > filter.MaxDepth/4 { // a level is up to three of a condition
		return nil, p.errorf("it is nested too deeply")
	}
	switch t := p.tokens[0]; {
	case p.take("NOT"):
		n, err := p.not(depth + 1)
		return &node{op: opNot, args: []*node{n}}, err
	case p.take("("):
		n, err := p.or(depth + 1)
		if err == nil && !p.take(")") {
			err = &Error{p.text, t.at, "a parenthesis is not closed"}
		}
		return n, err
	case p.take("term"):
		if composed := norm.NFC.String(t.term.text); composed != t.term.text { // texts have either
			other := *t.term
			other.text = composed
			return &node{op: opOr, args: []*node{t.term, &other}}, nil
		}
		return t.term, nil
	case t.kind == "":
		return nil, p.errorf("a word is missing at the end")
	}
	return nil, p.errorf("a word is missing")
}
