package jsonl

import (
	"bytes"
	"fmt"
	"io"

	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/jsontext"
	"github.com/amudai/amudai-go/table/internal/records"
)

// scanner divides a stream into records: the elements of a single array, or a sequence of values.
type scanner struct {
	records.Window
	array  bool // the stream is one array
	lines  bool // the stream is a sequence of values, even if it starts with "["
	begun  bool
	done   bool
	atLine int64 // line of the last record's start
}

func newScanner(r io.Reader, max int, lines bool) *scanner {
	return &scanner{Window: records.NewWindow(r, max), lines: lines}
}

// next returns the bytes of the next record, valid until the next call, or io.EOF.
func (s *scanner) next() ([]byte, error) {
	if !s.begun {
		s.begun = true
		if err := s.SkipBOM(); err != nil {
			return nil, err
		}
		c, err := s.token()
		if err != nil {
			return nil, err
		}
		if c == '[' && !s.lines {
			s.array = true
			s.Take(1)
			if c, err = s.token(); c == ']' {
				s.Take(1)
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
	s.atLine = s.Line
	n, err := s.valueLength()
	if err != nil {
		return nil, err
	}
	return s.Take(n), nil
}

// separator skips the "," before an element, or the "]" after the last one.
func (s *scanner) separator() error {
	c, err := s.token()
	switch {
	case err != nil:
		return unexpectedEnd(err)
	case c == ',':
		s.Take(1)
	case c == ']':
		s.Take(1)
		s.done = true
		return s.tail()
	default:
		return fmt.Errorf("invalid JSON: expected , or ] before %q", text.Clip(string(s.Bytes())))
	}
	return nil
}

// tail checks that only white space follows the array.
func (s *scanner) tail() error {
	c, err := s.token()
	if err == nil {
		return fmt.Errorf("invalid JSON: %q follows the array", string(rune(c)))
	}
	return err
}

func unexpectedEnd(err error) error {
	if err == io.EOF {
		return jsontext.ErrEnd
	}
	return err
}

// token skips white space and returns the next byte, which is not taken.
func (s *scanner) token() (byte, error) {
	for {
		b := s.Bytes()
		for i, c := range b {
			switch c {
			case ' ', '\t', '\n', '\r':
			default:
				s.Take(i)
				return c, nil
			}
		}
		s.Take(len(b))
		if err := s.More(); err != nil {
			return 0, err
		}
	}
}

// valueLength returns the length of the next value.
func (s *scanner) valueLength() (int, error) {
	end := valueEnd{}
	for {
		if n, err := end.find(s.Bytes()); n > 0 || err != nil {
			return n, err
		}
		if err := s.More(); err == io.EOF && end.depth == 0 && !end.inString && end.at > 0 {
			return end.at, nil
		} else if err != nil {
			return 0, unexpectedEnd(err)
		}
	}
}

// valueEnd finds the end of a value whose bytes arrive in parts. It only examines brackets and quotes. The JSON
// scanner checks the rest.
type valueEnd struct {
	at       int // bytes examined so far
	depth    int
	inString bool
	looked   int // bytes examined in all; at most at, so that the work is linear
}

// find continues in b, which has the bytes of the last call and more. It returns the length of the value, or 0 if the
// value does not end yet.
func (e *valueEnd) find(b []byte) (int, error) {
	for e.at < len(b) {
		if e.inString {
			if !e.passString(b) {
				return 0, nil
			}
			if e.depth == 0 {
				return e.at, nil
			}
			continue
		}
		c := b[e.at]
		e.at++
		e.looked++
		switch c {
		case '"':
			e.inString = true
		case '{', '[':
			if e.depth++; e.depth > jsontext.MaxDepth+1 {
				return 0, jsontext.ErrDepth
			}
		case '}', ']':
			if e.depth == 0 {
				return max(e.at-1, 1), nil
			}
			if e.depth--; e.depth == 0 {
				return e.at, nil
			}
		case ',', ' ', '\t', '\n', '\r':
			if e.depth == 0 {
				return max(e.at-1, 1), nil
			}
		}
	}
	return 0, nil
}

// passString skips to the end of a string. It returns false if b does not have the closing quote.
func (e *valueEnd) passString(b []byte) bool {
	for e.at < len(b) {
		n := bytes.IndexAny(b[e.at:], `\"`)
		if n < 0 {
			e.looked += len(b) - e.at
			e.at = len(b)
			return false
		}
		e.looked += n + 1
		if b[e.at+n] == '"' {
			e.at += n + 1
			e.inString = false
			return true
		}
		if e.at += n; e.at+1 >= len(b) {
			return false // the backslash is examined again, together with the next byte
		}
		e.at += 2
	}
	return false
}
