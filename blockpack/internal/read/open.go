// Package read reads the spans of a Blockpack file into Arrow arrays, block by block.
//
// A [Table] is what the scan engine reads: blocks are its stripes. It reads a part of the file when it is first asked
// for it:
//
//	footer, metadata         Open               blocks, and what is known of them without reading them
//	heads of all blocks      Load               their columns; not of files that list their columns
//	head of a block          Stripe.Metadata    extents and statistics of columns
//	data of a column         ColumnReader       decoded as far as it is asked for
//
// Statistics and indexes of files of other writers may be wrong, and are not believed.
package read

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/read/internal/lazy"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/blockpack/internal/summary"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/lru"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
)

// Options are those of [Open]. The zero value is the default.
type Options struct {
	Binary, RawTimes, Events bool

	Distrust    bool // statistics and indexes are not believed, as in files of other writers
	SuffixBytes int
	CacheBytes  int64 // of decoded columns, and of heads of blocks; default 64 MiB each
}

const (
	defaultCacheBytes = 64 << 20
	remoteTail        = 1 << 20 // bytes at the end that take about as long as fewer
)

// storedKey names a column of a block.
type storedKey struct{ block, column int }

// Table is a Blockpack file as a table of the engine. It may be used by many goroutines at once.
type Table struct {
	o      Options
	reader *table.Counted
	file   *layout.File

	loading sync.Mutex
	blocks  blockList
	columns atomic.Pointer[columnList] // nil until Load

	heads  *lru.Cache[int, *head]
	stored *lru.Cache[storedKey, *lazy.Column]
	whole  *lru.Cache[int, []byte] // blocks that were read ahead
	guess  atomic.Int64            // bytes of the largest head so far

	summaries *lru.Cache[int, *summary.Section]
	places    *lru.Cache[int, summary.Places]

	projections table.Projections

	idReads atomic.Int64    // blocks of which trace ids were decoded for some rows
	traceOf func() []uint32 // the entry of the trace index of each row, as [layout.TraceIndex.OfRows] has it
}

// blockList is what the metadata says.
type blockList struct {
	meta      *layout.Metadata
	firstRows []int64 // of each block, and the number of all rows
	stripes   []block
	trusted   bool // statistics and indexes are believed
	writer    string
}

// columnList is the columns of the file.
type columnList struct {
	fields   []spans.Field
	arrow    *arrow.Schema
	physical *arrow.Schema
	byKey    map[column.Key]int
}

// Open reads the end of a file, and its metadata. The reader stays the caller's.
func Open(ctx context.Context, r storage.Reader, o Options) (*Table, error) {
	o.CacheBytes = cmp.Or(o.CacheBytes, defaultCacheBytes)
	t := &Table{
		o: o, reader: &table.Counted{Reader: r},
		heads: lru.New[int, *head](o.CacheBytes), stored: lru.New[storedKey, *lazy.Column](o.CacheBytes), whole: lru.New[int, []byte](aheadBytes),
		summaries:   lru.New[int, *summary.Section](o.CacheBytes),
		places:      lru.New[int, summary.Places](o.CacheBytes),
		projections: table.NewProjections(),
	}
	if o.SuffixBytes == 0 && t.Latency() == storage.LatencyHigh {
		o.SuffixBytes = remoteTail
	}
	var err error
	t.file, err = layout.Open(ctx, t.reader, o.SuffixBytes)
	if err != nil {
		return nil, err
	}
	t.setBlocks(t.file.Metadata)
	return t, nil
}

// setBlocks takes what the metadata says.
func (t *Table) setBlocks(m *layout.Metadata) {
	l := &t.blocks
	l.meta, l.firstRows, l.stripes, l.writer = m, m.FirstRows(), make([]block, len(m.Blocks)), m.Ranges.Mark()
	for i := range m.Blocks {
		l.stripes[i] = block{table: t, index: i}
	}
	t.traceOf = sync.OnceValue(func() []uint32 { return m.Traces.OfRows(l.firstRows) })
	l.trusted = l.writer != "" && !t.o.Distrust
}

