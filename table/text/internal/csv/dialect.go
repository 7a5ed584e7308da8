package csv

import (
	"fmt"
	"strings"

	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/charset"
	"github.com/amudai/amudai-go/table/text/internal/records"
)

// dialect is how records, fields and the header of a file are written.
type dialect struct {
	encoding       charset.Encoding
	delimiter      byte
	quote          byte // 0: none
	escape         byte // 0: quotes are doubled
	lineEnd        byte
	comment        byte // 0: none
	guessedComment bool // comment was recognized
	trim           bool
	skip           int  // lines before the header
	header         bool // the first record has the names
	hashHeader     bool // it starts with #
	shape          shape
}

// shape is how records relate to the header.
type shape uint8

const (
	sameWidth   shape = iota
	rowNames          // the first field of each record has no name
	lastIsEmpty       // each record ends in a delimiter
)

// fixed returns the dialect as far as options set it. Other parts are those of RFC 4180.
func (o Options) fixed(usual byte) dialect {
	d := dialect{delimiter: usual, quote: '"', lineEnd: '\n', header: o.Header != HeaderAbsent, trim: o.Trim == TrimSpaces, skip: max(o.Skip, 0)}
	if o.Delimiter != 0 {
		d.delimiter = o.Delimiter
	}
	if o.Quote != 0 {
		d.quote = unlessNone(o.Quote)
	}
	if o.LineEnd != 0 {
		d.lineEnd = o.LineEnd
	}
	d.comment = unlessNone(o.Comment)
	if d.escape = unlessNone(o.Escape); d.escape == d.quote {
		d.escape = 0
	}
	return d
}

func unlessNone(c byte) byte {
	if c == None {
		return 0
	}
	return c
}

// describe lists what was recognized, each with the flag that changes it.
func (d dialect) describe(o Options, usual byte) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if o.Encoding == "" && !d.encoding.IsUTF8() {
		add("%s text (--encoding)", d.encoding)
	}
	if o.LineEnd == 0 && d.lineEnd != '\n' {
		add("lines that end in a carriage return (--line-end)")
	}
	if o.Delimiter == 0 && d.delimiter != usual {
		add("fields separated by %s (--delimiter)", charName(d.delimiter))
	}
	if o.Quote == 0 && d.quote != '"' {
		if d.quote == 0 {
			add("quotes as ordinary characters (--quote)")
		} else {
			add("fields quoted by %s (--quote)", charName(d.quote))
		}
	}
	if o.Escape == 0 && d.escape != 0 {
		add("quotes escaped by %s (--escape)", charName(d.escape))
	}
	if o.Comment == 0 && d.comment != 0 {
		add("comments after %s left out (--comment)", charName(d.comment))
	}
	if o.Skip == 0 && d.skip > 0 {
		add("%d %s before the header left out (--skip)", d.skip, text.Plural(d.skip, "line"))
	}
	if o.Trim == TrimAuto && d.trim {
		add("spaces around fields removed (--trim=false)")
	}
	if o.Header == HeaderAuto && !d.header {
		add("no header, because the first record is like the others (--header)")
	}
	if d.hashHeader {
		add("a header that starts with '#' (--comment)")
	}
	switch d.shape {
	case rowNames:
		add("a first column that the header does not name (--ragged)")
	case lastIsEmpty:
		add("no field after the last delimiter of a record (--ragged)")
	}
	return strings.Join(parts, ", ")
}

// charName is a character in the syntax of the command.
func charName(c byte) string {
	switch {
	case c == '\t':
		return "tab"
	case c < ' ' || c == 0x7f:
		return fmt.Sprintf(`'\x%02x'`, c)
	}
	return "'" + string(rune(c)) + "'"
}

// delimiterName returns a delimiter as an argument of a shell.
func delimiterName(c byte) string {
	if c == '\t' {
		return "tab"
	}
	return records.ShellQuote(string(rune(c)))
}
