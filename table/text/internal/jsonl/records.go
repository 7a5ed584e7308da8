package jsonl

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/jsontext"
	"github.com/amudai/amudai-go/table/text/internal/records"
)

// scanner divides a stream into records: the elements of an array, a sequence of values, or what lies at a path in
// these.
type scanner struct {
	records.Window
	layout
	open    []container // that the scanner is in
	begun   bool
	done    bool // behind the only array of the stream
	atLine  int64
	key     []byte   // of the last record, if it is an entry, with its quotes
	left    []string // some fields that were passed on the way to records
	made    []byte   // a record that the stream does not have as such
	names   [][]byte // of the columns, with quotes, if records are arrays
	inner   *scanner // of the records in a value that is in memory, as the fields to keep may follow them
	head    []byte   // the kept fields of this value
	seen    []bool   // fields to keep that a value had
	scan    jsontext.Scanner
	keyScan jsontext.Scanner
}

// layout says where the records of a stream are.
type layout struct {
	lines   bool     // the stream is a sequence of values, even if it starts with "["
	path    []string // fields that lead to the records
	entries bool     // records are the entries of objects
	arrays  bool     // records are arrays, of which the first has the names
	keyName string   // of the column with the key of an entry
	keep    []kept   // fields beside the path that are repeated in its records
}

// container is an array or object that was begun.
type container struct {
	kind  containerKind
	depth int // fields of the path before it
	begun bool
	found bool // the next field of the path
}

type containerKind uint8

const (
	elements containerKind = iota // an array of records, or of values that lead to some
	fields                        // an object with the next field of the path
	entries                       // an object of records
)

func newScanner(r io.Reader, l layout, max int) *scanner {
	return &scanner{Window: records.NewWindow(r, max), layout: l, seen: make([]bool, len(l.keep))}
}

// next returns the bytes of the next record, valid until the next call, or io.EOF.
func (s *scanner) next() ([]byte, error) {
	for {
		if s.inner != nil {
			if rec, err := s.innerRecord(); rec != nil || err != nil {
				return rec, err
			}
			continue
		}
		rec, err := s.step()
		if err != nil {
			return nil, err
		}
		if rec == nil {
			continue
		}
		if s.entries && s.key != nil {
			return s.entry(rec), nil
		}
		if s.arrays {
			if rec, err = s.fromArray(rec); rec == nil && err == nil {
				continue
			}
		}
		return rec, err
	}
}

// step goes on to the next value on the way to a record. It returns the bytes of the value if it is a record.
func (s *scanner) step() ([]byte, error) {
	s.key = nil
	if len(s.open) == 0 {
		return s.top()
	}
	in := &s.open[len(s.open)-1]
	end := byte('}')
	if in.kind == elements {
		end = ']'
	}
	c, err := s.token()
	switch {
	case err != nil:
		return nil, unexpectedEnd(err)
	case c == end:
		s.Take(1)
		if s.open = s.open[:len(s.open)-1]; len(s.open) == 0 && end == ']' {
			s.done = true
			return nil, s.tail()
		}
		return nil, nil
	case in.begun && c != ',':
		return nil, fmt.Errorf("invalid JSON: expected , or %c before %q%s", end, text.Clip(string(s.Bytes())), jsontext.Reason(s.Bytes()))
	case in.begun:
		s.Take(1)
	}
	in.begun = true
	if in.kind == elements {
		return s.value(in.depth, in.depth == len(s.path))
	}
	return s.field(in)
}

// top goes on to the next value of the stream.
func (s *scanner) top() ([]byte, error) {
	first := !s.begun
	if first {
		s.begun = true
		if err := s.SkipBOM(); err != nil {
			return nil, err
		}
	}
	if s.done {
		return nil, io.EOF
	}
	c, err := s.token()
	if err != nil {
		return nil, err
	}
	if first && c == '[' && !s.lines {
		s.Take(1)
		s.open = append(s.open, container{kind: elements})
		return nil, nil
	}
	return s.value(0, false)
}

// value goes into a value behind some fields of the path, or returns its bytes. An element of an array of records is a
// record.
func (s *scanner) value(depth int, element bool) ([]byte, error) {
	c, err := s.token()
	if err != nil {
		return nil, unexpectedEnd(err)
	}
	switch {
	case depth < len(s.path) && c == '{' && len(s.keep) > 0:
		return nil, s.readKept()
	case depth < len(s.path) && c == '{':
		s.Take(1)
		s.open = append(s.open, container{kind: fields, depth: depth})
		return nil, nil
	case depth == len(s.path) && s.entries && c == '{' && !element:
		s.Take(1)
		s.open = append(s.open, container{kind: entries, depth: depth})
		return nil, nil
	case depth == len(s.path) && depth > 0 && c == '[' && !element:
		s.Take(1)
		s.open = append(s.open, container{kind: elements, depth: depth})
		return nil, nil
	}
	rec, err := s.bytes()
	switch {
	case err != nil:
		return nil, err
	case depth < len(s.path) && string(rec) != "null":
		return nil, fmt.Errorf("%q is in no object: %q", strings.Join(s.path[:depth+1], "."), text.Clip(string(rec)))
	case depth < len(s.path), depth > 0 && !element && string(rec) == "null":
		return nil, nil
	}
	return rec, nil
}

