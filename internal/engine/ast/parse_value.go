package ast

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/internal/base/suggest"
)

// value parses an operand: sums of products of columns, literals, calls and whatever is in parentheses.
func (p *parser) value() *Node {
	return p.chain(map[string]Op{"+": OpAdd, "-": OpSub}, func() *Node {
		return p.chain(map[string]Op{"*": OpMul, "/": OpDiv, "//": OpIntDiv, "%": OpMod}, p.signed)
	})
}

// unquotedDate is a date that lacks its quotes: a difference of numbers.
var unquotedDate = regexp.MustCompile(`^\d{4}-\d\d?-\d\d?`)

// chain parses operands separated by operators of the same precedence.
func (p *parser) chain(operators map[string]Op, operand func() *Node) *Node {
	n := operand()
	for p.tok.kind == tokSymbol && operators[p.tok.text] != 0 {
		o := operators[p.tok.text]
		if date := unquotedDate.FindString(p.text[n.Pos:]); o == OpSub && n.Op == OpLiteral && date != "" {
			p.fail(p.tok.pos, "dates need quotes: '%s'", date)
		}
		p.operation()
		n = &Node{Op: o, Pos: n.Pos, Args: []*Node{n, operand()}}
	}
	return n
}

// operation skips the symbol of an operation, and limits their number.
func (p *parser) operation() {
	if p.ops++; p.ops > maxOps {
		p.fail(p.tok.pos, "more than %d operations", maxOps)
	}
	p.advance()
}

// signed parses a sign and its operand. The sign of a number is part of the literal.
func (p *parser) signed() *Node {
	pos, minus := p.tok.pos, p.isWord("-")
	if !p.accept("-", "+") {
		return p.postfix()
	}
	if p.tok.kind == tokLiteral {
		if p.tok.lit.Kind != LitNumber {
			p.expected("a number")
		}
		if minus {
			p.tok.lit.Text = "-" + p.tok.lit.Text
		}
		p.tok.pos = pos
		return p.postfix()
	}
	n := p.deeper(p.signed)
	if minus {
		n = &Node{Op: OpNeg, Pos: pos, Args: []*Node{n}}
	}
	return n
}

// postfix parses an operand, and the casts and elements behind it.
func (p *parser) postfix() *Node {
	n := p.operand()
	for p.isWord("::", "[", ".") {
		symbol := p.tok.text
		p.operation()
		switch symbol {
		case "::":
			n = &Node{Op: OpCast, Pos: n.Pos, Args: []*Node{n}, Name: p.typeText()}
		case "[":
			n = &Node{Op: OpIndex, Pos: n.Pos, Args: []*Node{n, p.deeper(p.or)}}
			p.require("]")
		default:
			n = p.fieldsOf(n)
		}
	}
	return n
}

// fieldsOf parses names of fields behind a dot. x.a is x['a'] for a value x that is no column.
func (p *parser) fieldsOf(n *Node) *Node {
	if p.tok.kind != tokName {
		p.expected("a name after the dot")
	}
	for _, name := range p.tok.names {
		field := &Node{Op: OpLiteral, Pos: p.tok.pos, Lit: Literal{LitString, name}}
		n = &Node{Op: OpIndex, Pos: n.Pos, Args: []*Node{n, field}}
	}
	p.advance()
	return n
}

// brackets are those behind the names of types with parameters. What is behind other names is no part of the type: x::int8 < 3.
var brackets = map[string]byte{
	"decimal": '(', "decimal32": '(', "decimal64": '(', "decimal128": '(', "decimal256": '(',
	"timestamp": '[', "time32": '[', "time64": '[', "duration": '[', "interval": '[', "fixed_size_binary": '[',
	"list": '<', "large_list": '<', "list_view": '<', "large_list_view": '<', "fixed_size_list": '<', "struct": '<', "map": '<',
	"dictionary": '<', "run_end_encoded": '<', "extension": '<', "dense_union": '<', "sparse_union": '<',
}

