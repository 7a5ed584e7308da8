package ast

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amudai/amudai-go/internal/format/schema"
)

type tokenKind uint8

const (
	tokEnd     tokenKind = iota
	tokName              // path; word is set if it is a single name without quotes
	tokLiteral           // number, string, bytes
	tokSymbol
)

type token struct {
	kind  tokenKind
	pos   int
	text  string // text of a symbol, or source text of another token
	word  string // the token in lower case
	names []string
	lit   Literal
}

// describe returns the token as text for an error message.
func (t token) describe() string {
	if t.kind == tokEnd {
		return "the end"
	}
	return fmt.Sprintf("%q", Shorten(t.text))
}

// lexer splits a text into tokens.
type lexer struct {
	text string
	at   int
	err  error // the first mistake
}

// fail records a mistake, unless there was one before.
func (x *lexer) fail(pos int, format string, args ...any) {
	if x.err == nil {
		x.err = &Error{Text: x.text, Pos: pos, Message: fmt.Sprintf(format, args...)}
	}
}

// symbols are tried in this order, longer ones before their prefixes.
var symbols = []string{"!~*", "<=", ">=", "<>", "!=", "==", "!~", "~*", "&&", "||", "::", "//", "=", "<", ">", "~", "!", "(", ")", ",", "-", "+", "*", "/", "%", "[", "]", "."}

// next is the next token. Behind a mistake there is the end only.
func (x *lexer) next() token {
	for x.at < len(x.text) && strings.IndexByte(" \t\r\n", x.text[x.at]) >= 0 {
		x.at++
	}
	start := x.at
	if start == len(x.text) || x.err != nil {
		return token{kind: tokEnd, pos: len(x.text)}
	}
	rest := x.text[start:]
	var t token
	switch c := rest[0]; {
	case c == '\'':
		t.kind, t.lit = tokLiteral, Literal{LitString, x.quoted('\'', "string")}
	case (c == 'e' || c == 'E') && strings.HasPrefix(rest[1:], "'"):
		t.kind, t.lit = tokLiteral, Literal{LitString, x.escaped()}
	case (c == 'x' || c == 'X') && strings.HasPrefix(rest[1:], "'"):
		t.kind, t.lit = tokLiteral, Literal{LitBytes, x.hex()}
	case '0' <= c && c <= '9' || c == '.' && len(rest) > 1 && '0' <= rest[1] && rest[1] <= '9':
		t.kind, t.lit = tokLiteral, x.number()
	case x.nameAhead():
		t.kind = tokName
		t.names, t.word = x.path()
	default:
		t.kind = tokSymbol
		x.symbol()
	}
	if x.err != nil {
		return token{kind: tokEnd, pos: len(x.text)}
	}
	t.pos, t.text = start, x.text[start:x.at]
	return t
}

func (x *lexer) symbol() {
	for _, s := range symbols {
		if strings.HasPrefix(x.text[x.at:], s) {
			x.at += len(s)
			return
		}
	}
	r, _ := utf8.DecodeRuneInString(x.text[x.at:])
	x.fail(x.at, "unexpected character %q", r)
}

// quoted reads text in quotes. Two quotes stand for one in the text.
func (x *lexer) quoted(quote byte, what string) string {
	start := x.at
	var out strings.Builder
	for x.at++; x.at < len(x.text); x.at++ {
		c := x.text[x.at]
		if c == quote {
			x.at++
			if x.at == len(x.text) || x.text[x.at] != quote {
				return out.String()
			}
		}
		out.WriteByte(c)
	}
	x.fail(start, "unterminated %s", what)
	return ""
}

// escapes are the letters after a backslash in e'…', except x and u.
var escapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', '0': 0, '\\': '\\', '\'': '\'', '"': '"'}

