package csv

import (
	"bytes"
	"fmt"
	"io"

	"github.com/amudai/amudai-go/table/internal/records"
)

// cell is one field of a CSV record.
type cell struct {
	text   []byte
	quoted bool
}

// scanner divides a stream into records of RFC 4180, without copying fields that have no doubled quotes. Unlike in
// the RFC, lines may end in \n or \r\n, empty lines are skipped unless records have one field, and a quote within an
// unquoted field is an ordinary character. encoding/csv does not distinguish "" from an empty field, and would mix up
// empty strings and nulls.
type scanner struct {
	records.Window
	comma  byte
	width  int // fields of a record; 0: not known yet
	spans  []span
	cells  []cell
	plain  []byte // content of fields with doubled quotes
	passed int    // bytes of the last record, which the next call takes
	atLine int64  // line of the last record's start
	looked int    // bytes searched for quotes and line ends; linear in the size of the input
}

// span is the range of a field, relative to the start of the record.
type span struct {
	from, to int
	quoted   bool
	doubled  bool // has doubled quotes
}

func newScanner(r io.Reader, comma byte, max int) *scanner {
	return &scanner{Window: records.NewWindow(r, max), comma: comma}
}

// next reads a record; its cells are valid until the next call. io.EOF ends
// the stream.
func (s *scanner) next() ([]cell, error) {
	for {
		s.Take(s.passed)
		s.passed, s.atLine = 0, s.Line
		blank, err := s.record()
		if err != nil {
			return nil, err
		}
		if !blank || s.width == 1 {
			return s.cut(), nil
		}
	}
}

// cut converts the spans of a record to cells.
func (s *scanner) cut() []cell {
	rec := s.Bytes()
	s.cells, s.plain = s.cells[:0], s.plain[:0]
	for _, sp := range s.spans {
		text := rec[sp.from:sp.to]
		if sp.doubled {
			from := len(s.plain)
			for len(text) > 0 {
				i := bytes.IndexByte(text, '"')
				if i < 0 {
					i = len(text) - 1
				}
				s.plain = append(s.plain, text[:i+1]...)
				text = text[min(i+2, len(text)):]
			}
			text = s.plain[from:len(s.plain):len(s.plain)]
		}
		s.cells = append(s.cells, cell{text, sp.quoted})
	}
	return s.cells
}

// record finds the fields of the next record. blank means that it is an empty line.
func (s *scanner) record() (blank bool, err error) {
	s.spans = s.spans[:0]
	at, eol := 0, -1 // eol is a line end. If it is at or after at, it is the first one there.
	for {
		sp, end, err := s.field(at, &eol)
		if err != nil {
			return false, err
		}
		s.spans = append(s.spans, sp)
		if b := s.Bytes(); end < len(b) && b[end] == s.comma {
			at = end + 1
			continue
		}
		return s.finish(end)
	}
}

// finish ends a record at end, which is a line end or the end of the stream. It removes the \r before a line end.
func (s *scanner) finish(end int) (blank bool, err error) {
	b := s.Bytes()
	last := &s.spans[len(s.spans)-1]
	if !last.quoted && last.to > last.from && b[last.to-1] == '\r' {
		last.to--
	}
	blank = len(s.spans) == 1 && last.to == last.from && !last.quoted
	if blank && end == len(b) {
		return true, io.EOF
	}
	s.passed = min(end+1, len(b))
	return blank, nil
}

// field finds the field that starts at position at. end is the position of the delimiter, of the line end, or the end
// of the stream.
func (s *scanner) field(at int, eol *int) (sp span, end int, err error) {
	for at >= len(s.Bytes()) {
		if err := s.More(); err == io.EOF {
			return span{from: at, to: at}, at, nil
		} else if err != nil {
			return sp, 0, err
		}
	}
	if s.Bytes()[at] == '"' {
		return s.quotedField(at)
	}
	for from := at; *eol < at; {
		b := s.Bytes()
		i := bytes.IndexByte(b[from:], '\n')
		s.looked += len(b) - from
		if i >= 0 {
			s.looked -= len(b) - from - i
			*eol = from + i
			break
		}
		from = len(b)
		if err := s.More(); err == io.EOF {
			*eol = len(s.Bytes())
		} else if err != nil {
			return sp, 0, err
		}
	}
	end = *eol
	if i := bytes.IndexByte(s.Bytes()[at:end], s.comma); i >= 0 {
		end = at + i
	}
	return span{from: at, to: end}, end, nil
}

// quotedField finds the field whose opening quote is at position at.
func (s *scanner) quotedField(at int) (sp span, end int, err error) {
	sp = span{from: at + 1, quoted: true}
	for i := at + 1; ; {
		b := s.Bytes()
		j := bytes.IndexByte(b[min(i, len(b)):], '"')
		s.looked += max(j, 0)
		if j < 0 || i+j+1 >= len(b) { // the next byte decides whether the quote is doubled
			if j < 0 {
				s.looked += max(len(b)-i, 0)
				i = max(i, len(b)) // searched already
			} else {
				i, j = i+j, 0
			}
			err := s.More()
			if err == nil {
				continue
			}
			if err != io.EOF {
				return sp, 0, err
			}
			if j < 0 {
				return sp, 0, fmt.Errorf("a quoted field has no end (line %d)", s.Line)
			}
		}
		b = s.Bytes()
		i += j
		switch {
		case i+1 < len(b) && b[i+1] == '"':
			sp.doubled = true
			i += 2
			continue
		case i+1 < len(b) && b[i+1] == '\r' && (i+2 >= len(b) || b[i+2] == '\n'):
			if i+2 >= len(b) {
				if err := s.More(); err == nil {
					continue // look at the same quote again
				} else if err != io.EOF {
					return sp, 0, err
				}
			}
			sp.to = i
			return sp, i + 2, nil
		case i+1 >= len(b) || b[i+1] == '\n' || b[i+1] == s.comma:
			sp.to = i
			return sp, i + 1, nil
		}
		line := s.Line + int64(bytes.Count(b[:i], []byte{'\n'}))
		return sp, 0, fmt.Errorf("%q follows the quote that ends a field (line %d)", string(rune(b[i+1])), line)
	}
}
