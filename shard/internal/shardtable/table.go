// Package shardtable implements the interfaces of package table for a shard. The schema becomes columns of Arrow types, and
// descriptors become facts for sources. Package stripe/read reads the columns.
package shardtable

import (
	"cmp"
	"context"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/protobuf/proto"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/lru"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/reference"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/read"
	"github.com/amudai/amudai-go/storage"
)

// Options are the options of [New]. The zero value selects the defaults.
type Options struct {
	Types              arrowmap.ReadOptions // chooses Arrow types of columns without annotations
	CacheBytes         int64                // half the size of the cache of open columns and blocks, by default 32 MiB
	MaxBlockBytes      int64                // see read.Options
	MaxDictionaryBytes int64
	IndexError         func(err error) // called for each index that cannot be asked; it may be nil
}

// defaultCacheBytes is the default of Options.CacheBytes.
const defaultCacheBytes = 32 << 20

// Table is a shard as a [table.Table].
type Table struct {
	file   *shardfile.File
	schema *schema.Schema
	o      Options

	projections table.Projections
	tops        table.Projections    // of the top-level columns of paths
	cache       *lru.Cache[any, any] // open columns by columnKey, kept blocks, findings by findingKey, facts by factsKey
	kept        *read.Kept
	visible     *lru.Cache[int, *rowset.Set] // of stripes, nil for all rows
	marker      func() (*schema.Node, error) // of deleted records
	references  *reference.Files

	arrow parallel.Once[*arrow.Schema]

	indexes       indexList
	stripeIndexes []indexList
}

// New returns the table of an open shard. The caller closes the shard.
func New(f *shardfile.File, s *schema.Schema, o Options) *Table {
	o.CacheBytes = cmp.Or(o.CacheBytes, defaultCacheBytes)
	cache := lru.New[any, any](2 * o.CacheBytes)
	t := &Table{file: f, schema: s, o: o, cache: cache, kept: read.NewKept(cache, o.CacheBytes/2), visible: lru.New[int, *rowset.Set](o.CacheBytes), marker: sync.OnceValues(s.Marker), projections: table.NewProjections(), tops: table.NewProjections(), stripeIndexes: make([]indexList, f.NumStripes())}
	t.references = reference.NewFiles(func(ctx context.Context) (*table.Projection, error) { return t.Project(ctx, nil) })
	return t
}

type findingKey struct {
	filter string
	stripe int
}

// Finding implements [table.Remembering]. The first question with a filter is only noted, as most are asked once, and remembering takes time.
func (t *Table) Finding(filter string, stripe int) *table.Finding {
	key, rows := findingKey{filter, stripe}, t.file.Stripe(stripe).Rows()
	known, asked := t.cache.Get(key)
	f, _ := known.(*table.Finding)
	size := table.FindingBytes(rows) + int64(len(filter))
	switch {
	case f != nil || size > t.o.CacheBytes/4:
	case !asked:
		t.cache.Put(key, nil, int64(len(filter))+table.FindingBytes(0))
	default:
		f = table.NewFinding(rows)
		t.cache.Put(key, f, size)
	}
	return f
}

// NumRows implements [table.Table].
func (t *Table) NumRows() int64 { return t.file.Rows() }

// NumStripes implements [table.Table].
func (t *Table) NumStripes() int { return t.file.NumStripes() }

// Stripe implements [table.Table].
func (t *Table) Stripe(i int) table.Stripe { return tableStripe{t.file.Stripe(i), t} }

// StoredBytes implements [table.Table].
func (t *Table) StoredBytes() int64 { return t.file.Size() }

// NumNodes implements [table.Table].
func (t *Table) NumNodes() int { return int(t.schema.IDCount()) }

// Latency implements [table.Table].
func (t *Table) Latency() storage.Latency { return t.file.Root().Capabilities().Latency }

// factsKey is the id of a node whose facts are kept.
type factsKey uint32

// Facts implements [table.Table].
func (t *Table) Facts(ctx context.Context, path []*table.Column) (predicate.Facts, error) {
	key, size := factsKey(path[len(path)-1].ID), int64(0)
	if known, ok := t.cache.Get(key); ok {
		return known.(predicate.Facts), nil
	}
	nodes := make([]*shardpb.FieldDescriptor, len(path))
	for k, n := range path {
		d, err := t.file.FieldDescriptor(ctx, n.ID)
		if err != nil {
			return predicate.Facts{}, err
		}
		nodes[k] = ofAllStripes(d, t.NumRows())
		size += factsBytes + int64(proto.Size(nodes[k]))
	}
	facts := FactsOf(path, nodes)
	t.cache.Put(key, facts, size)
	return facts, nil
}

// factsBytes is about the memory of facts beside bounds.
const factsBytes = 512

// ofAllStripes returns the facts of a shard's descriptor that hold for all of its rows. Rows of stripes that lack
// the column are null without being counted. Statistics other than ranges may cover only some stripes.
func ofAllStripes(d *shardpb.FieldDescriptor, rows int64) *shardpb.FieldDescriptor {
	out := &shardpb.FieldDescriptor{PositionCount: d.GetPositionCount(), RangeStats: d.GetRangeStats()}
	if d.GetPositionCount() == uint64(rows) {
		out.NullCount = d.NullCount
	}
	return out
}

// PhysicalType implements [table.Table].
func (t *Table) PhysicalType(c *table.Column) (dt arrow.DataType, same bool) {
	physical, changed := stripe.Physical(*c)
	return physical.Plain, !changed
}

// Logical implements [table.Table].
func (t *Table) Logical(mem memory.Allocator, physical arrow.Array, c *table.Column) (arrow.Array, error) {
	return stripe.Logical(mem, physical, *c)
}

// PrefetchStripes implements [table.Table]: it reads field lists.
func (t *Table) PrefetchStripes(ctx context.Context, stripes []int) error {
	if err := t.file.ReadFieldLists(ctx, stripes); err != nil && !fault.Is(err) {
		return err
	}
	return nil
}

// SharesBytes implements [table.Sharing]: members of packed groups do.
func (t *Table) SharesBytes(ctx context.Context) bool {
	m, err := t.file.Properties(ctx)
	if err != nil {
		return false // and what needs the properties will say so
	}
	names, _ := shardfile.Find(shardfile.PropertiesFromProto(m.StandardProperties), shardfile.PropertyFeatures).(string)
	known, _ := edition.ParseSet(names)
	return known.Has(edition.PackedGroups)
}

// NewCounters implements [table.Table].
func (t *Table) NewCounters() table.Counters { return &blocks.Counters{} }

// Requests implements [table.Table].
func (t *Table) Requests() table.Requests {
	r := t.file.Reads()
	return table.Requests{N: r.Requests, Bytes: r.Bytes, Took: r.Took}
}
