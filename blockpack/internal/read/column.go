package read

import (
	"cmp"
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/read/internal/lazy"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
)

// maxArrayBytes is the default of the memory of an array's values.
const maxArrayBytes = 1 << 30

// columnReader is a column of a block, as a [table.ColumnReader] and [table.DictionaryReader].
type columnReader struct {
	block  block
	field  int          // of the table
	at     int          // of the head of the block
	head   *head        // nil if the block lacks the column
	stored *lazy.Column // nil if the block lacks the column
	ahead  storage.Prefetched
	keep   bool
}

// open reads the data of the column, unless that is done.
func (r *columnReader) open(ctx context.Context, o *table.ReadOptions) error {
	if !r.stored.NeedsBytes() {
		return nil
	}
	c := &r.head.Columns[r.at]
	have := r.ahead
	if o != nil {
		have = append(have[:len(have):len(have)], o.Prefetched...)
		countersOf(o).AddBlock(storedKey{r.block.index, r.at}, c.Length)
	}
	if c.Name == spans.TraceID {
		r.block.table.idReads.Add(1)
	}
	data, err := r.block.table.bytesOf(r.block.index, have)(ctx, c.Offset, c.Length)
	if err != nil {
		return err
	}
	r.stored.SetBytes(data)
	return nil
}

// done puts what was decoded into the cache, if it is to be kept.
func (r *columnReader) done() {
	if r.keep {
		r.block.table.stored.Put(storedKey{r.block.index, r.at}, r.stored, r.stored.Size())
	}
}

// Read implements [table.ColumnReader].
func (r *columnReader) Read(ctx context.Context, rows rowset.Set, o *table.ReadOptions) (arrow.Array, error) {
	return r.read(ctx, rows, o, r.block.table.columns.Load().arrow.Field(r.field))
}

// ReadPhysical implements [table.ColumnReader].
func (r *columnReader) ReadPhysical(ctx context.Context, rows rowset.Set, o *table.ReadOptions) (arrow.Array, error) {
	return r.read(ctx, rows, o, r.block.table.columns.Load().physical.Field(r.field))
}

func (r *columnReader) read(ctx context.Context, rows rowset.Set, o *table.ReadOptions, f arrow.Field) (arrow.Array, error) {
	n := int(rows.Len())
	if r.stored == nil || n == 0 {
		return spans.Array(o.Allocator, nil, n, nullable(f))
	}
	if c := r.indexed(rows); c != nil {
		arr, err := toArrow(o.Allocator, c, f, o.MaxArrayBytes)
		return arr, r.place(err)
	}
	if err := r.open(ctx, o); err != nil {
		return nil, r.place(err)
	}
	countersOf(o).AddValues(int64(n), n == r.stored.Rows())
	c, err := r.stored.Take(rows)
	if err != nil {
		return nil, r.place(err)
	}
	r.done()
	arr, err := toArrow(o.Allocator, c, f, o.MaxArrayBytes)
	return arr, r.place(err)
}

// byIndex tells whether the trace index is asked for the trace ids of some rows of a block: it is sound, and the ids of so many blocks were
// decoded that to read it as a whole costs no more.
func (r *columnReader) byIndex(rows rowset.Set) bool {
	t := r.block.table
	f := &t.columns.Load().fields[r.field]
	return f.Name == spans.TraceID && f.Flags&column.IDs != 0 && rows.Len() < r.block.Rows() && t.blocks.trusted && t.blocks.traceRows() &&
		t.blocks.meta.TracesSound && t.NumRows() <= maxTraceRows && t.idReads.Load() > int64(t.NumStripes())/8
}

// maxTraceRows are so many that the entries of their traces take 16 MiB.
const maxTraceRows = 1 << 22

// indexed are the trace ids of rows by the trace index; nil if it is not asked, or does not have them all.
func (r *columnReader) indexed(rows rowset.Set) *column.Column {
	if !r.byIndex(rows) {
		return nil
	}
	t := r.block.table
	of := t.traceOf()[r.block.Position():]
	n := int(rows.Len())
	v := column.Values{Offsets: make([]uint32, 1, n+1), Data: make([]byte, 0, spans.TraceIDLen*n)}
	for row := range rows.Rows() {
		if of[row] == 0 {
			return nil
		}
		v.Data = append(v.Data, t.blocks.meta.Traces.ID(int(of[row])-1)...)
		v.Offsets = append(v.Offsets, uint32(len(v.Data)))
	}
	return &column.Column{Name: spans.TraceID, Type: column.Bytes, Rows: n, Values: v}
}

func nullable(f arrow.Field) arrow.Field {
	f.Nullable = true
	return f
}

