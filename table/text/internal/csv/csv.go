// Package csv is the format CSV of package text, which says how values are read and written.
package csv

import (
	"cmp"
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
			o := o // readers go on recognizing the delimiter
			o.Delimiter = cmp.Or(o.Delimiter, usual)
			return create(ctx, out, schema, o)
		},
	}
}
