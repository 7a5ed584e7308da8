// Package read turns the encoded buffers of a stripe into Arrow arrays. Each kind of
// node has its file. A [Column] reads any set of rows, tells which bytes of storage that
// takes, and finds rows by conditions on encoded values.
package read

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/lru"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
	"github.com/amudai/amudai-go/storage"
)

// Options are the options of [OpenColumn].
type Options struct {
	// MaxBlockBytes bounds the decoded size of one block; beyond it reading fails
	// with an error that wraps fault.ErrLimit. Zero means 64 MiB, for blocks of
	// more than 256 KiB 256 times their size, and never more than 1 GiB.
	// MaxDictionaryBytes bounds a value dictionary; zero means 1 GiB.
	MaxBlockBytes      int64
	MaxDictionaryBytes int64
	// Prefetched has bytes that were read before, for several columns at once; others
	// are read when they are needed. An open column does not keep them.
	Prefetched storage.Prefetched
	Kept       *Kept // of many columns; nil: no blocks are kept
}

// Kept are blocks of texts that reads of few rows and searches have parsed.
type Kept = work.Kept

// NewKept keeps blocks of up to most bytes in a cache, which may have other things, too.
func NewKept(cache *lru.Cache[any, any], most int64) *Kept { return work.NewKept(cache, most) }

// Column reads one column of a stripe as Arrow arrays. It is safe for concurrent use. It is a [table.ColumnReader], and a [table.DictionaryReader],
// [table.NumberFinder], [table.NullFinder], [table.Owner], [table.LengthReader] and [table.BlockFinder]. The options of reads may be nil. An error about a value of a flat column is a [table.RowError].
type Column struct {
	reader   nodeReader // of arrays of the physical type, see stripe.Physical
	column   arrowmap.Column
	wrapped  bool  // the column's type is not the physical one
	maxBlock int64 // Options.MaxBlockBytes
	ascii    bool  // all values are texts of ASCII
	rows     int64
	size     *atomic.Int64
	blocks   int64
}

// Blocks is the number of blocks of all buffers of the column.
func (c *Column) Blocks() int64 { return c.blocks }

// Size is an estimate of the bytes of memory that the open column takes.
func (c *Column) Size() int64 { return c.size.Load() }

// OpenColumn opens a column. It reads the descriptors of its nodes and the block
// maps of their buffers, and no data.
func OpenColumn(ctx context.Context, src stripe.Source, col arrowmap.Column, o Options) (c *Column, err error) {
	defer fault.Recover(&err)
	op := opener{src: src, options: o, size: new(atomic.Int64)}
	physical, wrapped := stripe.Physical(col)
	reader, err := op.open(ctx, &physical, src.Rows())
	if err != nil {
		return nil, placeRow(err, &col)
	}
	d, err := src.Descriptor(ctx, col.ID)
	if err != nil {
		return nil, err
	}
	return &Column{ascii: isASCII(d.GetField()), reader: reader, column: col, wrapped: wrapped, maxBlock: o.MaxBlockBytes, rows: src.Rows(), size: op.size, blocks: op.blocks}, nil
}

// placeRow adds the row to an error about a value. In nested columns errors count items, not rows.
func placeRow(err error, col *arrowmap.Column) error {
	var value *stripe.ValueError
	if len(col.Children) == 0 && errors.As(err, &value) {
		return &table.RowError{Row: value.Row, Err: err}
	}
	return err
}

// Read returns rows, counted from the start of the stripe, as an array of the column's Arrow type, in ascending order. The caller releases it; its
// memory never changes, unless the caller does it. Blocks that hold none of the rows are neither read nor decoded. An error that wraps [fault.ErrBatchTooLarge] means that
// fewer rows may work.
func (c *Column) Read(ctx context.Context, rows rowset.Set, o *table.ReadOptions) (arrow.Array, error) {
	return c.withWorker(rows, o, func(w *work.Worker) (arrow.Array, error) {
		if arr, ok, err := c.readCoded(ctx, w, rows); ok {
			return arr, wrapColumn(err, &c.column)
		}
		physical, err := c.read(ctx, w, rows)
		if err != nil || !c.wrapped {
			return physical, err
		}
		defer physical.Release()
		arr, err := stripe.Logical(w.Limits.Allocator, physical, c.column)
		return arr, wrapColumn(err, &c.column)
	})
}

// GivesAway implements [table.Owner].
func (c *Column) GivesAway() {}

// ReadPhysical is [Column.Read] for an array of the column's physical type (see [stripe.Physical]).
func (c *Column) ReadPhysical(ctx context.Context, rows rowset.Set, o *table.ReadOptions) (arrow.Array, error) {
	return c.withWorker(rows, o, func(w *work.Worker) (arrow.Array, error) { return c.read(ctx, w, rows) })
}

// withWorker calls do with the scratch memory for a read of rows.
func (c *Column) withWorker(rows rowset.Set, o *table.ReadOptions, do func(w *work.Worker) (arrow.Array, error)) (arr arrow.Array, err error) {
	defer fault.Recover(&err)
	if b := rows.Bounds(); b.From < 0 || b.To > c.rows {
		return nil, fmt.Errorf("rows %d to %d of a stripe of %d rows", b.From, b.To, c.rows)
	}
	w := work.Get(c.maxBlock, o)
	defer w.Put()
	if arr, err = do(w); err != nil {
		return nil, placeRow(err, &c.column)
	}
	return arr, nil
}

func (c *Column) read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	if err := ctx.Err(); err != nil {
		return nil, err // constants need no I/O that would notice
	}
	return c.reader.Read(ctx, w, rows)
}

// AppendRanges appends the byte ranges that reading rows takes, as far as they are known
// beforehand: not those of the items of lists, which only offsets tell, nor of a value
// dictionary.
func (c *Column) AppendRanges(dst []storage.ByteRange, rows rowset.Set) []storage.ByteRange {
	w := work.Get(c.maxBlock, nil)
	defer w.Put()
	w.Known = dst
	c.reader.Need(w, rows, func(p storage.ByteRange) {
		dst = append(dst, p)
		w.Known = dst
	})
	return dst
}

// nodeAs is the reader of the column's node, if it implements R.
func nodeAs[R any](c *Column) (r R, ok bool) {
	node := c.reader
	if p, ok := node.(*namedReader); ok {
		node = p.nodeReader
	}
	r, ok = node.(R)
	return r, ok
}

// selected is the rows whose bits find sets.
func (c *Column) selected(rows rowset.Set, o *table.ReadOptions, find func(w *work.Worker) ([]byte, error)) (out rowset.Set, err error) {
	_, err = c.withWorker(rows, o, func(w *work.Worker) (arrow.Array, error) {
		bits, err := find(w)
		if err == nil {
			out = rows.Select(bits)
		}
		return nil, wrapColumn(err, &c.column)
	})
	return out, err
}