// dataBytes is the bytes of the values of the rows of a column as strings of an array.
func dataBytes(c *column.Column) (n int64) {
	switch {
	case !c.Type.Textual():
		return 8 * int64(c.Rows)
	case c.Codes == nil:
		return int64(len(c.Values.Data))
	}
	for _, k := range c.Codes {
		n += int64(c.Values.Offsets[k+1] - c.Values.Offsets[k])
	}
	return n
}

// toArrow is the array of a column. limit bounds its values; 0 stands for the default.
func toArrow(mem memory.Allocator, c *column.Column, f arrow.Field, limit int64) (arrow.Array, error) {
	limit = cmp.Or(max(limit, 0), maxArrayBytes)
	if f.Type.ID() != arrow.DICTIONARY && dataBytes(c) > limit {
		return nil, fault.ErrBatchTooLarge
	}
	if !f.Nullable && c.Present != nil && c.PresentCount() < c.Rows {
		return nil, fault.Corruptf("spans without a value of a column that all spans have")
	}
	return spans.Array(mem, c, c.Rows, f)
}

func (r *columnReader) place(err error) error {
	return r.block.table.place(err, r.block.index, r.head, r.at)
}

// AppendRanges implements [table.ColumnReader].
func (r *columnReader) AppendRanges(dst []storage.ByteRange, rows rowset.Set) []storage.ByteRange {
	if r.stored == nil || !r.stored.NeedsBytes() || r.byIndex(rows) {
		return dst
	}
	return r.block.table.appendColumnRange(dst, r.block.index, r.head, r.at)
}

// Blocks implements [table.ColumnReader]: the data of a column is one.
func (r *columnReader) Blocks() int64 {
	if r.stored == nil {
		return 0
	}
	return 1
}

// Entries implements [table.DictionaryReader].
func (r *columnReader) Entries(ctx context.Context) (arrow.Array, error) {
	if r.stored == nil {
		return nil, nil
	}
	if err := r.open(ctx, nil); err != nil {
		return nil, r.place(err)
	}
	arr, err := r.stored.Entries(r.block.table.columns.Load().physical.Field(r.field))
	if err == nil {
		r.done()
	}
	return arr, r.place(err)
}

// SelectCodes implements [table.DictionaryReader].
func (r *columnReader) SelectCodes(ctx context.Context, rows rowset.Set, keep []byte, o *table.ReadOptions) (rowset.Set, error) {
	if err := r.open(ctx, o); err != nil {
		return rowset.Set{}, r.place(err)
	}
	c, err := r.stored.All()
	if err != nil {
		return rowset.Set{}, r.place(err)
	}
	r.done()
	countersOf(o).AddValues(rows.Len(), rows.Len() == int64(c.Rows))
	return selectCodes(lazy.Select(c, rows), rows, keep), nil
}

// selectCodes are the rows whose code is kept. c has the rows. The last of keep is that of null, if there are nulls.
func selectCodes(c *column.Column, rows rowset.Set, keep []byte) rowset.Set {
	bits := make([]byte, (c.Rows+63)/64*8)
	null := len(keep) > c.Values.Len() && keep[c.Values.Len()] != 0
	for row, code := range c.Each() {
		bits[row/8] |= keep[code] << (row % 8)
	}
	if null && c.Present != nil {
		present := bitmap.Bits{Data: c.Present, Len: c.Rows}
		for row := range c.Rows {
			if !present.At(row) {
				bits[row/8] |= 1 << (row % 8)
			}
		}
	}
	return rows.Select(bits)
}

// Repeat implements [table.DictionaryReader].
func (r *columnReader) Repeat(ctx context.Context, entry int, n int64, o *table.ReadOptions) (arrow.Array, error) {
	if _, err := r.Entries(ctx); err != nil {
		return nil, err
	}
	f := r.block.table.columns.Load().physical.Field(r.field)
	c := r.stored.Repeat(entry, int(n))
	if c == nil {
		return spans.Array(o.Allocator, nil, int(n), nullable(f))
	}
	arr, err := toArrow(o.Allocator, c, f, o.MaxArrayBytes)
	return arr, r.place(err)
}

// counters are those of columns of blocks.
type counters = table.BlockCounters[storedKey]

// NewCounters implements [table.Table].
func (t *Table) NewCounters() table.Counters { return table.NewBlockCounters[storedKey]() }

func countersOf(o *table.ReadOptions) *counters {
	c, _ := o.Counters.(*counters)
	return c
}

// appendColumnRange appends the range of the data of a column, unless it was read ahead.
func (t *Table) appendColumnRange(dst []storage.ByteRange, block int, h *head, i int) []storage.ByteRange {
	c := &h.Columns[i]
	if c.Length == 0 || t.whole.Has(block) {
		return dst
	}
	return append(dst, t.byteRange(h.offset+c.Offset, c.Length))
}
