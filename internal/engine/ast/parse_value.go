package ast

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/internal/base/suggest"
)

// value parses an operand: sums of products of columns, literals, calls and whatever is in parentheses.
func (p *parser) value() (*Node, error) {
	return p.chain(map[string]Op{"+": OpAdd, "-": OpSub}, func() (*Node, error) {
		return p.chain(map[string]Op{"*": OpMul, "/": OpDiv, "//": OpIntDiv, "%": OpMod}, p.signed)
	})
}

// unquotedDate is a date that lacks its quotes: a difference of numbers.
var unquotedDate = regexp.MustCompile(`^\d{4}-\d\d?-\d\d?`)

// chain parses operands separated by operators of the same precedence.
func (p *parser) chain(operators map[string]Op, operand func() (*Node, error)) (*Node, error) {
	n, err := operand()
	if err != nil {
		return nil, err
	}
	for p.tok.kind == tokSymbol && operators[p.tok.text] != 0 {
		o := operators[p.tok.text]
		if date := unquotedDate.FindString(p.text[n.Pos:]); o == OpSub && n.Op == OpLiteral && date != "" {
			return nil, p.errorf(p.tok.pos, "dates need quotes: '%s'", date)
		}
		if err := p.operation(); err != nil {
			return nil, err
		}
		b, err := operand()
		if err != nil {
			return nil, err
		}
		n = &Node{Op: o, Pos: n.Pos, Args: []*Node{n, b}}
	}
	return n, nil
}

// operation skips the symbol of an operation, and limits their number.
func (p *parser) operation() error {
	if p.ops++; p.ops > maxOps {
		return p.errorf(p.tok.pos, "more than %d operations", maxOps)
	}
	return p.advance()
}

// signed parses a sign and its operand. The sign of a number is part of the literal.
func (p *parser) signed() (*Node, error) {
	if !p.isWord("-", "+") {
		return p.postfix()
	}
	pos, minus := p.tok.pos, p.tok.text == "-"
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == tokLiteral {
		if p.tok.lit.Kind != LitNumber {
			return nil, p.expected("a number")
		}
		if minus {
			p.tok.lit.Text = "-" + p.tok.lit.Text
		}
		p.tok.pos = pos
		return p.postfix()
	}
	n, err := p.deeper(p.signed)
	if err != nil || !minus {
		return n, err
	}
	return &Node{Op: OpNeg, Pos: pos, Args: []*Node{n}}, nil
}

// postfix parses an operand, and the casts and elements behind it.
func (p *parser) postfix() (*Node, error) {
	n, err := p.operand()
	for err == nil && p.isWord("::", "[", ".") {
		if p.isWord(".") {
			n, err = p.fieldsOf(n)
			continue
		}
		if p.isWord("::") {
			n = &Node{Op: OpCast, Pos: n.Pos, Args: []*Node{n}}
			if err = p.operation(); err == nil {
				n.Name, err = p.typeText()
			}
			continue
		}
		n, err = p.element(n)
	}
	return n, err
}

// fieldsOf parses names of fields behind a dot. x.a is x['a'] for a value x that is no column.
func (p *parser) fieldsOf(n *Node) (*Node, error) {
	if err := p.operation(); err != nil {
		return nil, err
	}
	if p.tok.kind != tokName {
		return nil, p.expected("a name after the dot")
	}
	for _, name := range p.tok.names {
		field := &Node{Op: OpLiteral, Pos: p.tok.pos, Lit: Literal{LitString, name}}
		n = &Node{Op: OpIndex, Pos: n.Pos, Args: []*Node{n, field}}
	}
	return n, p.advance()
}

// element parses the position or the key in brackets.
func (p *parser) element(of *Node) (*Node, error) {
	if err := p.operation(); err != nil {
		return nil, err
	}
	at, err := p.deeper(p.or)
	if err != nil {
		return nil, err
	}
	return &Node{Op: OpIndex, Pos: of.Pos, Args: []*Node{of, at}}, p.require("]")
}

// brackets are those behind the names of types with parameters. What is behind other names is no part of the type: x::int8 < 3.
var brackets = map[string]byte{
	"decimal": '(', "decimal32": '(', "decimal64": '(', "decimal128": '(', "decimal256": '(',
	"timestamp": '[', "time32": '[', "time64": '[', "duration": '[', "interval": '[', "fixed_size_binary": '[',
	"list": '<', "large_list": '<', "list_view": '<', "large_list_view": '<', "fixed_size_list": '<', "struct": '<', "map": '<',
	"dictionary": '<', "run_end_encoded": '<', "extension": '<', "dense_union": '<', "sparse_union": '<',
}

