package lang

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/amudai/amudai-go/traceql/internal/value"
)

// Error is a mistake in a query.
type Error struct {
	Text    string // given to Parse
	Pos     int    // byte offset in Text, or -1 if it is not known
	Message string // the mistake, and often its correction
}

// Error has the position, and the text that begins there.
func (e *Error) Error() string {
	if e.Pos < 0 || e.Pos > len(e.Text) {
		return e.Message
	}
	rest := e.Text[e.Pos:]
	if rest == "" {
		return fmt.Sprintf("at the end of the query: %s", e.Message)
	}
	if len(rest) > 20 {
		rest = strings.ToValidUTF8(rest[:20], "") + "…"
	}
	return fmt.Sprintf("at offset %d, %q: %s", e.Pos, rest, e.Message)
}

type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokWord
	tokField // an attribute
	tokValue
	tokSymbol
)

type token struct {
	kind  tokenKind
	pos   int
	text  string
	field *Field
	value value.Value
}

func (t token) describe() string {
	switch {
	case t.kind == tokEnd:
		return "the end"
	case len(t.text) > 40:
		return strconv.Quote(strings.ToValidUTF8(t.text[:40], "") + "…")
	}
	return strconv.Quote(t.text)
}

// lexer splits a text into tokens. The first error stays.
type lexer struct {
	text string
	at   int
	err  error
}

func (x *lexer) fail(pos int, format string, args ...any) {
	if x.err == nil {
		x.err = &Error{x.text, pos, fmt.Sprintf(format, args...)}
	}
}

// symbols are tried in this order, longer ones before their prefixes.
var symbols = []string{
	"!>>", "!<<", "&>>", "&<<", "!>", "!<", "!~", "!=", "&>", "&<", "&~", "&&", "||", "=~", ">>", "<<", ">=", "<=",
	"{", "}", "(", ")", "|", ",", "=", ">", "<", "~", "!", "+", "-", "*", "/", "%", "^",
}

func (x *lexer) next() token {
	x.space()
	t := token{pos: x.at}
	if x.at == len(x.text) {
		return t
	}
	switch c := x.text[x.at]; {
	case c == '"' || c == '`':
		t.kind = tokValue
		t.value = x.stringLiteral()
	case isDigit(c):
		t.kind = tokValue
		t.value = x.number("")
	case c == '.':
		t.kind, t.field = tokField, &Field{}
		x.attribute(t.field)
	case isLetter(c):
		t = x.word()
	default:
		t.kind = tokSymbol
		x.symbol()
	}
	t.text = x.text[t.pos:x.at]
	return t
}

// space skips white space, and comments from // to the end of the line.
func (x *lexer) space() {
	for x.at < len(x.text) {
		r, n := utf8.DecodeRuneInString(x.text[x.at:])
		switch {
		case unicode.IsSpace(r):
			x.at += n
		case strings.HasPrefix(x.text[x.at:], "//"):
			if end := strings.IndexByte(x.text[x.at:], '\n'); end >= 0 {
				x.at += end
			} else {
				x.at = len(x.text)
			}
		default:
			return
		}
	}
}

