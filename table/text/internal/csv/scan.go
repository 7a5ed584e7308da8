package csv

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/table/text/internal/records"
)

// cell is one field of a CSV record.
type cell struct {
	text   []byte
	quoted bool
}

// scanner divides a stream into the records of a dialect, without copying fields that have no escaped quotes. Unlike in
// RFC 4180, lines may end in \n or \r\n, empty lines are skipped unless records have one field, and a quote within an
// unquoted field is an ordinary character. encoding/csv does not distinguish "" from an empty field, and would mix up
// empty strings and nulls.
type scanner struct {
	records.Window
	dialect
	width  int // fields of a record; 0: not known yet
	spans  []span
	cells  []cell
	plain  []byte // content of fields with escaped quotes
	passed int    // bytes of the last record, which the next call takes
	atLine int64  // line of the last record's start
	looked int    // bytes searched for quotes and line ends; linear in the size of the input
	stops  string // quote and escape, if there is an escape
}

// span is the range of a field, relative to the start of the record.
type span struct {
	from, to int
	quoted   bool
	escaped  bool // has doubled quotes, or escapes
}

func newScanner(r io.Reader, d dialect, max int) *scanner {
	return newScannerOn(records.NewWindow(r, max), d)
}

func newScannerOn(w records.Window, d dialect) *scanner {
	s := &scanner{Window: w, dialect: d}
	s.LineEnd = d.lineEnd
	if d.escape != 0 {
		s.stops = string([]byte{d.quote, d.escape})
	}
	return s
}

// begin skips a byte order mark and the lines before the first record.
func (s *scanner) begin() error {
	if err := s.SkipBOM(); err != nil {
		return err
	}
	return s.skipLines(s.skip)
}

// skipLines passes the lines before the header.
func (s *scanner) skipLines(n int) error {
	for range n {
		end, err := s.lineEnds()
		if err != nil {
			return err
		}
		s.Take(min(end+1, len(s.Bytes())))
	}
	return nil
}

// lineEnds returns the position of the next line end, or of the end of the stream.
func (s *scanner) lineEnds() (int, error) {
	for from := 0; ; {
		if i := bytes.IndexByte(s.Bytes()[from:], s.lineEnd); i >= 0 {
			return from + i, nil
		}
		from = len(s.Bytes())
		if err := s.More(); err == io.EOF {
			return len(s.Bytes()), nil
		} else if err != nil {
			return 0, err
		}
	}
}

// next reads a record; its cells are valid until the next call. io.EOF ends
// the stream.
func (s *scanner) next() ([]cell, error) {
	for {
		s.Take(s.passed)
		s.passed, s.atLine = 0, s.Line
		if s.comment != 0 {
			if skipped, err := s.skipComment(); err != nil {
				return nil, err
			} else if skipped {
				continue
			}
		}
		blank, err := s.record()
		if err != nil {
			return nil, err
		}
		if !blank || s.width == 1 {
			return s.cut(), nil
		}
	}
}

