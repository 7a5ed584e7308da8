package jsonl

import (
	"bytes"
	"fmt"
	"io"

	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/jsontext"
	"github.com/amudai/amudai-go/table/internal/records"
)

// scanner cuts a stream into its records: the elements of the array that
// it consists of, or the values that follow one another.
type scanner struct {
	records.Window
	array  bool // the stream is one array
	lines  bool // even if it starts with "[", the stream is a sequence of values
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

// separator passes the "," before an element, or the "]" after the last one.
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

// token skips white space and returns the next byte without taking it.
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

// valueLength finds the end of the value that starts here. It only looks at
// brackets and quotes; the scanner checks the rest.
func (s *scanner) valueLength() (int, error) {
	depth, i := 0, 0
	inString, escape := false, false
	for {
		b := s.Bytes()
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
				if depth++; depth > jsontext.MaxDepth+1 {
					return 0, jsontext.ErrDepth
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
		if err := s.More(); err == io.EOF && depth == 0 && !inString && i > 0 {
			return i, nil
		} else if err != nil {
			return 0, unexpectedEnd(err)
		}
	}
}