func (x *lexer) symbol() {
	rest := x.text[x.at:]
	for _, s := range symbols {
		if strings.HasPrefix(rest, s) {
			x.at += len(s)
			return
		}
	}
	r, _ := utf8.DecodeRuneInString(rest)
	switch r {
	case '\'':
		x.fail(x.at, "strings have double quotes")
	case '&':
		x.fail(x.at, "expected && or one of &>, &>>, &<, &<< and &~")
	}
	x.fail(x.at, "unexpected character %q", r)
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' }

// word reads a keyword, an intrinsic such as span:id, or an attribute with a scope.
func (x *lexer) word() token {
	t := token{kind: tokWord, pos: x.at}
	x.letters()
	word := x.text[t.pos:x.at]
	switch {
	case strings.HasPrefix(x.text[x.at:], ":"):
		x.at++
		x.letters()
	case strings.HasPrefix(x.text[x.at:], "."):
		scope, ok := scopeOf(word)
		if !ok {
			rest, look := &Field{}, *x
			if look.attribute(rest); look.err == nil {
				word += "." + rest.Name
			}
			x.fail(t.pos, "attributes need a scope: span.%s, resource.%[1]s, or .%[1]s for any of them", attributeName(word))
			return t
		}
		t.kind, t.field = tokField, scope
		x.attribute(scope)
	}
	return t
}

func (x *lexer) letters() {
	for x.at < len(x.text) && (isLetter(x.text[x.at]) || isDigit(x.text[x.at])) {
		x.at++
	}
}

func scopeOf(word string) (*Field, bool) {
	if word == "parent" {
		return &Field{Parent: true}, true
	}
	for _, s := range Scopes {
		if s.String() == word {
			return &Field{Scope: s}, true
		}
	}
	return nil, false
}

// attributeRune reports whether a character may be part of the name of an attribute without quotes.
func attributeRune(r rune) bool {
	return !unicode.IsSpace(r) && !strings.ContainsRune("{}()=~!<>&|^,", r)
}

// attribute reads the name behind a scope, beginning with its dot. Parts of it may have quotes.
func (x *lexer) attribute(f *Field) {
	start := x.at
	x.at++
	var name strings.Builder
	quoted, first := false, x.at
	for x.at < len(x.text) && x.err == nil {
		r, n := utf8.DecodeRuneInString(x.text[x.at:])
		if !attributeRune(r) {
			break
		}
		if r == '"' {
			x.quotedPart(&name)
			quoted = true
			continue
		}
		name.WriteString(x.text[x.at : x.at+n])
		x.at += n
		// Behind "parent.", a scope may follow.
		if r == '.' && f.Parent && f.Scope == Unscoped && !quoted {
			if scope, ok := scopeOf(strings.TrimSuffix(name.String(), ".")); ok && !scope.Parent {
				f.Scope = scope.Scope
				name.Reset()
				first = x.at
			}
		}
	}
	f.Name = name.String()
	if f.Name == "" && !quoted {
		x.fail(start, "expected the name of an attribute after the dot")
		return
	}
	if f.Parent && f.Scope == Unscoped && x.text[first] != '"' {
		if i, ok := bareIntrinsic(f.Name); ok {
			f.Intrinsic, f.text, f.Name = i, f.Name, ""
		}
	}
}

func (x *lexer) quotedPart(name *strings.Builder) {
	start := x.at
	for x.at++; x.at < len(x.text); x.at++ {
		switch c := x.text[x.at]; c {
		case '"':
			x.at++
			return
		case '\\':
			x.at++
			if x.at == len(x.text) || x.text[x.at] != '"' && x.text[x.at] != '\\' {
				x.fail(x.at-1, `only \" and \\ may follow a backslash in the name of an attribute`)
				return
			}
			name.WriteByte(x.text[x.at])
		default:
			name.WriteByte(c)
		}
	}
	x.fail(start, "unterminated name of an attribute")
}

func (x *lexer) stringLiteral() value.Value {
	start, quote := x.at, x.text[x.at]
	for x.at++; x.at < len(x.text); x.at++ {
		switch c := x.text[x.at]; {
		case c == quote:
			x.at++
			s, err := strconv.Unquote(x.text[start:x.at])
			if err != nil {
				x.fail(start, "the string has an unknown escape or a line break; strings between backquotes have no escapes")
			}
			return value.OfString(s)
		case c == '\\' && quote == '"':
			x.at++
		}
	}
	x.at = len(x.text)
	x.fail(start, "unterminated string")
	return value.Value{}
}

// number reads an integer, a float or a duration, whose sign was read before.
func (x *lexer) number(sign string) value.Value {
	start := x.at
	for x.at < len(x.text) {
		c := x.text[x.at]
		exponent := (c == '+' || c == '-') && x.at > start && x.text[x.at-1]|0x20 == 'e'
		if !isDigit(c) && !isLetter(c) && c != '.' && !exponent && !strings.HasPrefix(x.text[x.at:], "µ") && c != 0xb5 {
			break
		}
		x.at++
	}
	text := x.text[start:x.at]
	if strings.Trim(text, "0123456789") == "" {
		v, err := strconv.ParseInt(sign+text, 10, 64)
		if err != nil {
			x.fail(start, "an integer has at most 64 bits: write %s.0 for a float", text)
		}
		return value.OfInt(v)
	}
	v, err := strconv.ParseFloat(sign+text, 64)
	if err == nil && strings.Trim(text, "0123456789.eE+-") == "" {
		return value.OfFloat(v)
	}
	if errors.Is(err, strconv.ErrRange) {
		x.fail(start, "a float is at most 1.79e308")
	}
	d, err := time.ParseDuration(sign + text)
	if err != nil {
		x.fail(start, "%q is neither a number nor a duration: durations have the units ns, us, ms, s, m and h", text)
	}
	return value.OfDuration(d)
}
