package read

import (
	"context"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/read/internal/lazy"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/source"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
)

// block is a [table.Stripe].
type block struct {
	table.PlainStripe
	table *Table
	index int
}

func (b block) Index() int { return b.index }

func (b block) Position() int64 { return b.table.blocks.firstRows[b.index] }

func (b block) Rows() int64 { return b.table.blocks.rows(b.index) }

// PrefetchMetadata implements [table.Stripe]: it reads the head of the block.
func (b block) PrefetchMetadata(ctx context.Context, _ []table.Column) error {
	if b.Rows() == 0 {
		return nil
	}
	_, err := b.table.head(ctx, b.index)
	return err
}

// find is the head of the block, and the number of a column in it. It is -1 if the block lacks the column.
func (b block) find(ctx context.Context, c *table.Column) (*head, int, error) {
	if b.Rows() == 0 {
		return nil, -1, nil
	}
	l := &b.table.blocks
	f := &b.table.columns.Load().fields[c.ID]
	if l.trusted && !b.table.heads.Has(b.index) && !l.meta.MayHaveColumn(b.index, f.Name) {
		return nil, -1, nil
	}
	h, err := b.table.head(ctx, b.index)
	if err != nil {
		return nil, -1, err
	}
	return h, h.Column(f.Name, f.Type), nil
}

// Metadata implements [table.Stripe].
func (b block) Metadata(ctx context.Context, path []*table.Column) (source.Metadata, error) {
	c := path[0]
	m := source.Metadata{Facts: predicate.Facts{NoNulls: !c.Arrow.Nullable}, Direct: true}
	h, i, err := b.find(ctx, c)
	if err != nil {
		return m, err
	}
	if i < 0 {
		m.Facts = predicate.Facts{NoValues: true, NoNaNs: true}
		return m, nil
	}
	m.DictionaryEntries = dictionaryCost
	if l := &b.table.blocks; l.trusted {
		physical := b.table.columns.Load().physical.Field(int(c.ID)).Type
		s := h.stats(i)
		if s.Known {
			m.Facts.Min, m.Facts.Max = limitOf(s.Min, physical), limitOf(s.Max, physical)
		}
	}
	return m, nil
}

// dictionaryCost stands for the unknown number of entries of dictionaries: few enough to look into the dictionary rather than at
// rows.
const dictionaryCost = 16

// limitOf is a bound of a column whose arrays are of a type. There is none for a value that they cannot have.
func limitOf(v column.Value, dt arrow.DataType) predicate.Limit {
	switch v.Type.Base() {
	case column.Int64:
		return predicate.IntLimit(int64(v.Bits))
	case column.Uint64:
		if dt.ID() == arrow.UINT64 {
			return predicate.UintLimit(v.Bits)
		}
		if v.Bits <= math.MaxInt64 {
			return predicate.IntLimit(int64(v.Bits))
		}
	case column.Float64:
		return predicate.FloatLimit(math.Float64frombits(v.Bits))
	case column.Bool:
		return predicate.BoolLimit(v.Bits != 0)
	case column.String, column.Bytes:
		return predicate.BytesLimit(v.Data)
	}
	return predicate.Limit{}
}

// ValueBytes implements [table.Stripe]: by the stored bytes, which are a few times fewer than those of arrays. They are not known
// before the head of the block is read, if the file has no column index.
func (b block) ValueBytes(_ context.Context, c *table.Column) int64 {
	if b.Rows() == 0 {
		return 0
	}
	f := &b.table.columns.Load().fields[c.ID]
	stored := int64(0)
	if h, ok := b.table.heads.Get(b.index); ok {
		if i := h.Column(f.Name, f.Type); i >= 0 {
			stored = h.Columns[i].Length
		}
	} else if e, ok := b.table.blocks.meta.Columns.Column(b.index, f.Name); ok {
		stored = int64(e.Length)
	}
	return min(expansion*stored/b.Rows(), math.MaxInt32)
}

const expansion = 4

// RangesToOpen implements [table.Stripe]: dictionaries are looked into for filters, and for that the data of a column is read.
func (b block) RangesToOpen(ctx context.Context, columns []table.Column, parts table.Parts, limit int64) (ranges []storage.ByteRange, err error) {
	if parts == table.ToOpen {
		return nil, nil
	}
	for k := range columns {
		h, i, err := b.find(ctx, &columns[k])
		if err != nil {
			return nil, err
		}
		if i < 0 || h.Columns[i].Length > limit || b.table.stored.Has(storedKey{b.index, i}) {
			continue
		}
		ranges = b.table.appendColumnRange(ranges, b.index, h, i)
	}
	return ranges, nil
}

// Open implements [table.Stripe].
func (b block) Open(ctx context.Context, c *table.Column, keep bool, prefetched func() (storage.Prefetched, error)) (table.ColumnReader, error) {
	r := &columnReader{block: b, field: int(c.ID), keep: keep}
	h, i, err := b.find(ctx, c)
	if err != nil || i < 0 {
		return r, err
	}
	r.head, r.at = h, i
	var ok bool
	if r.stored, ok = b.table.stored.Get(storedKey{b.index, i}); ok {
		return r, nil
	}
	if r.ahead, err = prefetched(); err != nil {
		return nil, err
	}
	l := &b.table.blocks
	r.stored, err = newStored(ctx, b.table.bytesOf(b.index, r.ahead), h, i, l.writer != "")
	return r, r.place(err)
}

// newStored is a column of a block of which nothing is read, but for columns of its trace table. own tells that this module wrote
// the file: it packs no UUIDs.
func newStored(ctx context.Context, read blockBytes, h *head, i int, own bool) (*lazy.Column, error) {
	c := &h.Columns[i]
	if c.Length == 0 {
		whole, err := traceColumn(ctx, read, h, i)
		if err != nil {
			return nil, err
		}
		return lazy.Decoded(whole), nil
	}
	o := column.DecodeOptions{UUID: h.uuidHint(i)}
	if own {
		o.UUID = column.UUIDPlain
	}
	return lazy.New(c.Name, c.Type.Base(), h.Spans, o), nil
}

// uuidHint tells whether the UUIDs of a column are packed.
func (h *head) uuidHint(i int) column.UUIDHint { return h.stats(i).UUIDHint(h.Columns[i].Type) }