// skipComment skips a line that is a comment. A comment that was only guessed must not look like a record.
func (s *scanner) skipComment() (bool, error) {
	for len(s.Bytes()) == 0 {
		if err := s.More(); err == io.EOF {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	if s.Bytes()[0] != s.comment {
		return false, nil
	}
	end, err := s.lineEnds()
	if err != nil {
		return false, err
	}
	if s.guessedComment && s.width > 1 && bytes.Count(s.Bytes()[:end], []byte{s.delimiter})+1 == s.width {
		return false, advice.WithHint(fmt.Errorf("a line that starts with %q could be a comment or a record (line %d)", s.comment, s.Line),
			"--comment none reads it as a record, --comment %s skips it", records.ShellQuote(string(rune(s.comment))))
	}
	s.passed = min(end+1, len(s.Bytes()))
	return true, nil
}

// cut converts the spans of a record to cells.
func (s *scanner) cut() []cell {
	rec := s.Bytes()
	s.cells, s.plain = s.cells[:0], s.plain[:0]
	for _, sp := range s.spans {
		text := rec[sp.from:sp.to]
		if sp.escaped {
			from := len(s.plain)
			if s.escape != 0 {
				s.plain = s.unescape(s.plain, text)
			} else {
				s.plain = undouble(s.plain, text, s.quote)
			}
			text = s.plain[from:len(s.plain):len(s.plain)]
		}
		s.cells = append(s.cells, cell{text, sp.quoted})
	}
	return s.cells
}

// undouble appends a text with one quote in place of two.
func undouble(dst, text []byte, quote byte) []byte {
	for len(text) > 0 {
		i := bytes.IndexByte(text, quote)
		if i < 0 {
			i = len(text) - 1
		}
		dst = append(dst, text[:i+1]...)
		text = text[min(i+2, len(text)):]
	}
	return dst
}

// unescape appends a text without the escapes before quotes and escapes, and with one quote in place of two. Other
// characters after an escape leave both as they are.
func (s *scanner) unescape(dst, text []byte) []byte {
	for i := 0; i < len(text); i++ {
		if i+1 < len(text) {
			next := text[i+1]
			if text[i] == s.escape && (next == s.quote || next == s.escape) || text[i] == s.quote && next == s.quote {
				i++
			}
		}
		dst = append(dst, text[i])
	}
	return dst
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
		if b := s.Bytes(); end < len(b) && b[end] == s.delimiter {
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
		if s.trim {
			*last = s.trimmed(*last)
		}
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
	for at >= len(s.Bytes()) || s.trim && s.isSpace(s.Bytes()[at]) {
		if at < len(s.Bytes()) {
			at++
			continue
		}
		if err := s.More(); err == io.EOF {
			return span{from: at, to: at}, at, nil
		} else if err != nil {
			return sp, 0, err
		}
	}
	if s.Bytes()[at] == s.quote && s.quote != 0 {
		return s.quotedField(at)
	}
	for from := at; *eol < at; {
		b := s.Bytes()
		j := bytes.IndexByte(b[from:], s.lineEnd)
		s.looked += len(b) - from
		if j >= 0 {
			s.looked += j + 1 - (len(b) - from)
			*eol = from + j
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
	if i := bytes.IndexByte(s.Bytes()[at:end], s.delimiter); i >= 0 {
		end = at + i
	}
	if sp = (span{from: at, to: end}); s.trim {
		sp = s.trimmed(sp)
	}
	return sp, end, nil
}

// isSpace reports whether a byte is white space around fields.
func (s *scanner) isSpace(c byte) bool { return (c == ' ' || c == '\t') && c != s.delimiter }

// trimmed is a span without white space at its end.
func (s *scanner) trimmed(sp span) span {
	for b := s.Bytes(); sp.to > sp.from && s.isSpace(b[sp.to-1]); {
		sp.to--
	}
	return sp
}

// errMore means that bytes are missing to decide.
var errMore = errors.New("more bytes are needed")

// quotedField finds the field whose opening quote is at position at.
func (s *scanner) quotedField(at int) (sp span, end int, err error) {
	sp = span{from: at + 1, quoted: true}
	for i := at + 1; ; {
		i, err = s.closingQuote(i, &sp)
		if err == nil {
			end, err = s.afterQuote(i + 1)
		}
		switch {
		case err == nil:
			sp.to = i
			return sp, end, nil
		case err != errMore:
			return sp, 0, err
		}
		if err := s.More(); err == io.EOF {
			if i < len(s.Bytes()) && s.Bytes()[i] == s.quote {
				sp.to = i
				return sp, len(s.Bytes()), s.trailing(i + 1)
			}
			return sp, 0, advice.WithHint(fmt.Errorf("a quoted field has no end (line %d)", s.Line), "%s", s.quoteHint())
		} else if err != nil {
			return sp, 0, err
		}
	}
}

// quoteHint names the flags that read quotes in other ways.
func (s *scanner) quoteHint() string {
	if s.escape != 0 {
		return "--quote none reads quotes as ordinary characters"
	}
	return `--quote none reads quotes as ordinary characters, --escape backslash reads \" as one`
}

// closingQuote returns the position of the quote that ends a field, from position i on. With errMore, it is the
// position to continue at.
func (s *scanner) closingQuote(i int, sp *span) (int, error) {
	b := s.Bytes()
	for i < len(b) {
		var j int
		if s.stops == "" {
			j = bytes.IndexByte(b[i:], s.quote)
		} else {
			j = bytes.IndexAny(b[i:], s.stops)
		}
		if j < 0 {
			s.looked += len(b) - i
			return len(b), errMore
		}
		s.looked += j
		if i += j; i+1 >= len(b) {
			return i, errMore // the next byte decides
		}
		if b[i] == s.quote && b[i+1] != s.quote {
			return i, nil
		}
		sp.escaped = true
		i += 2
	}
	return i, errMore
}

// afterQuote returns the position of the delimiter or line end that follows a closing quote, from position i on.
func (s *scanner) afterQuote(i int) (int, error) {
	b := s.Bytes()
	for s.trim && i < len(b) && s.isSpace(b[i]) {
		i++
	}
	if i < len(b) && b[i] == '\r' && s.lineEnd == '\n' {
		if i+1 >= len(b) {
			return 0, errMore
		}
		if b[i+1] == '\n' {
			return i + 1, nil
		}
	}
	switch {
	case i >= len(b):
		return 0, errMore
	case b[i] == s.lineEnd || b[i] == s.delimiter:
		return i, nil
	}
	return 0, s.unexpected(i)
}

// trailing checks what follows a closing quote at the end of the stream: nothing, a \r, or spaces.
func (s *scanner) trailing(i int) error {
	b := s.Bytes()
	for s.trim && i < len(b) && s.isSpace(b[i]) {
		i++
	}
	if i < len(b) && (b[i] != '\r' || i+1 < len(b)) {
		return s.unexpected(i)
	}
	return nil
}

func (s *scanner) unexpected(i int) error {
	b := s.Bytes()
	line := s.Line + int64(bytes.Count(b[:i], []byte{s.lineEnd}))
	return advice.WithHint(fmt.Errorf("%q follows the quote that ends a field (line %d)", string(rune(b[i])), line), "%s", s.quoteHint())
}
