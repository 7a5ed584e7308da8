package chunk

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
)

// Reader is a column of scalars in a row group, as a [table.ColumnReader] and [table.DictionaryReader].
type Reader struct {
	chunk  *Chunk
	scalar Scalar
	o      ReaderOptions
	held   held
}

// ReaderOptions tell how the values of a chunk become a column.
type ReaderOptions struct {
	Type    arrow.DataType // of the column
	Plain   arrow.DataType // the same within dictionaries, runs and extensions
	Restore func(mem memory.Allocator, stored arrow.Array, to arrow.DataType) (arrow.Array, error)
	Ahead   storage.Prefetched
	Keep    bool // the column is read again, for other rows
}

// NewReader returns the reader of a chunk of scalars.
func NewReader(c *Chunk, s Scalar, o ReaderOptions) *Reader {
	return &Reader{chunk: c, scalar: s, o: o}
}

func (r *Reader) input(o *table.ReadOptions, rows int64) input {
	in := input{have: append(r.o.Ahead[:len(r.o.Ahead):len(r.o.Ahead)], o.Prefetched...), keep: r.o.Keep, held: &r.held}
	in.counters, _ = o.Counters.(*Counters)
	in.counters.AddValues(rows, false)
	return in
}

// Read implements [table.ColumnReader].
func (r *Reader) Read(ctx context.Context, rows rowset.Set, o *table.ReadOptions) (arrow.Array, error) {
	if d, ok := r.o.Type.(*arrow.DictionaryType); ok && d.IndexType.ID() == arrow.INT32 && r.chunk.HasCodes() {
		a, err := r.readCodes(ctx, rows, d, o)
		return a, r.chunk.Place(err)
	}
	return r.readAs(ctx, rows, r.o.Type, o)
}

// ReadPhysical implements [table.ColumnReader].
func (r *Reader) ReadPhysical(ctx context.Context, rows rowset.Set, o *table.ReadOptions) (arrow.Array, error) {
	return r.readAs(ctx, rows, r.o.Plain, o)
}

func (r *Reader) readAs(ctx context.Context, rows rowset.Set, t arrow.DataType, o *table.ReadOptions) (arrow.Array, error) {
	a, err := r.chunk.read(ctx, o.Allocator, &r.scalar, rows, o.MaxArrayBytes, r.input(o, rows.Len()))
	if err != nil {
		return nil, r.chunk.Place(err)
	}
	defer a.Release()
	a, err = r.o.Restore(o.Allocator, a, t)
	return a, r.chunk.Place(err)
}

// readCodes reads rows as an array of codes of the dictionary of the chunk, and of the values that have none.
func (r *Reader) readCodes(ctx context.Context, rows rowset.Set, t *arrow.DictionaryType, o *table.ReadOptions) (arrow.Array, error) {
	in := r.input(o, rows.Len())
	entries, err := r.entries(ctx, t.ValueType, 0, in)
	if err != nil {
		return nil, err
	}
	out, err := r.decodeCodes(ctx, o.Allocator, rows, o, in)
	if err != nil {
		return nil, err
	}
	a := out.array()
	defer a.Release()
	if out.apart == nil {
		return array.NewDictionaryArray(t, a, entries), nil
	}
	values, err := r.apart(out, o.Allocator, t.ValueType)
	if err != nil {
		return nil, err
	}
	defer func() { values.Release() }()
	if out.coded {
		of := []arrow.Array{entries, values}
		if values, err = arrowutil.Concatenate(o.Allocator, of); err != nil {
			values = of[1]
			return nil, err
		}
		of[1].Release()
	}
	return array.NewDictionaryArray(t, a, values), nil
}

// decodeCodes decodes the codes of rows. The dictionary was read.
func (r *Reader) decodeCodes(ctx context.Context, mem memory.Allocator, rows rowset.Set, o *table.ReadOptions, in input) (*output, error) {
	codes := Scalar{physical: pq.Types.Int32, width: 4, bytes: 4, arrow: arrow.PrimitiveTypes.Int32, Storage: arrow.PrimitiveTypes.Int32, of: &r.scalar}
	return r.chunk.decode(ctx, mem, &codes, rows, o.MaxArrayBytes, in)
}

