package read

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
)

// Column reads one column of a stripe as Arrow arrays. It is safe for
// concurrent use.
type Column struct {
	reader  nodeReader // of arrays of the physical type, see stripe.Physical
	column  arrowmap.Column
	wrapped bool // the column's type is not the physical one
	options Options
	rows    int64
	size    int64
	blocks  int64
}

// With is the same column with the Allocator, MaxArrayBytes, Counters and Prefetched
// of o. The other options stay as they were when the column was opened.
func (c *Column) With(o Options) *Column {
	with := *c
	with.options.Allocator, with.options.MaxArrayBytes = o.Allocator, o.MaxArrayBytes
	with.options.Counters, with.options.Prefetched = o.Counters, o.Prefetched
	with.options.setDefaults()
	return &with
}

// WithPrefetched is the same column with bytes that were read before; nil changes nothing.
func (c *Column) WithPrefetched(f storage.Prefetched) *Column {
	if f == nil {
		return c
	}
	with := *c
	with.options.Prefetched = f
	return &with
}

// Blocks is the number of blocks of all buffers of the column.
func (c *Column) Blocks() int64 { return c.blocks }

// Size is an estimate of the bytes of memory that the open column takes.
func (c *Column) Size() int64 { return c.size }

// OpenColumn opens a column. It reads the descriptors of its nodes and the block
// maps of their buffers, and no data.
func OpenColumn(ctx context.Context, src stripe.Source, col arrowmap.Column, o Options) (c *Column, err error) {
	defer fault.Recover(&err)
	o.setDefaults()
	op := opener{src: src, options: o}
	physical, wrapped := stripe.Physical(col)
	reader, err := op.open(ctx, &physical, src.Rows())
	if err != nil {
		return nil, err
	}
	o.Prefetched, o.Counters = nil, nil // the column may stay open for long
	return &Column{reader: reader, column: col, wrapped: wrapped, options: o, rows: src.Rows(), size: op.size, blocks: op.blocks}, nil
}

// Read returns the rows from from up to (not including) to, counted from the start
// of the stripe, as an array of the column's Arrow type. The caller releases it; its
// memory never changes. An error that wraps [fault.ErrBatchTooLarge] means that
// fewer rows may work.
func (c *Column) Read(ctx context.Context, from, to int64) (arrow.Array, error) {
	if from < 0 || from > to || to > c.rows {
		return nil, fmt.Errorf("rows %d to %d of a stripe of %d rows", from, to, c.rows)
	}
	return c.ReadRows(ctx, rowset.Of(rowset.Range{From: from, To: to}))
}

// ReadRows is [Column.Read] for a set of rows, which come in ascending order.
// Blocks that hold none of them are neither read nor decoded.
func (c *Column) ReadRows(ctx context.Context, rows rowset.Set) (arr arrow.Array, err error) {
	defer fault.Recover(&err)
	if err := c.check(rows); err != nil {
		return nil, err
	}
	return c.readLogical(ctx, rows)
}

// ReadPhysical is [Column.ReadRows] for an array of the column's physical type (see
// [stripe.Physical]).
func (c *Column) ReadPhysical(ctx context.Context, rows rowset.Set) (arr arrow.Array, err error) {
	defer fault.Recover(&err)
	if err := c.check(rows); err != nil {
		return nil, err
	}
	return c.read(ctx, rows)
}

func (c *Column) check(rows rowset.Set) error {
	if b := rows.Bounds(); b.From < 0 || b.To > c.rows {
		return fmt.Errorf("rows %d to %d of a stripe of %d rows", b.From, b.To, c.rows)
	}
	return nil
}

func (c *Column) readLogical(ctx context.Context, rows rowset.Set) (arrow.Array, error) {
	if arr, ok, err := c.readCoded(ctx, rows); ok {
		return arr, err
	}
	physical, err := c.read(ctx, rows)
	if err != nil || !c.wrapped {
		return physical, err
	}
	defer physical.Release()
	arr, err := stripe.Logical(c.options.Allocator, physical, c.column)
	if err != nil {
		return nil, wrapColumn(err, &c.column)
	}
	return arr, nil
}

func (c *Column) read(ctx context.Context, rows rowset.Set) (arrow.Array, error) {
	if err := ctx.Err(); err != nil {
		return nil, err // constants need no I/O that would notice
	}
	w := getWorker(&c.options)
	defer w.put()
	return c.reader.read(ctx, w, rows)
}

// ByteRanges appends the byte ranges that reading rows takes, as far as they are known
// beforehand: not those of the items of lists, which only offsets tell, nor of a value
// dictionary.
func (c *Column) ByteRanges(dst []storage.ByteRange, rows rowset.Set) []storage.ByteRange {
	w := getWorker(&c.options)
	defer w.put()
	c.reader.need(w, rows, func(p storage.ByteRange) { dst = append(dst, p) })
	return dst
}

// DataSize is the bytes of all ranges of [Column.ByteRanges].
func (c *Column) DataSize() int64 {
	if c.rows == 0 {
		return 0
	}
	return storage.TotalSize(c.ByteRanges(nil, rowset.All(c.rows)))
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
func (c *Column) selected(rows rowset.Set, find func(w *worker) ([]byte, error)) (out rowset.Set, err error) {
	defer fault.Recover(&err)
	if err := c.check(rows); err != nil {
		return out, err
	}
	w := getWorker(&c.options)
	defer w.put()
	bits, err := find(w)
	if err != nil {
		return out, wrapColumn(err, &c.column)
	}
	return rows.Select(bits), nil
}