// escaped reads a string of the form e'…'.
func (x *lexer) escaped() string {
	start := x.at
	var out strings.Builder
	for x.at += 2; x.at < len(x.text) && x.err == nil; {
		c := x.text[x.at]
		x.at++
		switch {
		case c == '\'' && (x.at == len(x.text) || x.text[x.at] != '\''):
			return out.String()
		case c == '\'':
			x.at++
			out.WriteByte(c)
		case c == '\\':
			x.escape(&out)
		default:
			out.WriteByte(c)
		}
	}
	x.fail(start, "unterminated string")
	return ""
}

func (x *lexer) escape(out *strings.Builder) {
	start := x.at - 1
	if x.at == len(x.text) {
		x.fail(start, "unterminated string")
		return
	}
	c := x.text[x.at]
	x.at++
	if b, ok := escapes[c]; ok {
		out.WriteByte(b)
		return
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	v, err := strconv.ParseUint(x.text[x.at:min(x.at+digits, len(x.text))], 16, 32)
	switch {
	case digits == 0 || x.at+digits > len(x.text) || err != nil || c != 'x' && !utf8.ValidRune(rune(v)):
		x.fail(start, "unknown escape")
	case c == 'x':
		out.WriteByte(byte(v))
	default:
		out.WriteRune(rune(v))
	}
	x.at += digits
}

func (x *lexer) hex() string {
	start := x.at
	x.at++
	b, err := hex.DecodeString(x.quoted('\'', "byte string"))
	if err != nil {
		x.fail(start, "%s needs pairs of hexadecimal digits", Shorten(x.text[start:x.at]))
	}
	return string(b)
}

func (x *lexer) number() Literal {
	start := x.at
	isPart := func(c byte) bool {
		return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '.' || c == '_'
	}
	for x.at < len(x.text) {
		c := x.text[x.at]
		sign := (c == '+' || c == '-') && x.text[x.at-1]|0x20 == 'e' && !strings.HasPrefix(strings.ToLower(x.text[start:]), "0x")
		if x.at > start && sign || isPart(c) {
			x.at++
			continue
		}
		break
	}
	text, parse := x.text[start:x.at], ParseNumber
	if len(text) > 2 && text[0] == '0' && strings.IndexByte("xXbB", text[1]) >= 0 {
		parse = parseRadix
	}
	l, err := parse(text)
	if err != nil {
		x.fail(start, "%s", err)
	}
	return l
}

func (x *lexer) nameAhead() bool {
	r, _ := utf8.DecodeRuneInString(x.text[x.at:])
	return r == '"' || r == '`' || r == '\\' || r == '_' || unicode.IsLetter(r)
}

// path reads names separated by dots.
func (x *lexer) path() (names []string, word string) {
	for x.err == nil {
		start := x.at
		name := ""
		if c := x.text[x.at]; c == '"' || c == '`' {
			name = x.quoted(c, "name")
		} else {
			name = x.plain()
			if name == x.text[start:x.at] && len(names) == 0 {
				word = strings.ToLower(name)
			}
		}
		names = append(names, name)
		if x.at+1 >= len(x.text) || x.text[x.at] != '.' {
			break
		}
		x.at++
		r, _ := utf8.DecodeRuneInString(x.text[x.at:])
		if !nameRune(r) && r != '"' && r != '`' && r != '\\' {
			x.fail(x.at, "expected a name after the dot")
		}
	}
	if len(names) > 1 {
		word = ""
	}
	return names, word
}

// plain reads a name without quotes. A backslash escapes a dot or a backslash.
func (x *lexer) plain() string {
	start := x.at
	for x.at < len(x.text) {
		if c := x.text[x.at:]; strings.HasPrefix(c, `\.`) || strings.HasPrefix(c, `\\`) {
			x.at += 2
			continue
		}
		r, n := utf8.DecodeRuneInString(x.text[x.at:])
		if !nameRune(r) && r != '\\' {
			break
		}
		x.at += n
	}
	return unescape(x.text[start:x.at])
}

func unescape(name string) string { return strings.Join(schema.SplitPath(name), ".") }