// apart are the values without codes of the dictionary, as an array of a type.
func (r *Reader) apart(out *output, mem memory.Allocator, t arrow.DataType) (arrow.Array, error) {
	stored := out.apart.array()
	out.apart = nil
	defer stored.Release()
	return r.o.Restore(mem, stored, t)
}

// AppendRanges implements [table.ColumnReader].
func (r *Reader) AppendRanges(dst []storage.ByteRange, rows rowset.Set) []storage.ByteRange {
	c := r.chunk
	pages, known := c.known()
	if !known {
		return append(dst, storage.ByteRange{Reader: c.Source.Reader, Offset: c.From, Size: c.End - c.From})
	}
	if len(pages) > 0 && pages[0].At > c.From && !r.hasDictionary(pages[0].At) { // footers do not always say that there is one
		dst = append(dst, storage.ByteRange{Reader: c.Source.Reader, Offset: c.From, Size: min(max(pages[0].At-c.From, commonPageHeader), c.End-c.From)})
	}
	last := -1
	for rg := range rows.Ranges() {
		for i := max(pageOf(pages, rg.From), last+1, 0); i < len(pages) && pages[i].First < rg.To; i++ {
			last = i
			if !c.Source.pages.Has(pageKey{c.Group, c.Leaf, i}) {
				dst = append(dst, storage.ByteRange{Reader: c.Source.Reader, Offset: pages[i].At, Size: pages[i].Size})
			}
		}
	}
	return dst
}

// hasDictionary reports whether the dictionary, which ends before an offset, was read.
func (r *Reader) hasDictionary(end int64) bool {
	c := r.chunk
	_, read := r.held.Known()
	return read || r.o.Ahead.Bytes(c.Source.Reader, c.From, end-c.From) != nil || c.Source.dictionaries.Has(chunkKey{c.Group, c.Leaf})
}

// known are the pages, as far as they are found.
func (c *Chunk) known() ([]Place, bool) {
	l, ok := c.pages.Known()
	return l.places, ok
}

// Blocks implements [table.ColumnReader]: the pages that are found, that of the dictionary among them.
func (r *Reader) Blocks() int64 {
	pages, _ := r.chunk.known()
	n := int64(len(pages))
	if dict, read := r.held.Known(); dict != nil || !read && r.chunk.Meta.HasDictionaryPage() {
		n++
	}
	return n
}

// Entries implements [table.DictionaryReader]. The last entry is null if rows may be.
func (r *Reader) Entries(ctx context.Context) (arrow.Array, error) {
	if !r.chunk.IsCoded() {
		return nil, nil
	}
	return r.SomeEntries(ctx)
}

// SomeEntries implements [table.MixedReader].
func (r *Reader) SomeEntries(ctx context.Context) (arrow.Array, error) {
	if !r.chunk.HasCodes() || r.chunk.Rows == 0 {
		return nil, nil
	}
	a, err := r.entries(ctx, r.o.Plain, r.nullEntries(), input{have: r.o.Ahead, keep: r.o.Keep, held: &r.held})
	return a, r.chunk.Place(err)
}

func (r *Reader) nullEntries() int {
	if r.chunk.Column.MaxDefinitionLevel() > 0 {
		return 1
	}
	return 0
}

// entries are the values of the dictionary as an array of a type, with some nulls at the end. The chunk keeps it.
func (r *Reader) entries(ctx context.Context, t arrow.DataType, nulls int, in input) (arrow.Array, error) {
	d, err := r.chunk.dict(ctx, &r.scalar, in)
	if err != nil {
		return nil, err
	}
	if d == nil {
		return nil, fault.Corruptf("the footer names a dictionary, and the column chunk has none")
	}
	key := entriesKey{t.String(), nulls}
	d.mu.Lock()
	defer d.mu.Unlock()
	if a := d.arrays[key]; a != nil {
		return a, nil
	}
	stored := d.entries(memory.DefaultAllocator, &r.scalar, nulls)
	defer stored.Release()
	a, err := r.o.Restore(memory.DefaultAllocator, stored, t)
	if err != nil {
		return nil, err
	}
	if d.arrays == nil {
		d.arrays = map[entriesKey]arrow.Array{}
	}
	d.arrays[key] = a
	return a, nil
}