// typeText reads the name of a type, and the brackets behind it.
func (p *parser) typeText() (string, error) {
	if p.tok.kind != tokName || p.tok.word == "" {
		return "", p.expected("a type, such as int64 or date")
	}
	start := p.tok.pos
	end := start + len(p.tok.text)
	if next := strings.TrimLeft(p.text[end:], " \t\r\n"); next != "" && brackets[p.tok.word] == next[0] {
		rest, ok := cutBrackets(next)
		if !ok {
			return "", p.errorf(start, "the type %s does not end", Shorten(p.text[start:]))
		}
		end = len(p.text) - len(rest)
	}
	// fixed_size_list<int8>[3]
	if next := p.text[end:]; p.text[end-1] == '>' && strings.HasPrefix(next, "[") {
		if rest, ok := cutBrackets(next); ok {
			end = len(p.text) - len(rest)
		}
	}
	p.at = end
	return p.text[start:end], p.advance()
}

// cutBrackets returns the text behind the bracket that closes the first one.
func cutBrackets(s string) (rest string, ok bool) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '<', '(', '[':
			depth++
		case '>', ')', ']':
			if depth--; depth == 0 {
				return s[i+1:], true
			}
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		}
	}
	return "", false
}

// typeNames may precede a string. They are ignored, because the column determines its type.
var typeNames = map[string]bool{
	"date": true, "time": true, "timestamp": true, "timestamptz": true, "datetime": true, "duration": true, "interval": true,
	"decimal": true, "uuid": true,
}

// operand parses a column, a literal, a call, or a condition or value in parentheses.
func (p *parser) operand() (*Node, error) {
	t := p.tok
	n := &Node{Op: OpLiteral, Pos: t.pos, Lit: t.lit}
	switch {
	case t.kind == tokLiteral:
	case p.isWord("("):
		return p.parentheses()
	case p.isWord("null"):
		n.Lit = Literal{}
	case p.isWord("true", "false"):
		n.Lit = Literal{LitBool, t.word}
	case t.word != "" && p.callAhead() && (!reserved[t.word] || t.word == "like" || t.word == "ilike"):
		return p.deeper(p.call)
	case t.kind != tokName || reserved[t.word]:
		return nil, p.expected("a column or a value")
	case t.word == "case" && p.wordAhead("when"):
		return p.deeper(p.cases)
	default:
		if err := p.advance(); err != nil {
			return nil, err
		}
		if typeNames[t.word] && p.tok.kind == tokLiteral && p.tok.lit.Kind == LitString {
			n.Lit = p.tok.lit
			return n, p.advance()
		}
		return &Node{Op: OpColumn, Pos: t.pos, Path: PathOf(t.names)}, nil
	}
	return n, p.advance()
}

func (p *parser) parentheses() (*Node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	n, err := p.deeper(p.or)
	if err != nil {
		return nil, err
	}
	return n, p.require(")")
}

// ahead is the text behind the next token.
func (p *parser) ahead() string { return strings.TrimLeft(p.text[p.at:], " \t\r\n") }

// callAhead reports whether a parenthesis follows the next token.
func (p *parser) callAhead() bool { return strings.HasPrefix(p.ahead(), "(") }

// wordAhead reports whether a word follows the next token.
func (p *parser) wordAhead(word string) bool {
	rest := p.ahead()
	if len(rest) < len(word) || !strings.EqualFold(rest[:len(word)], word) {
		return false
	}
	for _, r := range rest[len(word):] {
		return !nameRune(r)
	}
	return true
}

// functions are the operators in the form of functions of a value and a string.
var functions = map[string]Op{
	"equals": OpEquals, "starts_with": OpStarts, "startswith": OpStarts, "ends_with": OpEnds, "endswith": OpEnds,
	"contains": OpContains, "like": OpLike, "matches": OpMatches,
	"has": OpHas, "has_prefix": OpHasPrefix, "has_phrase": OpHasPhrase, "has_any": OpHasAny, "has_all": OpHasAll,
}

// functionOf finds a function. The names of case-insensitive ones begin with an i.
func functionOf(name string) (o Op, fold, ok bool) {
	if o, ok = functions[name]; ok {
		return o, false, true
	}
	name, fold = strings.CutPrefix(name, "i")
	o, ok = functions[name]
	return o, fold, ok && fold && o < OpHas
}

// arity is the least and the greatest number of arguments of a function.
type arity struct{ least, most int }

const anyNumber = 1000

// calls are the functions that return values.
var calls = map[string]arity{
	"year": {1, 1}, "quarter": {1, 1}, "month": {1, 1}, "day": {1, 1}, "dayofweek": {1, 1}, "dayofyear": {1, 1}, "week": {1, 1},
	"hour": {1, 1}, "minute": {1, 1}, "second": {1, 1}, "epoch": {1, 1}, "date": {1, 1}, "date_trunc": {2, 2},
	"lower": {1, 1}, "upper": {1, 1}, "length": {1, 1}, "len": {1, 1}, "substr": {2, 3}, "substring": {2, 3}, "concat": {1, anyNumber},
	"abs": {1, 1}, "round": {1, 2}, "floor": {1, 1}, "ceil": {1, 1}, "coalesce": {1, anyNumber}, "if": {3, 3}, "cast": {1, 1},
	"any": {1, 1}, "all": {1, 1},
}

