// Package columns reads and writes shards of one stripe with columns that are known: those that the reference's indexes consist of.
package columns

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stripe/read"
	"github.com/amudai/amudai-go/storage"
)

// OpenIn opens the columns of the shard in a range of bytes, as [shardfile.OpenIn] finds it. See [Open]. content is the hash of the rows that
// [Writer] writes with them; empty if the reference has written the shard.
func OpenIn(ctx context.Context, at storage.ByteRange, s *arrow.Schema, maxBytes int64) (columns []*read.Column, rows int64, content string, err error) {
	f, err := shardfile.OpenIn(ctx, at, shardfile.OpenOptions{CacheBytes: metadataBytes})
	if err != nil {
		return nil, 0, "", err
	}
	p, err := f.Properties(ctx)
	if err != nil {
		return nil, 0, "", err
	}
	for _, v := range shardfile.PropertiesFromProto(p.CustomProperties) {
		if v.Name == contentProperty {
			content, _ = v.Value.(string)
		}
	}
	columns, rows, err = Open(ctx, f, s, maxBytes)
	return columns, rows, content, err
}

// metadataBytes bounds the cache of the shard's metadata, which is small.
const metadataBytes = 1 << 20

// Open opens the columns of a shard of up to one stripe, which are to be those of a schema. None are returned if there are no rows. Arrays may
// take up to maxBytes.
func Open(ctx context.Context, f *shardfile.File, s *arrow.Schema, maxBytes int64) (columns []*read.Column, rows int64, err error) {
	name := f.Root().Name()
	stored, err := f.Schema(ctx)
	if err != nil {
		return nil, 0, err
	}
	have, mapped, err := arrowmap.ToArrow(stored, arrowmap.ReadOptions{IgnoreAnnotations: true})
	if err != nil {
		return nil, 0, fault.Of(err, name)
	}
	if have.NumFields() != s.NumFields() || f.NumStripes() > 1 {
		return nil, 0, fault.Of(fault.Corruptf("index of %d columns and %d stripes", have.NumFields(), f.NumStripes()), name)
	}
	for i, want := range s.Fields() {
		if got := have.Field(i); got.Name != want.Name || !arrow.TypeEqual(got.Type, want.Type) {
			return nil, 0, fault.Of(fault.Corruptf("index with a column %q of %v", got.Name, got.Type), name)
		}
	}
	if f.NumStripes() == 0 || f.Rows() == 0 {
		return nil, 0, nil
	}
	for _, c := range mapped {
		open, err := read.OpenColumn(ctx, f.Stripe(0), c, read.Options{MaxArrayBytes: maxBytes})
		if err != nil {
			return nil, 0, err
		}
		columns = append(columns, open)
	}
	return columns, f.Rows(), nil
}