// rows is the number of rows of a block.
func (l *blockList) rows(i int) int64 { return l.firstRows[i+1] - l.firstRows[i] }

// Load finds the columns of the file, unless that is done. Only then the table has columns.
func (t *Table) Load(ctx context.Context) error {
	if t.columns.Load() != nil {
		return nil
	}
	t.loading.Lock()
	defer t.loading.Unlock()
	return fault.Of(t.load(ctx), t.reader.Name())
}

func (t *Table) load(ctx context.Context) error {
	if t.columns.Load() != nil {
		return nil
	}
	fields, err := t.fields(ctx)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	t.columns.Store(newColumnList(fields, t.o))
	return nil
}

func newColumnList(fields []spans.Field, o Options) *columnList {
	spans.Order(fields)
	all := spans.Options{BinaryText: o.Binary, UintTimes: o.RawTimes, Events: o.Events}
	plain := all
	plain.Events = false
	l := &columnList{fields: fields, arrow: spans.Schema(fields, all), physical: spans.Schema(fields, plain), byKey: make(map[column.Key]int, len(fields))}
	for i, f := range fields {
		l.byKey[f.Key()] = i
	}
	return l
}

// fields are the columns of the file: as it lists them, or those of all blocks.
func (t *Table) fields(ctx context.Context) ([]spans.Field, error) {
	l := &t.blocks
	if listed, ok := l.meta.Ranges.FileColumns(); ok {
		seen := map[column.Key]bool{}
		return slices.DeleteFunc(listed, func(f column.Field) bool {
			again := seen[f.Key()]
			seen[f.Key()] = true
			return again
		}), nil
	}
	var lock sync.Mutex
	found := map[column.Key]column.Traits{}
	err := t.eachHead(ctx, func(h *head) {
		lock.Lock()
		defer lock.Unlock()
		for i := range h.Columns {
			k := h.Columns[i].Key()
			found[k] |= h.traits(i)
		}
	})
	if err != nil {
		return nil, err
	}
	fields := make([]spans.Field, 0, len(found))
	for k, traits := range found {
		fields = append(fields, spans.Field{Name: k.Name, Type: k.Type, Flags: traits})
	}
	slices.SortFunc(fields, func(a, b spans.Field) int { return a.Key().Compare(b.Key()) })
	return fields, nil
}

// traits are what the statistics of a column tell about its Arrow type: nothing depends on them but the type. A value that the
// type does not hold is an error.
func (h *head) traits(i int) column.Traits {
	if c := &h.Columns[i]; c.Type.Base() == column.Uint64 {
		if s := h.stats(i); s.Known && s.Max.Bits >= 1<<63 {
			return column.Large
		}
	}
	return 0
}

// eachHead calls f with the heads of all blocks, from several goroutines.
func (t *Table) eachHead(ctx context.Context, f func(*head)) error {
	n := t.NumStripes()
	parts := (n + storage.RemoteRequests - 1) / storage.RemoteRequests
	return parallel.Each(ctx, parts, runtime.GOMAXPROCS(0), func(ctx context.Context, part int) (err error) {
		defer fault.Recover(&err)
		var ids []int
		for i := part * storage.RemoteRequests; i < min((part+1)*storage.RemoteRequests, n); i++ {
			ids = append(ids, i)
		}
		heads, err := t.readHeads(ctx, ids)
		if err != nil {
			return err
		}
		for _, h := range heads {
			if h != nil {
				f(h)
			}
		}
		return ctx.Err()
	})
}

// ArrowSchema is the schema of all columns, after Load.
func (t *Table) ArrowSchema() *arrow.Schema { return t.columns.Load().arrow }

// Writer is the mark of the writer.
func (t *Table) Writer() string { return t.blocks.writer }

// Metadata is the parsed metadata.
func (t *Table) Metadata() *layout.Metadata { return t.blocks.meta }
