package shard

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"golang.org/x/sync/errgroup"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/stripe"
	"github.com/amudai/amudai-go/stripe/read"
)

// TakeOptions are those of [Shard.Take]. The zero value takes all columns.
type TakeOptions struct {
	// Columns are paths of columns, as in ScanOptions.
	Columns []string
	// Strings is how texts are laid out, by default by the columns' types.
	Strings Strings
	// FetchGap and FetchBytes are how blocks that lie apart are read, as in
	// ScanOptions. What columns of a stripe need is then read for several of them at
	// once: about FetchBytes, but all that one column needs.
	FetchGap, FetchBytes int64
	// Parallelism is how many columns are read at a time, by default GOMAXPROCS.
	Parallelism int
	// Allocator makes the memory of the result; by default Arrow's.
	Allocator memory.Allocator
	// MemoryLimit bounds the bytes of one column of the result, by default 1 GiB.
	MemoryLimit int64
}

func (o *TakeOptions) setDefaults() error {
	if o.Allocator == nil {
		o.Allocator = memory.DefaultAllocator
	}
	return cmp.Or(
		setDefault("TakeOptions.FetchBytes", &o.FetchBytes, DefaultFetchBytes),
		setDefault("TakeOptions.Parallelism", &o.Parallelism, runtime.GOMAXPROCS(0)),
		setDefault("TakeOptions.MemoryLimit", &o.MemoryLimit, 0), // the stripe's
		o.Strings.check("TakeOptions.Strings"),
	)
}

// Take gives the given rows, in the order given, a row as often as it is named.
// Only blocks that hold some of them are read, and what was opened for it is kept
// for the next Take, as far as OpenOptions.CacheBytes allow. The caller releases the
// result. An error that wraps [stripe.ErrBatchTooLarge] means that fewer rows may
// work.
//
// Many goroutines may take rows of one shard at once.
func (s *Shard) Take(ctx context.Context, rows []int64, o TakeOptions) (arrow.RecordBatch, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	p, err := s.project(ctx, o.Columns)
	if err != nil {
		return nil, err
	}
	p = o.Strings.of(p)
	t := &taking{shard: s, o: o, columns: p.columns, gaps: s.gapsOf(o.FetchGap, o.FetchBytes)}
	if err := t.sort(rows); err != nil {
		return nil, err
	}
	t.bare = make([][]arrow.Array, len(p.columns))
	arrays := make([]arrow.Array, len(p.columns))
	defer func() {
		releaseAll(arrays)
		for _, parts := range t.bare {
			releaseAll(parts)
		}
	}()
	for i, part := range t.parts {
		if err := t.readLists(ctx, i); err != nil {
			return nil, err
		}
		if err := t.read(ctx, part); err != nil {
			return nil, fault.InStripe(err, part.stripe)
		}
	}
	if err := t.each(ctx, 0, len(arrays), func(ctx context.Context, i int) (err error) {
		arrays[i], err = t.column(i)
		return err
	}); err != nil {
		return nil, err
	}
	return array.NewRecordBatch(p.schema, arrays, int64(len(rows))), nil
}

func releaseAll(arrays []arrow.Array) {
	for _, a := range arrays {
		if a != nil {
			a.Release()
		}
	}
}

// taking is a Take on its way: the rows of each stripe, and where they go.
type taking struct {
	shard   *Shard
	o       TakeOptions
	gaps    storage.CoalesceOptions
	columns []arrowmap.Column
	parts   []takePart
	bare    [][]arrow.Array // by column: the rows of the parts so far, as the bare type
	indices []int64         // of the rows among those of the parts; nil if they are the same
}

type takePart struct {
	stripe int
	rows   rowset.Set // counted in the stripe
}

// readLists reads, of a shard far away, the field lists of the stripes of some parts
// together, when the first of them is next.
func (t *taking) readLists(ctx context.Context, next int) error {
	if t.gaps.Gap <= 0 || next%t.gaps.Requests != 0 {
		return nil
	}
	var stripes []int
	for _, p := range t.parts[next:min(next+t.gaps.Requests, len(t.parts))] {
		stripes = append(stripes, p.stripe)
	}
	return t.shard.readLists(ctx, stripes)
}

// sort finds the stripes of the rows.
func (t *taking) sort(rows []int64) error {
	for _, r := range rows {
		if r < 0 || r >= t.shard.NumRows() {
			return fmt.Errorf("row %d of a shard of %d rows", r, t.shard.NumRows())
		}
	}
	sorted := rows
	if !ascending(rows) {
		sorted = slices.Clone(rows)
		slices.Sort(sorted)
		sorted = slices.Compact(sorted)
		t.indices = make([]int64, len(rows))
		for i, r := range rows {
			k, _ := slices.BinarySearch(sorted, r)
			t.indices[i] = int64(k)
		}
	}
	set := rowset.FromRows(sorted)
	for !set.Empty() {
		i := t.shard.stripeOf(set.Bounds().From)
		st := t.shard.file.Stripe(i)
		end := st.Position() + st.Rows()
		t.parts = append(t.parts, takePart{i, set.Clip(st.Position(), end).Shift(-st.Position())})
		set = set.Clip(end, math.MaxInt64)
	}
	return nil
}

func ascending(rows []int64) bool {
	for i := 1; i < len(rows); i++ {
		if rows[i] <= rows[i-1] {
			return false
		}
	}
	return true
}

