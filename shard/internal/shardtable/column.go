package shardtable

import (
	"context"
	"errors"
	"hash/maphash"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/engine/valueset"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/read"
	"github.com/amudai/amudai-go/storage"
)

// column is a column of a stripe as a [table.ColumnReader].
type column struct {
	c    *read.Column
	flat bool // values are rows
}

func (c column) with(o *table.ReadOptions) *read.Column {
	options := read.Options{Allocator: o.Allocator, MaxArrayBytes: o.MaxArrayBytes, Prefetched: o.Prefetched}
	if n, ok := o.Counters.(*counters); ok {
		options.Counters = &n.Counters
	}
	return c.c.With(options)
}

// place adds the row to an error. In nested columns errors count items, not rows.
func (c column) place(err error) error {
	var value *stripe.ValueError
	if c.flat && errors.As(err, &value) {
		return &table.RowError{Row: value.Row, Err: err}
	}
	return err
}

func (c column) Read(ctx context.Context, rows rowset.Set, o *table.ReadOptions) (arrow.Array, error) {
	arr, err := c.with(o).ReadRows(ctx, rows)
	return arr, c.place(err)
}

func (c column) ReadPhysical(ctx context.Context, rows rowset.Set, o *table.ReadOptions) (arrow.Array, error) {
	arr, err := c.with(o).ReadPhysical(ctx, rows)
	return arr, c.place(err)
}

func (c column) AppendRanges(dst []storage.ByteRange, rows rowset.Set) []storage.ByteRange {
	return c.c.ByteRanges(dst, rows)
}

func (c column) Blocks() int64 { return c.c.Blocks() }

func (c column) Entries(ctx context.Context) (arrow.Array, error) { return c.c.Entries(ctx) }

func (c column) SelectCodes(ctx context.Context, rows rowset.Set, keep []byte, o *table.ReadOptions) (rowset.Set, error) {
	return c.with(o).SelectCodes(ctx, rows, keep)
}

func (c column) Repeat(ctx context.Context, entry int, n int64, o *table.ReadOptions) (arrow.Array, error) {
	return c.with(o).Repeat(ctx, entry, n)
}

func (c column) FindNumbers(ctx context.Context, rows rowset.Set, test predicate.Test, o *table.ReadOptions) (rowset.Set, bool, error) {
	var wanted read.Numbers
	switch t := test.(type) {
	case valueset.Ints:
		wanted.Ints = intervals(t)
	case valueset.Decimals:
		wanted.Ints = intervals(t.Int64())
	case valueset.Uints:
		wanted.Uints = intervals(t)
	case valueset.Floats:
		wanted.Floats = intervals(t.Intervals)
	default:
		return rowset.Set{}, false, nil
	}
	return c.with(o).SelectNumbers(ctx, rows, wanted)
}

func intervals[T numeric.Value](in []valueset.Interval[T]) []numeric.Interval[T] {
	out := make([]numeric.Interval[T], len(in))
	for i, v := range in {
		out[i] = numeric.Interval[T]{Low: v.Lo, High: v.Hi}
	}
	return out
}

func (c column) FindInBlocks(ctx context.Context, rows rowset.Set, holds table.Holds, required table.Required, o *table.ReadOptions) (rowset.Set, bool, error) {
	return c.with(o).SelectBlocks(ctx, rows, holds, bytestring.Required(required))
}

// columnKey identifies a column of a stripe, the schema nodes that are read of it, and the layout of its arrays.
type columnKey struct {
	stripe int
	nodes  uint64 // hash of their schema ids and layouts
	id     uint32
	count  int
}

var columnSeed = maphash.MakeSeed()

func keyOf(index int, c *table.Column) columnKey {
	ids := appendIDs(nil, c)
	var h maphash.Hash
	h.SetSeed(columnSeed)
	for _, id := range ids {
		h.Write([]byte{byte(id), byte(id >> 8), byte(id >> 16), byte(id >> 24)})
	}
	writeLayout(&h, c)
	return columnKey{index, h.Sum64(), c.ID, len(ids)}
}

// appendIDs appends the schema ids of a column's nodes.
func appendIDs(ids []uint32, c *table.Column) []uint32 {
	ids = append(ids, c.ID)
	for i := range c.Children {
		ids = appendIDs(ids, &c.Children[i])
	}
	return ids
}

// writeLayout writes the parts of Arrow types that distinguish columns of the same nodes.
func writeLayout(h *maphash.Hash, c *table.Column) {
	h.WriteByte(byte(c.Plain.ID()))
	if len(c.Wraps) > 0 {
		h.WriteString(c.Arrow.Type.String())
	}
	for i := range c.Children {
		writeLayout(h, &c.Children[i])
	}
}

func (t *Table) isOpen(index int, c *table.Column) bool {
	_, ok := t.columns.Get(keyOf(index, c))
	return ok
}

// Open implements [table.Stripe].
func (s tableStripe) Open(ctx context.Context, col *table.Column, keep bool, prefetched func() (storage.Prefetched, error)) (table.ColumnReader, error) {
	t := s.table
	key := keyOf(s.Index(), col)
	flat := len(col.Children) == 0
	if c, ok := t.columns.Get(key); ok {
		return column{c, flat}, nil
	}
	o := read.Options{MaxBlockBytes: t.o.MaxBlockBytes, MaxDictionaryBytes: t.o.MaxDictionaryBytes}
	var err error
	if o.Prefetched, err = prefetched(); err != nil {
		return nil, err
	}
	c, err := read.OpenColumn(ctx, s.Stripe, *col, o)
	if err != nil {
		return nil, column{flat: flat}.place(err)
	}
	if keep {
		t.columns.Put(key, c, c.Size())
	}
	return column{c, flat}, nil
}
