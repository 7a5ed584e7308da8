// Package jsontext scans JSON texts byte by byte, and writes strings. It builds no tree.
package jsontext

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/amudai/amudai-go/internal/text"
)

// MaxDepth bounds the nesting of values, in input and in json columns.
const MaxDepth = 200

// Scanner scans the bytes of one JSON value. Its methods validate the bytes that they pass: a text is valid JSON if
// the scanner reaches its end.
type Scanner struct {
	b     []byte
	i     int
	depth int
	buf   []byte   // of unescaped strings
	names [][]byte // for Scalars
}

// Errors of texts.
var (
	ErrEnd   = errors.New("JSON ends in the middle of a value")
	ErrDepth = fmt.Errorf("JSON is nested deeper than %d", MaxDepth)
)

// Reset starts at the beginning of b.
func (s *Scanner) Reset(b []byte) { s.b, s.i, s.depth = b, 0, 0 }

// Peek skips white space and returns the next byte, or 0 at the end.
func (s *Scanner) Peek() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return c
		}
	}
	return 0
}

// At is the position of the scanner.
func (s *Scanner) At() int { return s.i }

// Since returns the text from a position to that of the scanner.
func (s *Scanner) Since(start int) []byte { return s.b[start:s.i] }

// End checks that only white space is left.
func (s *Scanner) End() error {
	if s.Peek(); s.i < len(s.b) {
		return s.Unexpected()
	}
	return nil
}

// Unexpected returns the error for an unexpected next byte.
func (s *Scanner) Unexpected() error {
	if s.i >= len(s.b) {
		return ErrEnd
	}
	return fmt.Errorf("invalid JSON at %q%s", text.Clip(string(s.b[s.i:])), Reason(s.b[s.i:]))
}

// Reason tells of common mistakes in JSON why b, at which it is invalid, is: ": JSON has no comments", or "".
func Reason(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	switch b[0] {
	case '/', '#':
		return ": JSON has no comments"
	case '\'':
		return ": strings are in double quotes"
	}
	for _, word := range []string{"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf", "Inf"} {
		if bytes.HasPrefix(b, []byte(word)) {
			return `: JSON has no such number; write null, or the string "` + word + `"`
		}
	}
	for word, valid := range map[string]string{"None": "null", "undefined": "null", "True": "true", "False": "false"} {
		if bytes.HasPrefix(b, []byte(word)) {
			return ": write " + valid
		}
	}
	return ""
}

// Literal consumes a word such as true.
func (s *Scanner) Literal(word string) error {
	if end := s.i + len(word); end <= len(s.b) && string(s.b[s.i:end]) == word {
		s.i = end
		return nil
	}
	return s.Unexpected()
}

// Number consumes a number and returns its text.
func (s *Scanner) Number() ([]byte, error) {
	start := s.i
	if s.i < len(s.b) && s.b[s.i] == '-' {
		s.i++
	}
	n := text.CountDigits(s.b[s.i:])
	if n == 0 || n > 1 && s.b[s.i] == '0' {
		return nil, s.Unexpected()
	}
	s.i += n
	if s.i < len(s.b) && s.b[s.i] == '.' {
		s.i++
		if n = text.CountDigits(s.b[s.i:]); n == 0 {
			return nil, s.Unexpected()
		}
		s.i += n
	}
	if s.i < len(s.b) && (s.b[s.i] == 'e' || s.b[s.i] == 'E') {
		s.i++
		if s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		if n = text.CountDigits(s.b[s.i:]); n == 0 {
			return nil, s.Unexpected()
		}
		s.i += n
	}
	return s.b[start:s.i], nil
}

// Quoted consumes a string and returns its value, valid until the next call.
func (s *Scanner) Quoted() ([]byte, error) {
	if s.i >= len(s.b) || s.b[s.i] != '"' {
		return nil, s.Unexpected()
	}
	start := s.i + 1
	for i := start; i < len(s.b); i++ {
		switch c := s.b[i]; {
		case c == '"':
			s.i = i + 1
			if !utf8.Valid(s.b[start:i]) {
				return nil, fmt.Errorf("string %q %w", text.Clip(string(s.b[start:i])), text.ErrUTF8)
			}
			return s.b[start:i], nil
		case c == '\\':
			return s.escaped(start, i)
		case c < 0x20:
			s.i = i
			return nil, s.Unexpected()
		}
	}
	return nil, ErrEnd
}