// SelectCodes implements [table.DictionaryReader].
func (r *Reader) SelectCodes(ctx context.Context, rows rowset.Set, keep []byte, o *table.ReadOptions) (rowset.Set, error) {
	return r.SelectMixed(ctx, rows, keep, nil, o)
}

// SelectMixed implements [table.MixedReader].
func (r *Reader) SelectMixed(ctx context.Context, rows rowset.Set, keep []byte, holds table.Holds, o *table.ReadOptions) (rowset.Set, error) {
	found, err := r.selectMixed(ctx, rows, keep, holds, o)
	return found, r.chunk.Place(err)
}

func (r *Reader) selectMixed(ctx context.Context, rows rowset.Set, keep []byte, holds table.Holds, o *table.ReadOptions) (found rowset.Set, err error) {
	in, mem := r.input(o, rows.Len()), arrowutil.Reusable(o.Allocator)
	if _, err := r.chunk.dict(ctx, &r.scalar, in); err != nil {
		return found, err
	}
	out, err := r.decodeCodes(ctx, mem, rows, o, in)
	if err != nil {
		return found, err
	}
	defer out.release()
	null := r.nullEntries() > 0 && keep[len(keep)-1] != 0
	if out.apart != nil {
		if holds == nil {
			return found, errNotCoded
		}
		values, err := r.apart(out, mem, r.o.Plain)
		if err != nil {
			return found, err
		}
		defer values.Release()
		bits, err := holds(nil, values)
		if err != nil {
			return found, err
		}
		keep = slices.Clone(keep[:out.first()])
		for i := range values.Len() {
			keep = append(keep, bits[i>>3]>>(i&7)&1)
		}
	}
	bits := make([]byte, (out.n+63)/64*8)
	selectAll(bits, arrowutil.As[uint32](out.values.Bytes()), keep)
	if out.nulls > 0 {
		for i, v := range out.valid.Bytes() {
			if bits[i] &= v; null {
				bits[i] |= ^v
			}
		}
		bitmap.ClearRange(bits, out.n, 8*len(bits)-out.n)
	}
	return rows.Select(bits), nil
}

// selectAll sets the bits of codes that are kept.
func selectAll(bits []byte, codes []uint32, keep []byte) {
	at := 0
	for ; len(codes) >= 8; at += 8 {
		c := (*[8]uint32)(codes)
		bits[at>>3] = keep[c[0]] | keep[c[1]]<<1 | keep[c[2]]<<2 | keep[c[3]]<<3 | keep[c[4]]<<4 | keep[c[5]]<<5 | keep[c[6]]<<6 | keep[c[7]]<<7
		codes = codes[8:]
	}
	for _, c := range codes {
		bits[at>>3] |= keep[c] << (at & 7)
		at++
	}
}

// Repeat implements [table.DictionaryReader].
func (r *Reader) Repeat(ctx context.Context, entry int, n int64, o *table.ReadOptions) (arrow.Array, error) {
	entries, err := r.Entries(ctx)
	if err != nil {
		return nil, err
	}
	one := array.NewSlice(entries, int64(entry), int64(entry)+1)
	defer one.Release()
	if limit := o.MaxArrayBytes; limit > 0 && n > 1 && n*int64(one.Data().SizeInBytes()) > limit {
		if size := valueBytes(entries, entry); n*size > limit {
			return nil, fault.ErrBatchTooLarge
		}
	}
	return arrowutil.Repeat(o.Allocator, one, int(n))
}

// valueBytes are the bytes of a value of an array.
func valueBytes(a arrow.Array, i int) int64 {
	switch a := a.(type) {
	case array.BinaryLike:
		return int64(a.ValueLen(i)) + 8
	}
	if t, ok := a.DataType().(arrow.FixedWidthDataType); ok {
		return int64(t.Bytes())
	}
	return 16
}
