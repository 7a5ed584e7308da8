// Package csv reads and writes comma-separated values after RFC 4180, with a
// header record, as Arrow record batches. Other dialects, encodings and notations are recognized in the first bytes;
// notices and [Options] have the details.
//
// A field without text is null. A quoted field without text ("") is the empty string in a column of text or bytes,
// and null in other columns, which have no empty value. The writer quotes empty strings, so that both come back. In a
// file with one column, an empty line is a null.
package csv

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/table/provider"
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
			if o.Delimiter == 0 {
				o.Delimiter = usual
			}
			return create(ctx, out, schema, o)
		},
	}
}
