// Package reference has columns of stripes that are in Parquet files, where descriptors refer to their column chunks: references are followed and
// checked, and made. The reader that package external has opens the files.
package reference

import (
	"context"
	"errors"
	"slices"
	"sort"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/lru"
	"github.com/amudai/amudai-go/internal/engine/external"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
)

// Files are the Parquet files that the stripes of a shard refer to. They stay open with the shard, and the footers of the latest ones in memory.
type Files struct {
	columns func(context.Context) (*table.Projection, error) // all of the shard
	opened  *lru.Cache[storage.Reader, *file]
	mu      sync.Mutex
	all     *table.Projection
	sums    map[int][]any // checksums of the footers, by stripe
}

// cachedFooters is the number of footers in memory.
const cachedFooters = 64

// NewFiles returns the files of a shard with some columns.
func NewFiles(columns func(context.Context) (*table.Projection, error)) *Files {
	return &Files{columns: columns, opened: lru.New[storage.Reader, *file](cachedFooters), sums: map[int][]any{}}
}

// file is an open Parquet file.
type file struct {
	external.File
	columns []table.Column // all of the file
	mu      sync.Mutex
	nodes   map[uint32]nodes // by top-level schema id of the shard
}

// nodes are the nodes of a column in a Parquet file, by their schema ids in the shard.
type nodes map[uint32]*table.Column

// Column is a top-level column of a stripe in a Parquet file.
type Column struct {
	table.Stripe // of the file
	file         table.Table
	nodes        nodes
}

