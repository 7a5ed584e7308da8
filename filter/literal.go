package filter

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
)

type litKind uint8

const (
	litNull litKind = iota
	litBool
	litNumber
	litString
	litBytes
	litBad // no literal at all: text says why
)

// literal is a constant before it gets a type.
type literal struct {
	kind litKind
	text string // of a number its digits, of bytes the bytes
}

// maxExponent bounds numbers, so that they take little memory in full.
const maxExponent = 10_000

// Lit is a literal. v may be nil (null), a bool, an integer or float of any
// size, a *big.Int or *big.Rat that is a decimal number, a string, a []byte, a [16]byte (a UUID), a
// [time.Time], a [time.Duration] or an Arrow date; [Bind] tells of any other.
// A float stands for its shortest decimal number.
func Lit(v any) Expr { return Expr{&node{op: opLiteral, pos: -1, lit: literalOf(v)}} }

func literalOf(v any) literal {
	switch v := v.(type) {
	case nil:
		return literal{}
	case bool:
		return literal{litBool, strconv.FormatBool(v)}
	case string:
		return literal{litString, v}
	case []byte:
		return literal{litBytes, string(v)}
	case [16]byte:
		return literal{litString, uuidText(v)}
	case interface{ MarshalBinary() ([]byte, error) }: // time.Time, UUIDs of other packages
		return literalOfBinary(v)
	case time.Duration:
		return literal{litString, v.String()}
	case arrow.Date32:
		return literal{litString, v.FormattedString()}
	case arrow.Date64:
		return literalOf(v.ToTime())
	case *big.Int:
		return literal{litNumber, v.String()}
	case *big.Rat:
		if digits, exact := v.FloatPrec(); exact && digits < maxExponent {
			return literal{litNumber, v.FloatString(digits)}
		}
		return literal{litBad, fmt.Sprintf("%v is no decimal number", v)}
	case float32:
		return floatLiteral(float64(v), 32)
	case float64:
		return floatLiteral(v, 64)
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return literal{litNumber, fmt.Sprint(v)}
	}
	return literal{litBad, fmt.Sprintf("no literal is made of a Go value of type %T", v)}
}

func literalOfBinary(v any) literal {
	switch v := v.(type) {
	case time.Time:
		return literal{litString, v.UTC().Format("2006-01-02T15:04:05.999999999Z")}
	case fmt.Stringer:
		return literal{litString, v.String()}
	}
	return literal{litBad, fmt.Sprintf("no literal is made of a Go value of type %T", v)}
}

// floatLiteral has a point or an exponent even for whole numbers.
func floatLiteral(v float64, bits int) literal {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return literal{litString, strconv.FormatFloat(v, 'g', -1, bits)}
	}
	text := strconv.FormatFloat(v, 'g', -1, bits)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return literal{litNumber, text}
}

// number checks the text of a number, and that it is not absurdly large.
func number(text string) (literal, error) {
	mantissa, exponent, scaled := strings.Cut(strings.ToLower(text), "e")
	if scaled {
		if n, err := strconv.Atoi(exponent); err != nil || n < -maxExponent || n > maxExponent {
			return literal{}, fmt.Errorf("the exponent of %s is out of range", shorten(text))
		}
	}
	if len(mantissa) > maxExponent {
		return literal{}, fmt.Errorf("number of %d digits", len(mantissa))
	}
	digits := strings.TrimLeft(mantissa, "+-")
	if strings.Trim(digits, "0123456789.") != "" || strings.Trim(digits, ".") == "" || strings.Count(digits, ".") > 1 || len(mantissa) > len(digits)+1 {
		return literal{}, fmt.Errorf("%q is no number", shorten(text))
	}
	return literal{litNumber, strings.TrimPrefix(text, "+")}, nil
}

// rat is a number that was checked.
func (l literal) rat() *big.Rat {
	r, ok := new(big.Rat).SetString(l.text)
	if !ok {
		return new(big.Rat)
	}
	return r
}

// whole tells whether a number was written without point and exponent.
func (l literal) whole() bool { return !strings.ContainsAny(l.text, ".eE") }

func (l literal) append(b []byte) []byte {
	switch l.kind {
	case litNull:
		return append(b, "null"...)
	case litString:
		return appendString(b, l.text)
	case litBytes:
		return append(hex.AppendEncode(append(b, "x'"...), []byte(l.text)), '\'')
	case litBad:
		return append(append(append(b, '<'), l.text...), '>')
	}
	return append(b, l.text...)
}

// appendString quotes a string: 'it”s', or e'\x00' if it is not all printable.
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

func uuidText(u [16]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// shorten is a text for a message.
func shorten(s string) string {
	if len(s) <= 40 {
		return s
	}
	return strings.ToValidUTF8(s[:40], "") + "…"
}

// describe is a literal for a message.
func (l literal) describe() string { return shorten(string(l.append(nil))) }