// escaped reads the rest of a string, from its first backslash.
func (s *Scanner) escaped(start, i int) ([]byte, error) {
	out := append(s.buf[:0], s.b[start:i]...)
	for i < len(s.b) {
		switch c := s.b[i]; {
		case c == '"':
			s.i, s.buf = i+1, out
			if !utf8.Valid(out) {
				return nil, fmt.Errorf("string %q %w", text.Clip(string(out)), text.ErrUTF8)
			}
			return out, nil
		case c == '\\':
			var n int
			if out, n = appendEscape(out, s.b[i:]); n == 0 {
				s.i = i
				return nil, s.Unexpected()
			}
			i += n
		case c < 0x20:
			s.i = i
			return nil, s.Unexpected()
		default:
			out = append(out, c)
			i++
		}
	}
	return nil, ErrEnd
}

// appendEscape decodes the escape at the start of b and returns its length, or 0 if it is invalid. Surrogates must be
// in pairs.
func appendEscape(dst, b []byte) ([]byte, int) {
	if len(b) < 2 {
		return dst, 0
	}
	switch b[1] {
	case '"', '\\', '/':
		return append(dst, b[1]), 2
	case 'b':
		return append(dst, '\b'), 2
	case 'f':
		return append(dst, '\f'), 2
	case 'n':
		return append(dst, '\n'), 2
	case 'r':
		return append(dst, '\r'), 2
	case 't':
		return append(dst, '\t'), 2
	case 'u':
		r, ok := hex4(b[2:])
		if !ok {
			return dst, 0
		}
		if !utf16.IsSurrogate(r) {
			return utf8.AppendRune(dst, r), 6
		}
		if len(b) < 8 || b[6] != '\\' || b[7] != 'u' {
			return dst, 0
		}
		low, ok := hex4(b[8:])
		if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
			return dst, 0
		}
		return utf8.AppendRune(dst, r), 12
	}
	return dst, 0
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// Array calls a function for each element of an array.
func (s *Scanner) Array(element func() error) error {
	return s.items('[', ']', element)
}

// Object calls a function for each member of an object. The key is valid until the value is read.
func (s *Scanner) Object(member func(key []byte) error) error {
	return s.items('{', '}', func() error {
		s.Peek()
		key, err := s.Quoted()
		if err != nil {
			return err
		}
		if s.Peek() != ':' {
			return s.Unexpected()
		}
		s.i++
		return member(key)
	})
}

func (s *Scanner) items(open, end byte, item func() error) error {
	if s.Peek() != open {
		return s.Unexpected()
	}
	s.i++
	if s.depth++; s.depth > MaxDepth {
		return ErrDepth
	}
	for n := 0; ; n++ {
		switch c := s.Peek(); {
		case c == end:
			s.i++
			s.depth--
			return nil
		case n > 0 && c == ',':
			s.i++
			s.Peek()
		case n > 0:
			return s.Unexpected()
		}
		if err := item(); err != nil {
			return err
		}
	}
}

// Skip skips any value.
func (s *Scanner) Skip() error {
	switch c := s.Peek(); c {
	case '{':
		return s.Object(func([]byte) error { return s.Skip() })
	case '[':
		return s.Array(s.Skip)
	case '"':
		_, err := s.Quoted()
		return err
	case 't':
		return s.Literal("true")
	case 'f':
		return s.Literal("false")
	case 'n':
		return s.Literal("null")
	}
	_, err := s.Number()
	return err
}

// Raw skips any value and returns its text.
func (s *Scanner) Raw() ([]byte, error) {
	s.Peek()
	start := s.i
	if err := s.Skip(); err != nil {
		return nil, err
	}
	return s.b[start:s.i], nil
}

// AppendCompact appends a valid JSON text without the white space between its tokens.
func AppendCompact(dst, src []byte) []byte {
	inString := false
	for i := 0; i < len(src); i++ {
		c := src[i]
		if inString {
			dst = append(dst, c)
			switch c {
			case '\\':
				i++
				dst = append(dst, src[i])
			case '"':
				inString = false
			}
			continue
		}
		switch c {
		case ' ', '\t', '\n', '\r':
		default:
			inString = c == '"'
			dst = append(dst, c)
		}
	}
	return dst
}

// Valid reports whether b is exactly one JSON value.
func Valid(b []byte) bool {
	s := Scanner{b: b}
	return s.Skip() == nil && s.Peek() == 0 && s.i == len(b)
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. Bytes of invalid UTF-8, which sinks refuse earlier, become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[start:i]...), `\ufffd`...)
				start = i + 1
			}
			i += n
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}
