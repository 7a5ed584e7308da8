package csv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/charset"
	"github.com/amudai/amudai-go/internal/text/jsontext"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/guess"
)

// Limits of tables that are recognized without the name of a format.
const (
	mostNameBytes = 64
	leastTextRows = 5 // of a table whose values tell nothing about the header
)

// sniff returns a function that recognizes tables with some delimiters. A table has at least two records, all with the same number of
// fields, below different names. Without names, all columns have numbers or dates. Lines of logs begin with a time, so that they
// are no header, and have texts, so that they are no records without one.
func sniff(delimiters string) func([]byte) bool {
	return func(head []byte) bool {
		whole := len(head) < provider.SniffBytes
		encoding, err := charset.Detect(head, whole)
		if err != nil || len(head) == 0 {
			return false
		}
		if !encoding.IsUTF8() {
			if head, err = io.ReadAll(encoding.Reader(bytes.NewReader(head))); err != nil {
				return false
			}
		}
		head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
		if len(head) == 0 || bytes.IndexByte([]byte("{[<"), head[0]) >= 0 || bytes.IndexFunc(head, isControl) >= 0 {
			return false
		}
		t := bestTrial(head, whole, Options{}, ',')
		return bytes.IndexByte([]byte(delimiters), t.delimiter) >= 0 && t.isTable()
	}
}

// isControl reports whether a character is in no text.
func isControl(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' }

// isTable reports whether the records are those of a table beyond doubt.
func (t *trial) isTable() bool {
	if t.err != nil || t.stray || t.width < 2 || len(t.records) < 2 || t.regular < len(t.records) {
		return false
	}
	named, values := false, true
	for _, v := range t.columnVotes() {
		named = named || v == votesHeader
		values = values && v == votesRecord
	}
	return values || t.years() || t.hasNames() && (named || t.delimiter == '\t' || len(t.records) > leastTextRows)
}

// beginsLine matches the first field of a line of a log: a number, a bracket, or a time of day in it.
var beginsLine = regexp.MustCompile(`^[0-9\[(<]|[0-9]:[0-9][0-9]`)

// hasNames reports whether the fields of the first record may be names of columns.
func (t *trial) hasNames() bool {
	seen := map[string]bool{}
	for _, c := range t.records[0].cells {
		name := string(bytes.TrimSpace(c.text))
		if seen[name] || len(name) > mostNameBytes || guess.ClassOf(c.text) != guess.Text || beginsLine.MatchString(name) {
			return false
		}
		seen[name] = true
	}
	return true
}

// refuse returns an error for a file that is no CSV but a page of HTML, JSON, an archive or the like, unless options say how it is CSV.
func (s *source) refuse(head []byte, whole bool) error {
	if s.o.Delimiter != 0 || s.o.Header != HeaderAuto || s.o.Skip != 0 {
		return nil
	}
	if err := provider.Foreign(s.In.Name, head); err != nil {
		return err
	}
	body := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(body) == 0 || body[0] != '{' && body[0] != '[' || !isJSON(body, whole) {
		return nil
	}
	from := "json"
	if body[0] == '{' {
		from = "jsonl"
	}
	line, _, _ := bytes.Cut(body, []byte{'\n'})
	return advice.WithHint(fmt.Errorf("%s is JSON, not CSV: it begins with %s", s.In.Name, text.Clip(string(line))), "--from %s reads it", from)
}

// isJSON reports whether a text that begins with a bracket begins with a value of JSON, and nothing but other values, or commas between
// them, follows. Without whole the value may be cut off.
func isJSON(body []byte, whole bool) bool {
	var scan jsontext.Scanner
	scan.Reset(body)
	if err := scan.Skip(); err != nil {
		return !whole && errors.Is(err, jsontext.ErrEnd)
	}
	rest := bytes.TrimLeft(body[scan.At():], " \t\r\n")
	return len(rest) == 0 || rest[0] == '{' || rest[0] == '['
}