// read reads the rows of a part.
func (t *taking) read(ctx context.Context, part takePart) error {
	for from := 0; from < len(t.columns); from += groupSize {
		if err := t.readGroup(ctx, part, from, min(from+groupSize, len(t.columns))); err != nil {
			return err
		}
	}
	return nil
}

// readGroup reads some columns of a part. What opening them takes is read in few
// requests; and so are the blocks of one column after the other, up to a number of
// bytes, if the shard is far away.
func (t *taking) readGroup(ctx context.Context, part takePart, from, to int) error {
	if err := t.prefetch(ctx, part.stripe, t.columns[from:to]); err != nil {
		return err
	}
	var opened storage.Prefetched
	if t.gaps.Gap > 0 {
		pieces, err := t.shard.needToOpen(ctx, part.stripe, t.columns[from:to], read.ToOpen, t.gaps.Limit)
		if err != nil {
			return err
		}
		if opened, err = storage.Prefetch(ctx, opened.Missing(pieces), t.gaps); err != nil {
			return err
		}
	}
	open := make([]*read.Column, to-from)
	if err := t.each(ctx, from, to, func(ctx context.Context, i int) (err error) {
		if open[i-from], err = t.open(ctx, part.stripe, i, opened); err != nil || t.gaps.Gap > 0 {
			return err
		}
		return t.readColumn(ctx, part, i, open[i-from])
	}); err != nil || t.gaps.Gap <= 0 {
		return err
	}
	for from < to {
		n, fetched, err := t.fetch(ctx, part, open, opened)
		if err != nil {
			return err
		}
		if err := t.each(ctx, from, from+n, func(ctx context.Context, i int) error {
			return t.readColumn(ctx, part, i, open[i-from].WithPrefetched(fetched))
		}); err != nil {
			return err
		}
		from, open = from+n, open[n:]
	}
	return nil
}

// prefetch reads the descriptors of columns of a stripe that are not open, in few
// requests.
func (t *taking) prefetch(ctx context.Context, index int, columns []arrowmap.Column) error {
	var ids []uint32
	for i := range columns {
		if _, ok := t.shard.columns.Get(keyOf(index, &columns[i])); !ok {
			ids = appendIDs(ids, &columns[i])
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return t.shard.file.Stripe(index).Prefetch(ctx, ids)
}

// open opens column i of a stripe.
func (t *taking) open(ctx context.Context, index, i int, f storage.Prefetched) (*read.Column, error) {
	c, err := t.shard.openColumn(ctx, index, &t.columns[i], true, func() (storage.Prefetched, error) { return f, nil })
	if err != nil {
		return nil, err
	}
	return c.With(read.Options{Allocator: t.o.Allocator, MaxArrayBytes: t.o.MemoryLimit}), nil
}

// fetch reads the bytes of the first columns, as many as fit into one portion.
func (t *taking) fetch(ctx context.Context, part takePart, columns []*read.Column, opened storage.Prefetched) (n int, f storage.Prefetched, err error) {
	defer fault.Recover(&err)
	var pieces []storage.ByteRange
	size := int64(0)
	for n < len(columns) {
		more := columns[n].ByteRanges(nil, part.rows)
		if size += storage.TotalSize(more); n > 0 && size > t.gaps.Limit {
			break
		}
		pieces = append(pieces, more...)
		n++
	}
	f, err = storage.Prefetch(ctx, opened.Missing(pieces), t.gaps)
	return n, slices.Concat(opened, f), err
}

// readColumn reads the rows of a part of column i.
func (t *taking) readColumn(ctx context.Context, part takePart, i int, c *read.Column) (err error) {
	defer fault.Recover(&err)
	arr, err := c.ReadPhysical(ctx, part.rows)
	if err == nil {
		t.bare[i] = append(t.bare[i], arr)
	}
	return err
}

// each calls f for all columns from one up to another, for some at a time.
func (t *taking) each(ctx context.Context, from, to int, f func(ctx context.Context, i int) error) error {
	if t.o.Parallelism == 1 || to-from <= 1 {
		for i := from; i < to; i++ {
			if err := f(ctx, i); err != nil {
				return err
			}
		}
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(t.o.Parallelism)
	for i := from; i < to; i++ {
		g.Go(func() error { return f(ctx, i) })
	}
	return g.Wait()
}

// column makes the array of column i.
func (t *taking) column(i int) (arr arrow.Array, err error) {
	defer fault.Recover(&err)
	col := &t.columns[i]
	bare, err := t.joined(i)
	if err != nil {
		return nil, err
	}
	defer bare.Release()
	if t.indices != nil {
		picked, err := arrowutil.Take(t.o.Allocator, bare, t.indices)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", stripe.ErrBatchTooLarge, err)
		}
		defer picked.Release()
		bare = picked
	}
	arr, err = stripe.Logical(t.o.Allocator, bare, *col)
	return arr, fault.InColumn(err, schema.Escape(col.Arrow.Name))
}

// joined are the rows of all parts of column i, in ascending order, as the bare type.
func (t *taking) joined(i int) (arrow.Array, error) {
	switch parts := t.bare[i]; len(parts) {
	case 0:
		bare, _ := stripe.Physical(t.columns[i])
		return arrowutil.Nulls(t.o.Allocator, bare.Plain, 0), nil
	default:
		return concatenate(t.o.Allocator, parts)
	}
}
