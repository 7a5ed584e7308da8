package read

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/parquet/internal/chunk"
	"github.com/amudai/amudai-go/table/parquet/internal/convert"
)

// assembled is a column that arrow-go assembles of its leaves, as a [table.ColumnReader]. arrow-go reads rows in order, so
// that rows between those of a read are read and dropped, and readers are kept where they stopped.
type assembled struct {
	stripe stripe
	column column
	plain  arrow.DataType // within dictionaries, runs and extensions
	name   string

	mu   sync.Mutex
	free []*assembler
}

// assembler is a reader of arrow-go, and the row that it reads next.
type assembler struct {
	*pqarrow.ColumnReader
	row int64
}

const (
	// assembleGap is the number of rows between two others that are read with them, and dropped.
	assembleGap = 64
	// skipRows is the number of rows that are read and dropped at a time.
	skipRows = 4096
	// maxAssemblers is the number of readers that are kept.
	maxAssemblers = 4
)

func (r *assembled) Read(ctx context.Context, rows rowset.Set, o *table.ReadOptions) (arrow.Array, error) {
	return r.read(ctx, rows, r.column.restored, o)
}

func (r *assembled) ReadPhysical(ctx context.Context, rows rowset.Set, o *table.ReadOptions) (arrow.Array, error) {
	if r.column.rest != nil { // a part that is cut from the whole column, which has no wraps
		return r.read(ctx, rows, r.column.restored, o)
	}
	return r.read(ctx, rows, r.plain, o)
}

func (r *assembled) read(ctx context.Context, rows rowset.Set, t arrow.DataType, o *table.ReadOptions) (arrow.Array, error) {
	t0 := r.stripe.table
	count, _ := o.Counters.(*chunk.Counters)
	for _, leaf := range r.column.leaves {
		c, err := t0.chunk(r.stripe.group, leaf)
		if err != nil {
			return nil, r.place(err)
		}
		chunk.AddChunk(count, c)
		done := t0.at.open(&window{ctx: ctx, have: o.Prefetched, from: c.From, to: c.End})
		defer done()
	}
	count.AddValues(rows.Len(), false)
	var parts []arrow.Array
	defer func() { arrowutil.ReleaseAll(parts) }()
	size := int64(0)
	for seg := range segments(rows) {
		a, err := r.segment(ctx, seg, t, o)
		if err != nil {
			return nil, r.place(err)
		}
		parts = append(parts, a)
		size += int64(a.Data().SizeInBytes())
		if o.MaxArrayBytes > 0 && size > o.MaxArrayBytes && rows.Len() > 1 {
			return nil, fault.ErrBatchTooLarge
		}
	}
	if len(parts) == 0 {
		return arrowutil.Nulls(o.Allocator, t, 0), nil
	}
	out, err := arrowutil.Concatenate(o.Allocator, parts)
	if err != nil {
		return nil, errors.Join(fault.ErrBatchTooLarge, err)
	}
	return out, nil
}

// segments divides rows where the gaps between them are long.
func segments(rows rowset.Set) func(yield func(rowset.Set) bool) {
	return func(yield func(rowset.Set) bool) {
		var ranges []rowset.Range
		for r := range rows.Ranges() {
			if k := len(ranges); k > 0 && r.From-ranges[k-1].To > assembleGap {
				if !yield(rowset.Of(ranges...)) {
					return
				}
				ranges = ranges[:0]
			}
			ranges = append(ranges, r)
		}
		if len(ranges) > 0 {
			yield(rowset.Of(ranges...))
		}
	}
}

// segment reads rows that are close to each other.
func (r *assembled) segment(ctx context.Context, rows rowset.Set, t arrow.DataType, o *table.ReadOptions) (out arrow.Array, err error) {
	span := rows.Bounds()
	from, err := r.take(ctx, span.From)
	if err != nil {
		return nil, err
	}
	err = convert.Guard(func() error {
		for from.row < span.From {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := from.skip(min(span.From-from.row, skipRows)); err != nil {
				return err
			}
		}
		chunked, err := from.NextBatch(span.Len())
		if err != nil {
			return err
		}
		defer chunked.Release()
		from.row += int64(chunked.Len())
		if int64(chunked.Len()) != span.Len() || len(chunked.Chunks()) == 0 {
			return fault.Corruptf("the pages have %d rows, the row group has %d", from.row, r.stripe.Rows())
		}
		whole, err := arrowutil.Concatenate(memory.DefaultAllocator, chunked.Chunks())
		if err != nil {
			return err
		}
		defer whole.Release()
		column := r.column.as(t)
		if r.column.rest != nil {
			column = &r.column
		}
		out, err = column.checked(o.Allocator, whole, int(span.Len()))
		return err
	})
	if err != nil {
		from.drop()
		return nil, err
	}
	r.put(from)
	if rows.Len() == span.Len() {
		return out, nil
	}
	defer out.Release()
	return arrowutil.Take(o.Allocator, out, slices.Collect(rows.Shift(-span.From).Rows()))
}

func (a *assembler) skip(n int64) error {
	chunked, err := a.NextBatch(n)
	if err != nil {
		return err
	}
	defer chunked.Release()
	if int64(chunked.Len()) != n {
		return fault.Corruptf("the pages have %d rows, row %d is asked for", a.row+int64(chunked.Len()), a.row+n)
	}
	a.row += n
	return nil
}

func (a *assembler) drop() { _ = convert.Guard(func() error { a.Release(); return nil }) }

// take returns the reader that is nearest before a row, or a new one.
func (r *assembled) take(ctx context.Context, row int64) (*assembler, error) {
	r.mu.Lock()
	best := -1
	for i, a := range r.free {
		if a.row <= row && (best < 0 || a.row > r.free[best].row) {
			best = i
		}
	}
	if best >= 0 {
		a := r.free[best]
		r.free[best] = r.free[len(r.free)-1]
		r.free = r.free[:len(r.free)-1]
		r.mu.Unlock()
		return a, nil
	}
	r.mu.Unlock()
	t := r.stripe.table
	t.assemble.Lock()
	defer t.assemble.Unlock()
	included := map[int]bool{}
	for _, leaf := range r.column.leaves {
		included[leaf] = true
	}
	a := &assembler{}
	err := convert.Guard(func() (err error) {
		a.ColumnReader, err = t.arrow.GetFieldReader(ctx, r.column.top, included, []int{r.stripe.group})
		if err == nil && a.ColumnReader == nil {
			err = fault.Unsupportedf("the column has no leaves")
		}
		return err
	})
	return a, err
}

// put keeps a reader.
func (r *assembled) put(a *assembler) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free = append(r.free, a)
	if len(r.free) > maxAssemblers {
		r.free[0].drop()
		r.free = r.free[1:]
	}
}

func (r *assembled) place(err error) error {
	return r.stripe.table.source.PlaceIn(err, r.stripe.group, r.name)
}

// AppendRanges implements [table.ColumnReader]: arrow-go reads from page to page.
func (r *assembled) AppendRanges(dst []storage.ByteRange, _ rowset.Set) []storage.ByteRange {
	t := r.stripe.table
	for _, leaf := range r.column.leaves {
		if c, err := t.chunk(r.stripe.group, leaf); err == nil && c.End > c.From {
			dst = append(dst, storage.ByteRange{Reader: t.reader, Offset: c.From, Size: c.End - c.From})
		}
	}
	return dst
}

// Blocks implements [table.ColumnReader]: the pages of a chunk are not known, and count as one.
func (r *assembled) Blocks() int64 { return int64(len(r.column.leaves)) }