// typeText reads the name of a type, and the brackets behind it.
func (p *parser) typeText() string {
	if p.tok.kind != tokName || p.tok.word == "" {
		p.expected("a type, such as int64 or date")
		return ""
	}
	start := p.tok.pos
	end := start + len(p.tok.text)
	if next := strings.TrimLeft(p.text[end:], " \t\r\n"); next != "" && brackets[p.tok.word] == next[0] {
		rest, ok := cutBrackets(next)
		if !ok {
			p.fail(start, "the type %s does not end", Shorten(p.text[start:]))
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
	p.advance()
	return p.text[start:end]
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
func (p *parser) operand() *Node {
	t := p.tok
	n := &Node{Op: OpLiteral, Pos: t.pos, Lit: t.lit}
	switch {
	case t.kind == tokLiteral:
	case p.accept("("):
		n = p.deeper(p.or)
		p.require(")")
		return n
	case p.isWord("null"):
		n.Lit = Literal{}
	case p.isWord("true", "false"):
		n.Lit = Literal{LitBool, t.word}
	case t.word != "" && p.callAhead() && (!reserved[t.word] || t.word == "like" || t.word == "ilike"):
		return p.deeper(p.call)
	case t.kind != tokName || reserved[t.word]:
		p.expected("a column or a value")
	case t.word == "case" && p.wordAhead("when"):
		return p.deeper(p.cases)
	default:
		p.advance()
		if !typeNames[t.word] || p.tok.kind != tokLiteral || p.tok.lit.Kind != LitString {
			return &Node{Op: OpColumn, Pos: t.pos, Path: PathOf(t.names)}
		}
		n.Lit = p.tok.lit
	}
	p.advance()
	return n
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
	"has": OpHas, "has_prefix": OpHasPrefix, "has_phrase": OpHasPhrase, "has_fuzzy": OpHasFuzzy, "has_any": OpHasAny, "has_all": OpHasAll,
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
	"lower": {1, 1}, "upper": {1, 1}, "length": {1, 1}, "len": {1, 1}, "substr": {2, 3}, "substring": {2, 3}, "concat": {1, anyNumber}, "regexp_replace": {3, 3},
	"abs": {1, 1}, "round": {1, 2}, "floor": {1, 1}, "ceil": {1, 1}, "coalesce": {1, anyNumber}, "if": {3, 3}, "cast": {1, 1},
	"any": {1, 1}, "all": {1, 1}, "count": {1, 1}, "sum": {1, 1}, "avg": {1, 1}, "min": {1, 1}, "max": {1, 1},
}

// call parses the call of a function.
func (p *parser) call() *Node {
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
			p.fail(name.pos, "unknown function %s%s", Shorten(name.text), meant(name.word))
		}
		if want = (arity{2, 2}); n.Op == OpHasAny || n.Op == OpHasAll {
			want.most = anyNumber
		}
	}
	p.advance()
	if n.Name == "cast" {
		p.cast(n)
		return n
	}
	n.Args = p.list(p.or)
	if need := want.missing(len(n.Args)); need != "" {
		p.fail(name.pos, "%s needs %s", name.word, need)
	}
	return n
}

// meant completes an error about an unknown function.
func meant(name string) string {
	known := slices.AppendSeq(slices.Collect(maps.Keys(calls)), maps.Keys(functions))
	slices.Sort(known)
	if s := suggest.Name(name, slices.Values(known)); s != "" {
		return ": is " + s + " meant?"
	}
	return ""
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
func (p *parser) cast(n *Node) {
	p.require("(")
	n.Op, n.Args = OpCast, []*Node{p.or()}
	p.require("as")
	n.Name = p.typeText()
	p.require(")")
}

// list parses operands in parentheses, separated by commas.
func (p *parser) list(item func() *Node) (args []*Node) {
	if p.require("("); p.accept(")") {
		return nil
	}
	for more := true; more; more = p.accept(",") {
		args = append(args, item())
	}
	p.require(")")
	return args
}

// cases parses case when condition then value … else value end.
func (p *parser) cases() *Node {
	n := &Node{Op: OpCase, Pos: p.tok.pos}
	p.advance()
	for p.accept("when") {
		n.Args = append(n.Args, p.or())
		p.require("then")
		n.Args = append(n.Args, p.or())
	}
	if p.accept("else") {
		n.Args = append(n.Args, p.or())
	}
	p.require("end")
	return n
}
