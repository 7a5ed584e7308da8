package ast

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// LitKind is the kind of a [Literal].
type LitKind uint8

// The kinds of literals.
const (
	LitNull LitKind = iota
	LitBool
	LitNumber
	LitString
	LitBytes
	LitBad // not a literal: text has the reason
)

// Literal is a constant that has no type yet.
type Literal struct {
	Kind LitKind
	Text string // digits of a number, or contents of a string or byte string
}

// MaxExponent limits exponents, because arithmetic writes numbers out in full.
const MaxExponent = 10_000

// ParseNumber checks the text of a number and limits its size.
func ParseNumber(text string) (Literal, error) {
	mantissa, exponent, scaled := strings.Cut(strings.ToLower(text), "e")
	if scaled {
		if n, err := strconv.Atoi(exponent); err != nil || n < -MaxExponent || n > MaxExponent {
			return Literal{}, fmt.Errorf("the exponent of %s is out of range", Shorten(text))
		}
	}
	if len(mantissa) > MaxExponent {
		return Literal{}, fmt.Errorf("number of %d digits", len(mantissa))
	}
	digits := strings.TrimLeft(mantissa, "+-")
	if strings.Trim(digits, "0123456789.") != "" || strings.Trim(digits, ".") == "" || strings.Count(digits, ".") > 1 || len(mantissa) > len(digits)+1 {
		return Literal{}, fmt.Errorf("%q is not a number", Shorten(text))
	}
	return Literal{LitNumber, strings.TrimPrefix(text, "+")}, nil
}

// Rat returns a number that was checked.
func (l Literal) Rat() *big.Rat {
	r, ok := new(big.Rat).SetString(l.Text)
	if !ok {
		return new(big.Rat)
	}
	return r
}

// Whole reports whether a number has neither a decimal point nor an exponent.
func (l Literal) Whole() bool { return !strings.ContainsAny(l.Text, ".eE") }

func (l Literal) append(b []byte) []byte {
	switch l.Kind {
	case LitNull:
		return append(b, "null"...)
	case LitString:
		return appendString(b, l.Text)
	case LitBytes:
		return append(hex.AppendEncode(append(b, "x'"...), []byte(l.Text)), '\'')
	case LitBad:
		return append(append(append(b, '<'), l.Text...), '>')
	}
	return append(b, l.Text...)
}

// appendString quotes a string: 'it”s', or e'\x00' for one with unprintable characters.
func appendString(b []byte, s string) []byte {
	printable := utf8.ValidString(s)
	for _, r := range s {
		printable = printable && (r == ' ' || unicode.IsPrint(r))
	}
	if printable {
		return append(append(append(b, '\''), strings.ReplaceAll(s, "'", "''")...), '\'')
	}
	b = append(b, "e'"...)
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '\'' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == utf8.RuneError && n == 1 || r < ' ':
			b = append(b, '\\', 'x')
			b = hex.AppendEncode(b, []byte(s[:1]))
		default:
			b = append(b, s[:n]...)
		}
		s = s[n:]
	}
	return append(b, '\'')
}

// Shorten limits the length of a text in an error message.
func Shorten(s string) string {
	if len(s) <= 40 {
		return s
	}
	return strings.ToValidUTF8(s[:40], "") + "…"
}

// Describe returns the literal as text for an error message.
func (l Literal) Describe() string { return Shorten(string(l.append(nil))) }
