package read

import (
	"context"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
)

// Listing is what is known of an ntuple, whether its values can be read or not.
type Listing struct {
	Format   string // as its anchor says
	Releases string // of ROOT that write this format
	Anchor   envelope.Anchor

	// Schema and Footer are nil if they cannot be read.
	Schema *envelope.Schema
	Footer *envelope.Footer

	Table *Table // nil if Err is not
	Err   error  // why values cannot be read
}

// List reads what is known of an ntuple. The error is one of its anchor, or of reading.
func List(ctx context.Context, file *rootfile.File, object rootfile.Object) (*Listing, error) {
	anchor, err := readAnchor(ctx, file, object)
	if err != nil {
		return nil, err
	}
	l := &Listing{Format: anchor.Format.String(), Releases: anchor.Releases(), Anchor: anchor}
	if !anchor.Format.ListedOnly() {
		l.Format = anchor.Version.String()
	}
	l.Table, l.Err = openAnchor(ctx, file, object.Path(), anchor, Options{})
	switch {
	case l.Err == nil:
		l.Schema, l.Footer = l.Table.schema, l.Table.footer
	case !fault.Is(l.Err):
		return nil, l.Err
	case anchor.Format.ListedOnly():
		if err := l.early(ctx, file); err != nil && !fault.Is(err) {
			return nil, err
		}
	}
	return l, nil
}

// early reads the schema and the counts of a format that is listed only.
func (l *Listing) early(ctx context.Context, file *rootfile.File) error {
	t := &Table{file: file, anchor: l.Anchor}
	both, err := t.envelopes(ctx, []envelope.Link{l.Anchor.Header, l.Anchor.Footer})
	if err == nil {
		l.Schema, l.Footer, err = envelope.ParseListing(both[0], both[1])
	}
	return err
}
