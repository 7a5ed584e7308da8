package csv

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/amudai/amudai-go/internal/text/charset"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/guess"
)

// Options are those of package text, which has their meaning.
type Options struct {
	Text                                       provider.TextOptions
	Encoding                                   string
	Delimiter, Quote, Escape, LineEnd, Comment byte
	Skip                                       int
	Header                                     Header
	Ragged                                     Ragged
	Trim                                       Trim
	Decimal, Thousands                         byte
	Dates                                      guess.DateOrder
	Nulls                                      []string
	AutoNulls                                  bool
	True, False                                []string
	Null                                       string
}

// None is the value of options for characters that a file does not have.
const None = 0xff

// The types of some options. Package text has the meaning of their values.
type (
	Header uint8
	Trim   uint8
	Ragged uint8
)

// The choices of [Options.Header].
const (
	HeaderAuto Header = iota
	HeaderPresent
	HeaderAbsent
)

// The choices of [Options.Trim].
const (
	TrimAuto Trim = iota
	TrimNone
	TrimSpaces
)

// The choices of [Options.Ragged].
const (
	RaggedAuto Ragged = iota
	RaggedError
	RaggedNull
	RaggedDrop
)

// check returns an error for values that no file can have.
func (o Options) check() error {
	special := func(c byte) bool { return c == '\n' || c == '\r' || c >= utf8.RuneSelf }
	if _, err := charset.Find(o.Encoding); err != nil && o.Encoding != "" {
		return err
	}
	d := o.Delimiter
	switch {
	case d == '"' || special(d):
		return fmt.Errorf("delimiter %q: use another ASCII character", d)
	case o.Quote != None && special(o.Quote), o.Quote == d && d != 0:
		return fmt.Errorf("quote %q: use another ASCII character", o.Quote)
	case o.Escape != None && special(o.Escape):
		return fmt.Errorf("escape %q: use another ASCII character", o.Escape)
	case o.Comment != None && special(o.Comment), o.Comment == d && d != 0:
		return fmt.Errorf("comment %q: use another ASCII character", o.Comment)
	case o.LineEnd != 0 && o.LineEnd != '\n' && o.LineEnd != '\r':
		return errors.New(`lines end in '\n' or '\r'`)
	case o.Decimal != 0 && o.Decimal == o.Thousands, o.Thousands == '.' && o.Decimal == 0:
		return fmt.Errorf("numbers cannot have %q both before fractions and between thousands", o.Thousands)
	}
	for _, c := range []byte{o.Decimal, o.Thousands} {
		if c >= '0' && c <= '9' || c == '-' || c == '+' || c == 'e' || c == 'E' || special(c) {
			return fmt.Errorf("numbers cannot have %q between digits", c)
		}
	}
	return nil
}
