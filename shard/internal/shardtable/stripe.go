package shardtable

import (
	"context"
	"math"
	"slices"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/source"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/shard/internal/index/numrange"
	"github.com/amudai/amudai-go/shard/internal/reference"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/pageindex"
	"github.com/amudai/amudai-go/storage"
)

// tableStripe is a stripe as a [table.Stripe].
type tableStripe struct {
	*shardfile.Stripe
	table *Table
}

// PrefetchMetadata implements [table.Stripe]: it reads descriptors.
func (s tableStripe) PrefetchMetadata(ctx context.Context, columns []table.Column) error {
	var ids []uint32
	for i := range columns {
		if !s.table.cache.Has(keyOf(s.Index(), &columns[i])) {
			ids = appendIDs(ids, &columns[i])
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return s.Prefetch(ctx, ids)
}

// Metadata implements [table.Stripe].
func (s tableStripe) Metadata(ctx context.Context, path []*table.Column) (source.Metadata, error) {
	x, err := s.table.references.Column(ctx, s.Stripe, path[0])
	if err != nil {
		return source.Metadata{}, err
	}
	if x != nil {
		return x.Metadata(ctx, path)
	}
	m := source.Metadata{Direct: true}
	nodes := make([]*shardpb.FieldDescriptor, len(path))
	for k, n := range path {
		d, err := s.Descriptor(ctx, n.ID)
		if err != nil {
			return m, err
		}
		nodes[k] = d.GetField()
		if k < len(path)-1 {
			nulls, known := NullsOf(nodes[k])
			m.Apart = m.Apart || isAddressed(n, d)
			m.Direct = m.Direct && nodes[k] != nil && known && nulls == 0 && !m.Apart
		}
	}
	col, d := path[len(path)-1], nodes[len(path)-1]
	m.Facts = FactsOf(path, nodes)
	m.DictionaryEntries = int64(d.GetDictionarySize())
	m.Bloom = bloomOf(col, d)
	return m, nil
}

// isAddressed reports whether alternatives of a union have positions of their own, in any encoding that may be read.
func isAddressed(c *table.Column, d *shardpb.StripeFieldDescriptor) bool {
	return slices.ContainsFunc(stripe.NativeEncodings(d), func(e *shardpb.NativeDataEncoding) bool {
		return stripe.Addressed(c.Stored.Type, e.GetBuffers())
	})
}

// RawRowBytes implements [table.Stripe].
func (s tableStripe) RawRowBytes() (bytes int64, known bool) {
	d := s.Directory()
	if d.RawDataSize == nil || s.Rows() == 0 {
		return 0, false
	}
	return int64(min(*d.RawDataSize, math.MaxInt64)) / s.Rows(), true
}

// ValueBytes implements [table.Stripe].
func (s tableStripe) ValueBytes(ctx context.Context, c *table.Column) int64 {
	x, err := s.table.references.Column(ctx, s.Stripe, c)
	if err != nil {
		return 0
	}
	if x != nil {
		return x.ValueBytes(ctx, c)
	}
	raw := uint64(0)
	for _, id := range appendIDs(nil, c) {
		d, err := s.Descriptor(ctx, id)
		if err != nil {
			return 0
		}
		raw += min(d.GetField().GetRawDataSize(), math.MaxInt32*uint64(max(s.Rows(), 1)))
	}
	return int64(min(raw/uint64(max(s.Rows(), 1)), math.MaxInt32))
}

var partsOf = [...]blocks.Parts{table.ToOpen: blocks.ToOpen, table.ToFilter: blocks.ToFilter, table.AllValues: blocks.Whole}

// RangesToOpen implements [table.Stripe].
func (s tableStripe) RangesToOpen(ctx context.Context, columns []table.Column, parts table.Parts, limit int64) (ranges []storage.ByteRange, err error) {
	for i := range columns {
		of := partsOf[parts]
		if parts != table.AllValues && s.table.cache.Has(keyOf(s.Index(), &columns[i])) {
			if parts == table.ToOpen {
				continue
			}
			of = blocks.OnlyRangeIndexes // which an open column does not have
		}
		var x *reference.Column
		if x, err = s.table.references.Column(ctx, s.Stripe, &columns[i]); x != nil {
			ranges, err = x.RangesToOpen(ctx, ranges, &columns[i], parts, limit)
		} else if err == nil {
			ranges, err = blocks.RangesToOpen(ctx, ranges, s.Stripe, columns[i], of, limit)
		}
		if err != nil && !fault.Is(err) {
			return nil, err
		}
	}
	return ranges, nil
}

// Pages implements [table.Stripe].
func (s tableStripe) Pages(ctx context.Context, c *table.Column, have storage.Prefetched) (*source.Pages, error) {
	x, err := s.table.references.Column(ctx, s.Stripe, c)
	if err != nil {
		return nil, err
	}
	if x != nil {
		return x.Pages(ctx, c, have)
	}
	p, err := pageindex.Open(ctx, s.Stripe, *c, have)
	if p == nil || err != nil {
		return nil, err
	}
	out := &source.Pages{PageRows: numrange.BlockLen, Low: predicate.LimitsOf(p.Lo), High: predicate.LimitsOf(p.Hi), Invalid: p.Invalid}
	if out.Low != nil && out.High != nil {
		out.N = p.Lo.Len()
	}
	return out, nil
}
