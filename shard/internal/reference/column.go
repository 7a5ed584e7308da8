package reference

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/source"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/storage"
)

// in is a column of the shard as a column of the file, of the same Arrow type. It is nil for parts that the file does not have.
func (x *Column) in(c *table.Column) *table.Column {
	of := x.nodes[c.ID]
	if of == nil {
		return nil
	}
	out := *c
	out.ID, out.Children = of.ID, nil
	for i := range c.Children {
		if child := x.in(&c.Children[i]); child != nil {
			out.Children = append(out.Children, *child)
		}
	}
	return &out
}

// Metadata describes the column at the end of a path in the stripe.
func (x *Column) Metadata(ctx context.Context, path []*table.Column) (source.Metadata, error) {
	in := make([]*table.Column, len(path))
	for i, c := range path {
		if in[i] = x.in(c); in[i] == nil {
			return source.Metadata{}, nil
		}
	}
	return x.Stripe.Metadata(ctx, in)
}

// ValueBytes estimates the bytes of a value.
func (x *Column) ValueBytes(ctx context.Context, c *table.Column) int64 {
	return x.Stripe.ValueBytes(ctx, x.in(c))
}

// RangesToOpen appends those of the column.
func (x *Column) RangesToOpen(ctx context.Context, ranges []storage.ByteRange, c *table.Column, parts table.Parts, limit int64) ([]storage.ByteRange, error) {
	of, err := x.Stripe.RangesToOpen(ctx, []table.Column{*x.in(c)}, parts, limit)
	return append(ranges, of...), err
}

// Pages are the bounds in the column index.
func (x *Column) Pages(ctx context.Context, c *table.Column, have storage.Prefetched) (*source.Pages, error) {
	return x.Stripe.Pages(ctx, x.in(c), have)
}

// Open opens the column.
func (x *Column) Open(ctx context.Context, c *table.Column, keep bool, have storage.Prefetched) (table.ColumnReader, error) {
	of := x.in(c)
	prefetched := func() (storage.Prefetched, error) { return have, nil }
	logical, err := x.Stripe.Open(ctx, of, keep, prefetched)
	if err != nil {
		return nil, err
	}
	r := reader{logical, logical, x.file}
	if physical, _ := stripe.Physical(*c); !arrow.TypeEqual(physical.Plain, of.Plain) {
		if r.physical, err = x.Stripe.Open(ctx, x.in(&physical), keep, prefetched); err != nil {
			return nil, err
		}
		return r, nil
	}
	if d, ok := logical.(table.DictionaryReader); ok {
		return codes{r, d}, nil
	}
	return r, nil
}

// reader reads a column of a file. Its physical type in shards may be another than in the file, where it has views, and dictionaries below lists.
type reader struct {
	table.ColumnReader
	physical table.ColumnReader
	file     table.Table
}

// options are those for the file, whose counters are of another type.
func (r *reader) options(o *table.ReadOptions) *table.ReadOptions {
	c, _ := o.Counters.(*blocks.Counters)
	if c == nil {
		return o
	}
	out := *o
	out.Counters = c.Of(r.file)
	return &out
}

// Read implements [table.ColumnReader].
func (r reader) Read(ctx context.Context, rows rowset.Set, o *table.ReadOptions) (arrow.Array, error) {
	return r.ColumnReader.Read(ctx, rows, r.options(o))
}

// ReadPhysical implements [table.ColumnReader].
func (r reader) ReadPhysical(ctx context.Context, rows rowset.Set, o *table.ReadOptions) (arrow.Array, error) {
	return r.physical.ReadPhysical(ctx, rows, r.options(o))
}

// codes is a reader of a column that may be stored as codes of a dictionary.
type codes struct {
	reader
	table.DictionaryReader
}

// SelectCodes implements [table.DictionaryReader].
func (r codes) SelectCodes(ctx context.Context, rows rowset.Set, keep []byte, o *table.ReadOptions) (rowset.Set, error) {
	return r.DictionaryReader.SelectCodes(ctx, rows, keep, r.options(o))
}
