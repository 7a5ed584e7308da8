package table

import (
	"context"

	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/source"
	"github.com/amudai/amudai-go/storage"
)

// PlainStripe is a part of stripes that hide no rows, and that have neither indexes nor metadata to read. A stripe has methods of its own for
// what it has.
type PlainStripe struct{}

// Visible implements [Stripe].
func (PlainStripe) Visible(context.Context) (*rowset.Set, error) { return nil, nil }

// PrefetchMetadata implements [Stripe].
func (PlainStripe) PrefetchMetadata(context.Context, []Column) error { return nil }

// RawRowBytes implements [Stripe].
func (PlainStripe) RawRowBytes() (bytes int64, known bool) { return 0, false }

// Pages implements [Stripe].
func (PlainStripe) Pages(context.Context, *Column, storage.Prefetched) (*source.Pages, error) {
	return nil, nil
}

// Indexes implements [Stripe].
func (PlainStripe) Indexes(context.Context, []FilterColumn, bool) ([]source.Index, error) {
	return nil, nil
}
