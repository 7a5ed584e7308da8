package stripe

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/storage"
)

// Column reads one column of a stripe as Arrow arrays. It is safe for
// concurrent use.
type Column struct {
	reader  nodeReader // of bare arrays, see Bare
	column  arrowmap.Column
	dressed bool // its arrays are more than the bare ones
	options ReadOptions
	rows    int64
	size    int64
	blocks  int64
}

// nodeReader reads one schema node and those below it. It is safe for
// concurrent use; scratch memory belongs to the worker.
type nodeReader interface {
	// read gives the slots of a set, in order.
	read(ctx context.Context, w *worker, rows rowset.Set) (arrow.Array, error)
	// need tells which bytes that takes, as far as it is known beforehand.
	need(w *worker, rows rowset.Set, add func(storage.ByteRange))
}

// With is the same column, read with another allocator, another bound of the bytes
// of an array, other counters and other bytes that are at hand; other options stay as they were when it was
// opened.
func (c *Column) With(o ReadOptions) *Column {
	with := *c
	with.options.Allocator, with.options.MaxArrayBytes = o.Allocator, o.MaxArrayBytes
	with.options.Counters, with.options.Prefetched = o.Counters, o.Prefetched
	with.options.setDefaults()
	return &with
}

// WithPrefetched is the same column, with bytes that were read ahead; nil changes nothing.
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

// Size is about how many bytes of memory the open column takes.
func (c *Column) Size() int64 { return c.size }

// OpenColumn opens a column: it fetches the descriptors of its nodes and the
// block maps of their buffers, no data.
func OpenColumn(ctx context.Context, src Source, col arrowmap.Column, o ReadOptions) (c *Column, err error) {
	defer fault.Recover(&err)
	o.setDefaults()
	op := opener{src: src, options: o}
	bare, dressed := Bare(col)
	reader, err := op.open(ctx, &bare, src.Rows())
	if err != nil {
		return nil, err
	}
	o.Prefetched, o.Counters = nil, nil // the column may stay open for long
	return &Column{reader: reader, column: col, dressed: dressed, options: o, rows: src.Rows(), size: op.size, blocks: op.blocks}, nil
}

// Read gives the rows from up to (not including) to, counted from the start of
// the stripe, as an array of the column's Arrow type. The caller releases it;
// it shares memory with nothing that changes. An error that wraps
// [ErrBatchTooLarge] means that fewer rows may work.
func (c *Column) Read(ctx context.Context, from, to int64) (arr arrow.Array, err error) {
	defer fault.Recover(&err)
	if from < 0 || from > to || to > c.rows {
		return nil, fmt.Errorf("rows %d to %d of a stripe of %d rows", from, to, c.rows)
	}
	return c.readDressed(ctx, rowset.Of(rowset.Range{From: from, To: to}))
}

// ReadRows is [Column.Read] for a set of rows, which come in ascending order.
// Blocks that hold none of them are neither read nor decoded.
func (c *Column) ReadRows(ctx context.Context, rows rowset.Set) (arr arrow.Array, err error) {
	defer fault.Recover(&err)
	if err := c.check(rows); err != nil {
		return nil, err
	}
	return c.readDressed(ctx, rows)
}