// Column follows the reference of a top-level column, or of a part of one, in a stripe. It returns nil if the column is not in a Parquet file.
func (x *Files) Column(ctx context.Context, s *shardfile.Stripe, c *table.Column) (*Column, error) {
	d, err := s.Descriptor(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	encoding := stripe.ParquetEncoding(d)
	if encoding == nil {
		return nil, nil
	}
	column, err := x.follow(ctx, s, c, encoding)
	if errors.Is(err, fault.ErrUnsupported) && stripe.NativeEncoding(d) != nil {
		return nil, nil
	}
	if err != nil {
		return nil, fault.InStripe(fault.InColumn(err, schema.Escape(c.Arrow.Name)), s.Index())
	}
	return column, nil
}

func (x *Files) follow(ctx context.Context, s *shardfile.Stripe, c *table.Column, encoding *shardpb.ExternalParquetDataEncoding) (*Column, error) {
	if n := len(encoding.FileColumnRefs); n != 1 || len(encoding.FileColumnRefs[0].GetColumnChunks()) != 1 {
		return nil, fault.Unsupportedf("not exactly one column chunk of a Parquet file")
	}
	ref := encoding.FileColumnRefs[0]
	chunk := ref.ColumnChunks[0]
	if chunk.FileUrl != nil && *chunk.FileUrl != ref.FileRef.GetUrl() {
		return nil, fault.Unsupportedf("a column chunk in another Parquet file, %s, than its footer", *chunk.FileUrl)
	}
	r, err := s.Artifact(ctx, c.ID, &commonpb.DataRef{Url: ref.FileRef.GetUrl()})
	if err != nil {
		return nil, err
	}
	f, err := x.open(ctx, s, r, ref.FileRef)
	if err == nil {
		err = f.check(chunk, s.Rows())
	}
	if err != nil {
		return nil, fault.Of(err, r.Name())
	}
	if len(x.all.Columns) == 0 { // but internal ones
		return nil, fault.Unsupportedf("an internal field in a Parquet file")
	}
	n, err := f.nodesOf(c.ID, int(chunk.ColumnChunkId), x.all.Columns)
	if err != nil {
		return nil, fault.Of(err, r.Name())
	}
	if n[c.ID] == nil {
		return nil, fault.Unsupportedf("a part that the column of the Parquet file does not have")
	}
	return &Column{Stripe: f.Stripe(int(chunk.RowGroupId)), file: f.File, nodes: n}, nil
}

// open opens a file, and checks that it is the one that the stripe refers to.
func (x *Files) open(ctx context.Context, s *shardfile.Stripe, r storage.Reader, ref *commonpb.DataRef) (*file, error) {
	size, err := r.Size(ctx)
	if err != nil {
		return nil, err
	}
	if start, end := ref.GetRange().GetStart(), ref.GetRange().GetEnd(); start != 0 || end != uint64(size) {
		return nil, fault.Corruptf("the Parquet file has %d bytes, the shard refers to %d: the file was changed", size, end-start)
	}
	sums, err := x.sumsOf(ctx, s)
	if err != nil {
		return nil, err
	}
	f, ok := x.opened.Get(r)
	if !ok {
		if f, err = x.read(ctx, r); err != nil {
			return nil, err
		}
		x.opened.Put(r, f, 1)
	}
	if sums == nil || slices.Contains(sums, any(f.Checksum())) { // other writers may record none
		return f, nil
	}
	return nil, fault.Corruptf("the Parquet file has another footer than the one that the shard refers to: the file was changed")
}

func (x *Files) read(ctx context.Context, r storage.Reader) (*file, error) {
	as, err := x.projection(ctx)
	if err != nil {
		return nil, err
	}
	f, err := external.Open(ctx, r, as.Schema)
	if err != nil {
		return nil, err
	}
	p, err := f.Project(ctx, nil)
	if err != nil {
		return nil, err
	}
	return &file{File: f, columns: p.Columns, nodes: map[uint32]nodes{}}, nil
}

// projection is all columns of the shard.
func (x *Files) projection(ctx context.Context) (*table.Projection, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var err error
	if x.all == nil {
		x.all, err = x.columns(ctx)
	}
	return x.all, err
}

// sumsOf are the checksums of the footers that a stripe refers to.
func (x *Files) sumsOf(ctx context.Context, s *shardfile.Stripe) ([]any, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	sums, known := x.sums[s.Index()]
	if known {
		return sums, nil
	}
	m, err := s.Properties(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range shardfile.PropertiesFromProto(m.StandardProperties) {
		if p.Name == shardfile.PropertyFooters {
			sums, _ = p.Value.([]any)
		}
	}
	x.sums[s.Index()] = sums
	return sums, nil
}

// check compares the reference to a column chunk with the footer, and the rows of its group with those of the stripe.
func (f *file) check(ref *shardpb.ParquetColumnChunkRef, rows int64) error {
	if uint64(ref.RowGroupId) >= uint64(f.NumStripes()) {
		return fault.Corruptf("row group %d, the Parquet file has %d", ref.RowGroupId, f.NumStripes())
	}
	group := int(ref.RowGroupId)
	if n := f.Stripe(group).Rows(); n != rows {
		return fault.Corruptf("row group %d has %d rows, the stripe has %d", group, n, rows)
	}
	if len(f.columns) == 0 || uint64(ref.ColumnChunkId) >= uint64(f.Leaves()) {
		return fault.Corruptf("column chunk %d, the Parquet file has %d", ref.ColumnChunkId, f.Leaves())
	}
	c, err := f.Chunk(group, int(ref.ColumnChunkId))
	if err != nil {
		return err
	}
	if want := refTo(c, group, int(ref.ColumnChunkId)); ref.StorageType != want.StorageType || ref.SchemaElementId != want.SchemaElementId ||
		ref.GetDataPagesRange().GetStart() != want.DataPagesRange.Start || ref.GetDataPagesRange().GetEnd() != want.DataPagesRange.End {
		return fault.Corruptf("column chunk %d of row group %d is not as the shard refers to it", ref.ColumnChunkId, group)
	}
	return nil
}

// nodesOf are the nodes of the column of the file that has a leaf, which is a column of the shard with an id, or a part of one.
func (f *file) nodesOf(id uint32, leaf int, columns []table.Column) (nodes, error) {
	own := &columns[max(sort.Search(len(columns), func(i int) bool { return columns[i].ID > id })-1, 0)]
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.nodes[own.ID]; n != nil {
		return n, nil
	}
	top := sort.Search(len(f.columns), func(i int) bool { return f.Leaf(&f.columns[i]) > leaf }) - 1
	c := &f.columns[max(top, 0)]
	if !arrow.TypeEqual(c.Arrow.Type, own.Arrow.Type) {
		return nil, fault.Corruptf("the column %q of the Parquet file is %s, the shard has %s", c.Arrow.Name, c.Arrow.Type, own.Arrow.Type)
	}
	n := nodes{}
	n.add(own, c)
	f.nodes[own.ID] = n
	return n, nil
}

// add adds a column and the columns below it. Intervals have parts in a shard only.
func (n nodes) add(own, of *table.Column) {
	n[own.ID] = of
	for i := range min(len(own.Children), len(of.Children)) {
		n.add(&own.Children[i], &of.Children[i])
	}
}