// bytes takes the bytes of the next value.
func (s *scanner) bytes() ([]byte, error) {
	s.atLine = s.Line
	n, err := s.valueLength()
	if err != nil {
		return nil, err
	}
	return s.Take(n), nil
}

// field reads a field of an object: it leads to records, is one, or is passed.
func (s *scanner) field(in *container) ([]byte, error) {
	if _, err := s.token(); err != nil {
		return nil, unexpectedEnd(err)
	}
	b, err := s.bytes()
	if err != nil {
		return nil, err
	}
	quoted := append(s.key[:0:0], b...)
	s.keyScan.Reset(quoted)
	name, err := s.keyScan.Quoted()
	if err == nil {
		err = s.keyScan.End()
	}
	if err != nil {
		return nil, err
	}
	if c, err := s.token(); err != nil || c != ':' {
		if err != nil {
			return nil, unexpectedEnd(err)
		}
		return nil, fmt.Errorf("invalid JSON: no : behind the key %q", text.Clip(string(name)))
	}
	s.Take(1)
	if in.kind == entries {
		if _, err := s.token(); err != nil {
			return nil, unexpectedEnd(err)
		}
		s.key = quoted
		return s.bytes()
	}
	if string(name) == s.path[in.depth] && !in.found {
		in.found = true
		return s.value(in.depth+1, false)
	}
	if _, err := s.token(); err != nil {
		return nil, unexpectedEnd(err)
	}
	if b, err = s.bytes(); err == nil && !jsontext.Valid(b) {
		err = fmt.Errorf("invalid JSON in the field %q", text.Clip(string(name)))
	}
	s.leave(strings.Join(append(slices.Clone(s.path[:in.depth]), string(name)), "."))
	return nil, err
}

// leave remembers a field beside the path that records do not have.
func (s *scanner) leave(path string) {
	if len(s.left) < maxLeft && !slices.Contains(s.left, path) {
		s.left = append(s.left, path)
	}
}

// maxLeft is the number of fields beside the path whose names are kept.
const maxLeft = 8

// entry makes a record of an entry: its key and the fields of its value.
//
//	"a": {"x": 1}  →  {"key":"a","x": 1}
//	"a": 1         →  {"key":"a","value":1}
func (s *scanner) entry(value []byte) []byte {
	s.made = append(jsontext.AppendString(append(s.made[:0], '{'), s.keyName), ':')
	s.made = appendFields(append(append(s.made, s.key...), ','), value)
	return s.made
}

// appendFields appends the fields of an object, or another value as a field of its own, to one that was begun and ends in a comma.
func appendFields(dst, value []byte) []byte {
	if value[0] != '{' {
		return append(append(append(dst, `"value":`...), value...), '}')
	}
	rest := bytes.TrimLeft(value[1:], " \t\r\n")
	if len(rest) > 0 && rest[0] == '}' {
		dst = dst[:len(dst)-1] // the comma
	}
	return append(dst, rest...)
}

// fromArray makes an object of an array, with the names of the first one, for which it returns nil.
func (s *scanner) fromArray(rec []byte) ([]byte, error) {
	var names [][]byte
	n := 0
	s.made = append(s.made[:0], '{')
	s.scan.Reset(rec)
	if s.scan.Peek() != '[' {
		return nil, fmt.Errorf("the record is not an array, unlike those before: %q", text.Clip(string(rec)))
	}
	err := s.scan.Array(func() error {
		s.scan.Peek()
		start := s.scan.At()
		if err := s.scan.Skip(); err != nil {
			return err
		}
		v := s.scan.Since(start)
		switch {
		case s.names == nil:
			if v[0] != '"' {
				return fmt.Errorf("the first array has a name that is not a string: %q", text.Clip(string(v)))
			}
			names = append(names, bytes.Clone(v))
		case n < len(s.names):
			if n > 0 {
				s.made = append(s.made, ',')
			}
			s.made = append(append(append(s.made, s.names[n]...), ':'), v...)
		}
		n++
		return nil
	})
	if err == nil {
		err = s.scan.End()
	}
	switch {
	case err != nil:
		return nil, err
	case s.names == nil:
		s.names = append([][]byte{}, names...)
		return nil, nil
	case n != len(s.names):
		return nil, fmt.Errorf("an array has %d %s, but the first one has %d names", n, text.Plural(n, "value"), len(s.names))
	}
	s.made = append(s.made, '}')
	return s.made, nil
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