// ReadBare is [Column.ReadRows] for an array of the column's bare type, see [Bare].
func (c *Column) ReadBare(ctx context.Context, rows rowset.Set) (arr arrow.Array, err error) {
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

func (c *Column) readDressed(ctx context.Context, rows rowset.Set) (arrow.Array, error) {
	if arr, ok, err := c.readCoded(ctx, rows); ok {
		return arr, err
	}
	bare, err := c.read(ctx, rows)
	if err != nil || !c.dressed {
		return bare, err
	}
	defer bare.Release()
	arr, err := Dress(c.options.Allocator, bare, c.column)
	if err != nil {
		return nil, wrapColumn(err, &c.column)
	}
	return arr, nil
}

func (c *Column) read(ctx context.Context, rows rowset.Set) (arrow.Array, error) {
	if err := ctx.Err(); err != nil {
		return nil, err // constants need no I/O that would notice
	}
	w := c.borrow()
	defer workers.Put(w)
	return c.reader.read(ctx, w, rows)
}

// borrow lends a worker for a read of the column; it goes back to workers.
func (c *Column) borrow() *worker {
	w := workers.Get().(*worker)
	w.options = &c.options
	return w
}

// nodeAs is the reader of the column's node, if it is one that can do more.
func nodeAs[R any](c *Column) (r R, ok bool) {
	node := c.reader
	if p, ok := node.(*placedReader); ok {
		node = p.nodeReader
	}
	r, ok = node.(R)
	return r, ok
}

// selected are those of some rows whose bits find sets.
func (c *Column) selected(rows rowset.Set, find func(w *worker) ([]byte, error)) (rowset.Set, error) {
	w := c.borrow()
	defer workers.Put(w)
	bits, err := find(w)
	if err != nil {
		return rowset.Set{}, wrapColumn(err, &c.column)
	}
	return rows.Select(bits), nil
}

// opener makes the readers of one column.
type opener struct {
	src     Source
	options ReadOptions
	size    int64 // estimated memory of the readers
	blocks  int64
}

// readerSize is about what a reader of a node takes in memory, and maybe a decoded
// block of it.
const readerSize = 64 << 10

// unknownCount stands for a number of positions that only data tells.
const unknownCount = -1

// open makes the reader for a node. count is the number of positions that the
// node must have, or unknownCount.
func (op *opener) open(ctx context.Context, col *arrowmap.Column, count int64) (nodeReader, error) {
	d, err := op.src.Descriptor(ctx, col.ID)
	if err != nil {
		return nil, err
	}
	if d == nil {
		return newNullReader(col.Arrow.Type), nil
	}
	if d.GetField() == nil {
		return nil, wrapColumn(fault.Corruptf("stripe descriptor without a field descriptor"), col)
	}
	r, err := op.openNode(ctx, col, d, count)
	if err != nil {
		return nil, wrapColumn(err, col)
	}
	return &placedReader{r, col}, nil
}

// placedReader adds to errors which node they are about.
type placedReader struct {
	nodeReader
	col *arrowmap.Column
}

func (r *placedReader) read(ctx context.Context, w *worker, rows rowset.Set) (arrow.Array, error) {
	arr, err := r.nodeReader.read(ctx, w, rows)
	if err != nil {
		return nil, wrapColumn(err, r.col)
	}
	return arr, nil
}

func wrapColumn(err error, col *arrowmap.Column) error {
	name := cmp.Or(col.Arrow.Name, col.Stored.Name, fmt.Sprintf("(schema id %d)", col.ID))
	return fault.InColumn(err, schema.Escape(name))
}

func (op *opener) openNode(ctx context.Context, col *arrowmap.Column, d *shardpb.StripeFieldDescriptor, count int64) (nodeReader, error) {
	op.size += readerSize
	n := &openNode{opener: op, col: col, field: d.GetField()}
	if got := n.field.GetPositionCount(); count != unknownCount && got != uint64(count) {
		return nil, fault.Corruptf("descriptor counts %d positions, expected %d", got, count)
	}
	if nulls := n.field.NullCount; nulls != nil && *nulls > n.field.GetPositionCount() {
		return nil, fault.Corruptf("descriptor counts %d nulls among %d positions", *nulls, n.field.GetPositionCount())
	}
	native := NativeEncoding(d)
	if native == nil && len(d.GetEncodings()) > 0 {
		return nil, fault.Unsupportedf("column data in a packed group or outside of the shard")
	}
	n.buffers = native.GetBuffers()
	if r, err := n.constant(); r != nil || err != nil {
		return r, err
	}
	return n.open(ctx)
}

// openNode is a node whose descriptor is being turned into a reader.
type openNode struct {
	*opener
	col     *arrowmap.Column
	field   *shardpb.FieldDescriptor
	buffers []*shardpb.EncodedBuffer
}

// NativeEncoding is the encoding of a node that readers take: the first that is
// native and not packed, nil if there is none.
func NativeEncoding(d *shardpb.StripeFieldDescriptor) *shardpb.NativeDataEncoding {
	for _, e := range d.GetEncodings() {
		if native := e.GetNative(); native != nil && !native.GetPackedGroup() {
			return native
		}
	}
	return nil
}

// only refuses what would change the meaning of the values if it were passed
// over: buffers other than those of the given kinds and indexes.
func (n *openNode) only(kinds ...shardpb.BufferKind) error {
	for _, b := range n.buffers {
		if k := b.GetKind(); k != shardpb.BufferKind_RANGE_INDEX && !slices.Contains(kinds, k) {
			return fault.Unsupportedf("%s buffer of a %v column", k, n.col.Stored.Type)
		}
	}
	return nil
}

// nullable tells whether the node may hold nulls.
func (n *openNode) nullable() bool {
	return n.field.NullCount == nil || n.field.GetNullCount() > 0
}

// find gives the buffer of a kind, nil if there is none.
func (n *openNode) find(kind shardpb.BufferKind) *shardpb.EncodedBuffer {
	for _, b := range n.buffers {
		if b.GetKind() == kind {
			return b
		}
	}
	return nil
}

// blocks opens the buffer of a kind.
func (n *openNode) blocks(ctx context.Context, kind shardpb.BufferKind) (*blockReader, error) {
	b := n.find(kind)
	if b == nil {
		return nil, fault.Corruptf("no %s buffer", kind)
	}
	want := bufferValues(n.col.Stored.Type, kind, n.field)
	br, err := openBlocks(ctx, n.src, n.col.ID, b, want, n.options.Prefetched)
	if err != nil {
		return nil, err
	}
	n.size += br.mapSize
	n.opener.blocks += int64(br.blocks.Len())
	if br.blocks.Values() != want {
		return nil, br.wrap(fault.Corruptf("block map holds %d values, expected %d", br.blocks.Values(), want))
	}
	return br, nil
}

// bufferValues is how many values the buffer of a kind of a node has: bits are
// counted in bytes.
func bufferValues(t schema.BasicType, kind shardpb.BufferKind, field *shardpb.FieldDescriptor) uint64 {
	n := field.GetPositionCount()
	switch {
	case kind == shardpb.BufferKind_PRESENCE || t == schema.Boolean:
		return (n + 7) / 8
	case kind == shardpb.BufferKind_OFFSETS:
		return n + 1
	}
	return n
}

// presence opens the PRESENCE buffer, nil if every slot is present.
func (n *openNode) presence(ctx context.Context) (*presenceReader, error) {
	if n.find(shardpb.BufferKind_PRESENCE) == nil {
		return nil, nil
	}
	br, err := n.blocks(ctx, shardpb.BufferKind_PRESENCE)
	if err != nil {
		return nil, err
	}
	return &presenceReader{data: br}, nil
}

// open makes the reader of a node that is neither constant nor absent.
func (n *openNode) open(ctx context.Context) (nodeReader, error) {
	switch n.col.Stored.Type {
	case schema.Boolean:
		return n.openBoolean(ctx)
	case schema.Int8, schema.Int16, schema.Int32, schema.Int64, schema.Float32, schema.Float64, schema.DateTime:
		return n.openPrimitive(ctx)
	case schema.String, schema.Binary, schema.Guid, schema.FixedSizeBinary:
		if isDecimal(n.col.Stored) {
			return n.openDecimal(ctx)
		}
		return n.openBytes(ctx)
	case schema.List, schema.Map:
		return n.openList(ctx)
	case schema.Struct, schema.FixedSizeList:
		return n.openStruct(ctx)
	case schema.Unit:
		return newNullReader(n.col.Plain), nil
	}
	return nil, fault.Unsupportedf("stored type %v", n.col.Stored.Type)
}

// nullReader is a column of nulls.
type nullReader struct {
	dt   arrow.DataType
	size int64 // of a null
}

func newNullReader(dt arrow.DataType) *nullReader {
	return &nullReader{dt: dt, size: nullBytes(dt)}
}

func (r *nullReader) need(*worker, rowset.Set, func(storage.ByteRange)) {}

func (r *nullReader) read(_ context.Context, w *worker, rows rowset.Set) (arrow.Array, error) {
	if err := w.options.checkFree(rows.Len(), r.size); err != nil {
		return nil, err
	}
	return arrowutil.Nulls(w.options.Allocator, r.dt, int(rows.Len())), nil
}
