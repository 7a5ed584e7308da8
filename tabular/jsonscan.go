package tabular

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// maxJSONDepth bounds how deep values may be nested, in text that is read and
// in json columns.
const maxJSONDepth = 200

// jsonScanner walks over the bytes of one JSON value. Its methods check what
// they pass: a text that was walked to its end is valid JSON.
type jsonScanner struct {
	b     []byte
	i     int
	depth int
	buf   []byte // of unescaped strings
}

var (
	errJSONEnd   = errors.New("JSON ends in the middle of a value")
	errJSONDepth = fmt.Errorf("JSON is nested deeper than %d", maxJSONDepth)
)

func (s *jsonScanner) reset(b []byte) { s.b, s.i, s.depth = b, 0, 0 }

// peek skips white space and returns the next byte, or 0 at the end.
func (s *jsonScanner) peek() byte {
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

func (s *jsonScanner) unexpected() error {
	if s.i >= len(s.b) {
		return errJSONEnd
	}
	return fmt.Errorf("invalid JSON at %q", clip(string(s.b[s.i:])))
}

// literal consumes a word such as true.
func (s *jsonScanner) literal(word string) error {
	if end := s.i + len(word); end <= len(s.b) && string(s.b[s.i:end]) == word {
		s.i = end
		return nil
	}
	return s.unexpected()
}

// number consumes a number and returns its text.
func (s *jsonScanner) number() ([]byte, error) {
	start := s.i
	if s.i < len(s.b) && s.b[s.i] == '-' {
		s.i++
	}
	n := digitRun(s.b[s.i:])
	if n == 0 || n > 1 && s.b[s.i] == '0' {
		return nil, s.unexpected()
	}
	s.i += n
	if s.i < len(s.b) && s.b[s.i] == '.' {
		s.i++
		if n = digitRun(s.b[s.i:]); n == 0 {
			return nil, s.unexpected()
		}
		s.i += n
	}
	if s.i < len(s.b) && (s.b[s.i] == 'e' || s.b[s.i] == 'E') {
		s.i++
		if s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		if n = digitRun(s.b[s.i:]); n == 0 {
			return nil, s.unexpected()
		}
		s.i += n
	}
	return s.b[start:s.i], nil
}

// str consumes a string and returns what it means, valid until the next call.
func (s *jsonScanner) str() ([]byte, error) {
	if s.i >= len(s.b) || s.b[s.i] != '"' {
		return nil, s.unexpected()
	}
	start := s.i + 1
	for i := start; i < len(s.b); i++ {
		switch c := s.b[i]; {
		case c == '"':
			s.i = i + 1
			if !utf8.Valid(s.b[start:i]) {
				return nil, fmt.Errorf("string %q %w", clip(string(s.b[start:i])), errUTF8)
			}
			return s.b[start:i], nil
		case c == '\\':
			return s.escaped(start, i)
		case c < 0x20:
			s.i = i
			return nil, s.unexpected()
		}
	}
	return nil, errJSONEnd
}

// escaped is the slow part of str, from the first backslash on.
func (s *jsonScanner) escaped(start, i int) ([]byte, error) {
	out := append(s.buf[:0], s.b[start:i]...)
	for i < len(s.b) {
		switch c := s.b[i]; {
		case c == '"':
			s.i, s.buf = i+1, out
			if !utf8.Valid(out) {
				return nil, fmt.Errorf("string %q %w", clip(string(out)), errUTF8)
			}
			return out, nil
		case c == '\\':
			var n int
			if out, n = appendEscape(out, s.b[i:]); n == 0 {
				s.i = i
				return nil, s.unexpected()
			}
			i += n
		case c < 0x20:
			s.i = i
			return nil, s.unexpected()
		default:
			out = append(out, c)
			i++
		}
	}
	return nil, errJSONEnd
}

// appendEscape decodes the escape at the start of b and returns its length, or
// 0 if it is not valid: surrogates must come in pairs.
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

// array walks over the elements of an array.
func (s *jsonScanner) array(element func() error) error {
	return s.items('[', ']', element)
}

// object walks over the members of an object. The key is valid until the
// member's value is read.
func (s *jsonScanner) object(member func(key []byte) error) error {
	return s.items('{', '}', func() error {
		s.peek()
		key, err := s.str()
		if err != nil {
			return err
		}
		if s.peek() != ':' {
			return s.unexpected()
		}
		s.i++
		return member(key)
	})
}

func (s *jsonScanner) items(open, end byte, item func() error) error {
	if s.peek() != open {
		return s.unexpected()
	}
	s.i++
	if s.depth++; s.depth > maxJSONDepth {
		return errJSONDepth
	}
	for n := 0; ; n++ {
		switch c := s.peek(); {
		case c == end && n == 0:
			s.i++
			s.depth--
			return nil
		case n > 0 && c == end:
			s.i++
			s.depth--
			return nil
		case n > 0 && c == ',':
			s.i++
			s.peek()
		case n > 0:
			return s.unexpected()
		}
		if err := item(); err != nil {
			return err
		}
	}
}

// skip walks over any value.
func (s *jsonScanner) skip() error {
	switch c := s.peek(); c {
	case '{':
		return s.object(func([]byte) error { return s.skip() })
	case '[':
		return s.array(s.skip)
	case '"':
		_, err := s.str()
		return err
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	}
	_, err := s.number()
	return err
}

// raw walks over any value and returns its text.
func (s *jsonScanner) raw() ([]byte, error) {
	s.peek()
	start := s.i
	if err := s.skip(); err != nil {
		return nil, err
	}
	return s.b[start:s.i], nil
}

// appendCompact appends a valid JSON text without the white space between its tokens.
func appendCompact(dst, text []byte) []byte {
	inString := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		if inString {
			dst = append(dst, c)
			switch c {
			case '\\':
				i++
				dst = append(dst, text[i])
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

// validJSON tells whether b is exactly one JSON value.
func validJSON(b []byte) bool {
	s := jsonScanner{b: b}
	return s.skip() == nil && s.peek() == 0 && s.i == len(b)
}

// jsonRecords cuts a stream into its records: the elements of the array that
// it consists of, or the values that follow one another.
type jsonRecords struct {
	window
	array  bool // the stream is one array
	lines  bool // even if it starts with "[", the stream is a sequence of values
	begun  bool
	done   bool
	atLine int64 // line of the last record's start
}

func newJSONRecords(r io.Reader, max int, lines bool) *jsonRecords {
	return &jsonRecords{window: window{r: r, max: max, line: 1}, lines: lines}
}

// next returns the bytes of the next record, valid until the next call, or io.EOF.
func (s *jsonRecords) next() ([]byte, error) {
	if !s.begun {
		s.begun = true
		if err := s.skipBOM(); err != nil {
			return nil, err
		}
		c, err := s.token()
		if err != nil {
			return nil, err
		}
		if c == '[' && !s.lines {
			s.array = true
			s.take(1)
			if c, err = s.token(); c == ']' {
				s.take(1)
				s.done = true
				return nil, s.tail()
			} else if err != nil {
				return nil, unexpectedEnd(err)
			}
		}
	} else if s.array && !s.done {
		if err := s.separator(); err != nil {
			return nil, err
		}
	}
	if s.done {
		return nil, io.EOF
	}
	if _, err := s.token(); err != nil {
		if s.array {
			err = unexpectedEnd(err)
		}
		return nil, err
	}
	s.atLine = s.line
	n, err := s.valueLength()
	if err != nil {
		return nil, err
	}
	return s.take(n), nil
}

// separator passes the "," before an element, or the "]" after the last one.
func (s *jsonRecords) separator() error {
	c, err := s.token()
	switch {
	case err != nil:
		return unexpectedEnd(err)
	case c == ',':
		s.take(1)
	case c == ']':
		s.take(1)
		s.done = true
		return s.tail()
	default:
		return fmt.Errorf("invalid JSON: expected , or ] before %q", clip(string(s.bytes())))
	}
	return nil
}

// tail checks that only white space follows the array.
func (s *jsonRecords) tail() error {
	c, err := s.token()
	if err == nil {
		return fmt.Errorf("invalid JSON: %q follows the array", string(rune(c)))
	}
	return err
}

func unexpectedEnd(err error) error {
	if err == io.EOF {
		return errJSONEnd
	}
	return err
}

// token skips white space and returns the next byte without taking it.
func (s *jsonRecords) token() (byte, error) {
	for {
		b := s.bytes()
		for i, c := range b {
			switch c {
			case ' ', '\t', '\n', '\r':
			default:
				s.take(i)
				return c, nil
			}
		}
		s.take(len(b))
		if err := s.more(); err != nil {
			return 0, err
		}
	}
}

// valueLength finds the end of the value that starts here. It only looks at
// brackets and quotes; the scanner checks the rest.
func (s *jsonRecords) valueLength() (int, error) {
	depth, i := 0, 0
	inString, escape := false, false
	for {
		b := s.bytes()
		for ; i < len(b); i++ {
			c := b[i]
			if inString {
				switch {
				case escape:
					escape = false
				case c == '\\':
					escape = true
				case c == '"':
					inString = false
					if depth == 0 {
						return i + 1, nil
					}
				default:
					if j := bytes.IndexAny(b[i:], `\"`); j > 0 {
						i += j - 1
					}
				}
				continue
			}
			switch c {
			case '"':
				inString = true
			case '{', '[':
				if depth++; depth > maxJSONDepth+1 {
					return 0, errJSONDepth
				}
			case '}', ']':
				if depth == 0 {
					return max(i, 1), nil
				}
				if depth--; depth == 0 {
					return i + 1, nil
				}
			case ',', ' ', '\t', '\n', '\r':
				if depth == 0 {
					return max(i, 1), nil
				}
			}
		}
		if err := s.more(); err == io.EOF && depth == 0 && !inString && i > 0 {
			return i, nil
		} else if err != nil {
			return 0, unexpectedEnd(err)
		}
	}
}
