// Package columns reads and writes shards of one stripe with columns that are known: those that the reference's indexes consist of.
package columns

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stripe/read"
	"github.com/amudai/amudai-go/storage"
)

// File opens the shard in a range of bytes, as [shardfile.OpenIn] finds it, with a small cache for its metadata.
func File(ctx context.Context, at storage.ByteRange) (*shardfile.File, error) {
	return shardfile.OpenIn(ctx, at, shardfile.OpenOptions{CacheBytes: 1 << 20})
}

// Column is a column of an open shard.
type Column struct {
	column  *read.Column
	options table.ReadOptions
}

// Read returns the rows from from up to (not including) to. The caller releases the array.
func (c *Column) Read(ctx context.Context, from, to int64) (arrow.Array, error) {
	return c.column.Read(ctx, rowset.Of(rowset.Range{From: from, To: to}), &c.options)
}

// Table is the columns of an open shard.
type Table struct {
	Columns []*Column // none if there are no rows
	Rows    int64
	Content string // hash of the rows, which [Writer] has written with them; empty if the reference has written the shard
}

// Open opens the columns of a shard of up to one stripe, which are to be those of a schema. Arrays may take up to maxBytes.
func Open(ctx context.Context, f *shardfile.File, s *arrow.Schema, maxBytes int64) (t Table, err error) {
	p, err := f.Properties(ctx)
	if err != nil {
		return t, err
	}
	for _, v := range shardfile.PropertiesFromProto(p.CustomProperties) {
		if v.Name == contentProperty {
			t.Content, _ = v.Value.(string)
		}
	}
	name := f.Root().Name()
	stored, err := f.Schema(ctx)
	if err != nil {
		return t, err
	}
	have, mapped, err := arrowmap.ToArrow(stored, arrowmap.ReadOptions{IgnoreAnnotations: true})
	if err != nil {
		return t, fault.Of(err, name)
	}
	if have.NumFields() != s.NumFields() || f.NumStripes() > 1 {
		return t, fault.Of(fault.Corruptf("index of %d columns and %d stripes", have.NumFields(), f.NumStripes()), name)
	}
	for i, want := range s.Fields() {
		if got := have.Field(i); got.Name != want.Name || !arrow.TypeEqual(got.Type, want.Type) {
			return t, fault.Of(fault.Corruptf("index with a column %q of %v", got.Name, got.Type), name)
		}
	}
	if f.NumStripes() == 0 || f.Rows() == 0 {
		return t, nil
	}
	for _, c := range mapped {
		open, err := read.OpenColumn(ctx, f.Stripe(0), c, read.Options{})
		if err != nil {
			return t, err
		}
		t.Columns = append(t.Columns, &Column{open, table.ReadOptions{MaxArrayBytes: maxBytes}})
	}
	t.Rows = f.Rows()
	return t, nil
}
