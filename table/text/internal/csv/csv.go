// Package csv is the format CSV of package text, which says how values are read and written.
package csv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/text/charset"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/guess"
)

func init() {
	provider.Register(New(Options{}))
	provider.Register(NewTSV(Options{}))
}

// New returns the format CSV with some options.
func New(o Options) provider.Format { return format("csv", "CSV", o, ',', ",;|", ".csv") }

// NewTSV returns the format with tabs in place of commas.
func NewTSV(o Options) provider.Format { return format("tsv", "TSV", o, '\t', "\t", ".tsv", ".tab") }

// format returns a format whose usual delimiter is that of the writer, and the one expected by the reader. Tables with any of some
// delimiters are recognized.
func format(name, title string, o Options, usual byte, delimiters string, extensions ...string) provider.Format {
	o.Text = o.Text.WithDefaults()
	return provider.Format{
		Name: name, Title: title, Extensions: extensions, Casts: true, Text: true, Inferred: true, Sniff: sniff(delimiters), SniffLast: true,
		Reader: func(ctx context.Context, in provider.Input, ro provider.ReadOptions) (provider.Source, error) {
			return open(ctx, in, ro, o, usual)
		},
		Writer: func(ctx context.Context, out provider.Output, schema *arrow.Schema, _ provider.WriteOptions) (provider.Sink, error) {
			o := o // readers go on recognizing the delimiter
			o.Delimiter = cmp.Or(o.Delimiter, usual)
			return create(ctx, out, schema, o)
		},
	}
}

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