// functionNames are the names of all functions.
func functionNames(yield func(string) bool) {
	for name := range calls {
		if !yield(name) {
			return
		}
	}
	for name := range functions {
		if !yield(name) {
			return
		}
	}
}

// call parses the call of a function.
func (p *parser) call() (*Node, error) {
	name := p.tok
	n := &Node{Pos: name.pos}
	want, isValue := calls[name.word]
	switch {
	case name.word == "is_null", name.word == "isnull":
		n.Op, want = OpIsNull, arity{1, 1}
	case name.word == "is_nan", name.word == "isnan":
		n.Op, want = OpIsNaN, arity{1, 1}
	case isValue:
		n.Op, n.Name = OpCall, name.word
	default:
		var ok bool
		if n.Op, n.Fold, ok = functionOf(name.word); !ok {
			return nil, p.errorf(name.pos, "unknown function %s%s", Shorten(name.text), meant(name.word))
		}
		if want = (arity{2, 2}); n.Op == OpHasAny || n.Op == OpHasAll {
			want.most = anyNumber
		}
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var err error
	if n.Name == "cast" {
		err = p.cast(n)
	} else if n, err = p.list(n, p.or); err == nil {
		err = p.count(n, name, want)
	}
	return n, err
}

// meant completes an error about an unknown function.
func meant(name string) string {
	if s := suggest.Name(name, func(yield func(string) bool) {
		names := slices.Sorted(functionNames)
		slices.Values(names)(yield)
	}); s != "" {
		return ": is " + s + " meant?"
	}
	return ""
}

// count checks the number of arguments.
func (p *parser) count(n *Node, name token, want arity) error {
	if need := want.missing(len(n.Args)); need != "" {
		return p.errorf(name.pos, "%s needs %s", name.word, need)
	}
	return nil
}

// CheckCall checks the name of a call, and the number of its arguments.
func (n *Node) CheckCall() error {
	want, ok := calls[n.Name]
	if !ok || n.Name == "cast" {
		return &Error{Text: n.Text, Pos: n.Pos, Message: fmt.Sprintf("unknown function %s%s", Shorten(n.Name), meant(n.Name))}
	}
	if need := want.missing(len(n.Args)); need != "" {
		return &Error{Text: n.Text, Pos: n.Pos, Message: fmt.Sprintf("%s needs %s", n.Name, need)}
	}
	return nil
}

// missing is the message about a wrong number of arguments, or "".
func (want arity) missing(got int) string {
	if want.least <= got && got <= want.most {
		return ""
	}
	need := map[bool]string{true: "1 argument", false: "at least 1 argument"}[want.most == 1]
	switch {
	case want.least == 2 && want.most == 2:
		need = "2 arguments"
	case want.least == 3:
		need = "3 arguments: a condition, a value where it is true, and one for other rows"
	case want.least == 2:
		need = "2 or 3 arguments"
	case want.most == 2:
		need = "1 or 2 arguments"
	}
	if want.most == anyNumber && got > anyNumber {
		need = "at most 1000 arguments"
	}
	return need
}

// cast parses what is in the parentheses of cast(x as type).
func (p *parser) cast(n *Node) (err error) {
	if err := p.require("("); err != nil {
		return err
	}
	a, err := p.or()
	if err != nil {
		return err
	}
	if err := p.require("as"); err != nil {
		return err
	}
	n.Op, n.Args = OpCast, []*Node{a}
	if n.Name, err = p.typeText(); err != nil {
		return err
	}
	return p.require(")")
}

// list parses operands in parentheses, separated by commas.
func (p *parser) list(n *Node, item func() (*Node, error)) (*Node, error) {
	if err := p.require("("); err != nil {
		return nil, err
	}
	if ok, err := p.accept(")"); ok || err != nil {
		return n, err
	}
	for {
		b, err := item()
		if err != nil {
			return nil, err
		}
		n.Args = append(n.Args, b)
		if more, err := p.accept(","); err != nil {
			return nil, err
		} else if !more {
			return n, p.require(")")
		}
	}
}

// cases parses case when condition then value … else value end.
func (p *parser) cases() (*Node, error) {
	n := &Node{Op: OpCase, Pos: p.tok.pos}
	if err := p.advance(); err != nil {
		return nil, err
	}
	for p.isWord("when") {
		for _, word := range []string{"when", "then"} {
			if err := p.branch(n, word); err != nil {
				return nil, err
			}
		}
	}
	if p.isWord("else") {
		if err := p.branch(n, "else"); err != nil {
			return nil, err
		}
	}
	return n, p.require("end")
}

// branch parses a word and the condition or value behind it.
func (p *parser) branch(n *Node, word string) error {
	if err := p.require(word); err != nil {
		return err
	}
	a, err := p.or()
	n.Args = append(n.Args, a)
	return err
}
