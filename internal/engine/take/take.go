// Package take reads single rows of a table.
package take

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

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/option"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/storage"
)

// Options are the options of [Rows], as shard.TakeOptions documents them. Both have the same fields.
type Options struct {
	Columns              []string
	Strings              table.StringLayout
	FetchGap, FetchBytes int64
	Parallelism          int
	Allocator            memory.Allocator
	MemoryLimit          int64
}

func (o *Options) setDefaults() error {
	o.Allocator = cmp.Or(o.Allocator, memory.DefaultAllocator)
	return cmp.Or(
		option.SetDefault("TakeOptions.FetchBytes", &o.FetchBytes, storage.RemoteRequestBytes),
		option.SetDefault("TakeOptions.Parallelism", &o.Parallelism, runtime.GOMAXPROCS(0)),
		option.SetDefault("TakeOptions.MemoryLimit", &o.MemoryLimit, 0), // the reader's
		o.Strings.Check("TakeOptions.Strings"),
	)
}

// Rows reads rows of a table in the given order. A row is repeated as often as it is named. One that is not visible is an error. The caller releases
// the batch.
func Rows(ctx context.Context, from table.Table, rows []int64, o Options) (batch arrow.RecordBatch, err error) {
	defer fault.Recover(&err)
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	p, err := from.Project(ctx, o.Columns)
	if err != nil {
		return nil, err
	}
	p = o.Strings.Apply(p)
	t := &take{table: from, o: o, columns: p.Columns, coalesce: table.Coalesce(ctx, from, o.FetchGap, o.FetchBytes)}
	if err := t.sort(ctx, rows); err != nil {
		return nil, err
	}
	t.physical = make([][]arrow.Array, len(p.Columns))
	arrays := make([]arrow.Array, len(p.Columns))
	defer func() {
		arrowutil.ReleaseAll(arrays)
		for _, parts := range t.physical {
			arrowutil.ReleaseAll(parts)
		}
	}()
	for i, part := range t.parts {
		if err := t.prefetchStripes(ctx, i); err != nil {
			return nil, err
		}
		if err := t.read(ctx, part); err != nil {
			return nil, fault.InStripe(err, part.stripe.Index())
		}
	}
	if err := parallel.Each(ctx, len(arrays), o.Parallelism, func(_ context.Context, i int) (err error) {
		defer fault.Recover(&err)
		arrays[i], err = t.column(i)
		return err
	}); err != nil {
		return nil, err
	}
	return array.NewRecordBatch(p.Schema, arrays, int64(len(rows))), nil
}

// take is a take under way.
type take struct {
	table    table.Table
	o        Options
	coalesce storage.CoalesceOptions
	columns  []table.Column
	parts    []stripeRows
	physical [][]arrow.Array // by column: the rows of each part so far, of the physical type
	indices  []int64         // by row of the result: its index in all parts; nil if the orders are the same
}

// stripeRows are the rows of a take in one stripe.
type stripeRows struct {
	stripe table.Stripe
	rows   rowset.Set // counted in the stripe
}

// windows reports whether the bytes of several columns are read together.
func (t *take) windows() bool { return t.coalesce.Gap > 0 }

// prefetchStripes reads the metadata of several stripes together, when the first of them is next.
func (t *take) prefetchStripes(ctx context.Context, next int) error {
	if !t.windows() || next%t.coalesce.Requests != 0 {
		return nil
	}
	var stripes []int
	for _, p := range t.parts[next:min(next+t.coalesce.Requests, len(t.parts))] {
		stripes = append(stripes, p.stripe.Index())
	}
	return t.table.PrefetchStripes(ctx, stripes)
}

// sort divides the rows by stripe.
func (t *take) sort(ctx context.Context, rows []int64) error {
	for _, r := range rows {
		if r < 0 || r >= t.table.NumRows() {
			return fmt.Errorf("row %d of a table of %d rows", r, t.table.NumRows())
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
		st := t.table.Stripe(table.StripeOf(t.table, set.Bounds().From))
		end := st.Position() + st.Rows()
		part := stripeRows{st, set.Clip(st.Position(), end).Shift(-st.Position())}
		visible, err := st.Visible(ctx)
		if err != nil {
			return fault.InStripe(err, st.Index())
		}
		if visible != nil {
			if hidden := part.rows.Minus(*visible); !hidden.Empty() {
				return fmt.Errorf("row %d is deleted", st.Position()+hidden.Row(0))
			}
		}
		t.parts = append(t.parts, part)
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
func (t *take) read(ctx context.Context, part stripeRows) (err error) {
	defer fault.Recover(&err)
	for from := 0; from < len(t.columns); from += table.GroupSize {
		if err := t.readGroup(ctx, part, from, min(from+table.GroupSize, len(t.columns))); err != nil {
			return err
		}
	}
	return nil
}

// readGroup reads some columns of a part. If requests are slow, the bytes for opening all of them are read together, and
// then the blocks of several columns at a time.
func (t *take) readGroup(ctx context.Context, part stripeRows, from, to int) error {
	if err := part.stripe.PrefetchMetadata(ctx, t.columns[from:to]); err != nil {
		return err
	}
	var opened storage.Prefetched
	if t.windows() {
		ranges, err := part.stripe.RangesToOpen(ctx, t.columns[from:to], table.ToOpen, t.coalesce.Limit)
		if err != nil {
			return err
		}
		if opened, err = storage.Prefetch(ctx, opened.Missing(ranges), t.coalesce); err != nil {
			return err
		}
	}
	open := make([]table.ColumnReader, to-from)
	if err := parallel.Each(ctx, len(open), t.o.Parallelism, func(ctx context.Context, i int) (err error) {
		defer fault.Recover(&err)
		open[i], err = part.stripe.Open(ctx, &t.columns[from+i], true, func() (storage.Prefetched, error) { return opened, nil })
		if err != nil || t.windows() {
			return err
		}
		return t.readColumn(ctx, part, from+i, open[i], nil)
	}); err != nil || !t.windows() {
		return err
	}
	for _, piece := range t.pieces(part, open) {
		for done := 0; done < len(open); {
			n, have, err := t.fetch(ctx, piece, open[done:], opened)
			if err != nil {
				return err
			}
			if err := parallel.Each(ctx, n, t.o.Parallelism, func(ctx context.Context, i int) (err error) {
				defer fault.Recover(&err)
				return t.readColumn(ctx, piece, from+done+i, open[done+i], have)
			}); err != nil {
				return err
			}
			done += n
		}
	}
	return nil
}

// pieces divides a part so that the bytes of a piece that columns share fit into one request.
func (t *take) pieces(part stripeRows, columns []table.ColumnReader) (pieces []stripeRows) {
	n := int64(1)
	if len(columns) > 1 {
		first := columns[0].AppendRanges(nil, part.rows)
		if shared := len(columns[1].AppendRanges(first, part.rows)) == len(first); shared {
			n = min(storage.TotalSize(first)/t.coalesce.Limit+1, part.rows.Len())
		}
	}
	for k := range n {
		from, to := k*part.rows.Len()/n, (k+1)*part.rows.Len()/n
		pieces = append(pieces, stripeRows{part.stripe, part.rows.Clip(part.rows.Row(from), part.rows.Row(to-1)+1)})
	}
	return pieces
}

// fetch reads the bytes of the first columns: of as many as fit into one request, at least one.
func (t *take) fetch(ctx context.Context, part stripeRows, columns []table.ColumnReader, opened storage.Prefetched) (n int, f storage.Prefetched, err error) {
	defer fault.Recover(&err)
	var ranges []storage.ByteRange
	size := int64(0)
	for n < len(columns) {
		more := columns[n].AppendRanges(ranges, part.rows)
		added := storage.TotalSize(more[len(ranges):])
		if size += added; n > 0 && added > 0 && size > t.coalesce.Limit {
			break
		}
		ranges = more
		n++
	}
	f, err = storage.Prefetch(ctx, opened.Missing(ranges), t.coalesce)
	return n, slices.Concat(opened, f), err
}

// readColumn reads the rows of a part of column i.
func (t *take) readColumn(ctx context.Context, part stripeRows, i int, c table.ColumnReader, have storage.Prefetched) error {
	o := table.ReadOptions{Allocator: t.o.Allocator, MaxArrayBytes: t.o.MemoryLimit, Prefetched: have}
	arr, err := c.ReadPhysical(ctx, part.rows, &o)
	if err == nil {
		t.physical[i] = append(t.physical[i], arr)
	}
	return err
}

// column makes the array of column i.
func (t *take) column(i int) (arrow.Array, error) {
	col := &t.columns[i]
	physical, err := t.joined(i)
	if err != nil {
		return nil, err
	}
	defer physical.Release()
	if t.indices != nil {
		taken, err := arrowutil.Take(t.o.Allocator, physical, t.indices)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", fault.ErrBatchTooLarge, err)
		}
		defer taken.Release()
		physical = taken
	}
	arr, err := t.table.Logical(t.o.Allocator, physical, col)
	return arr, fault.InColumn(err, schema.Escape(col.Arrow.Name))
}

// joined is the rows of all parts of column i, in ascending order and of the physical type.
func (t *take) joined(i int) (arrow.Array, error) {
	if len(t.physical[i]) == 0 {
		dt, _ := t.table.PhysicalType(&t.columns[i])
		return arrowutil.Nulls(t.o.Allocator, dt, 0), nil
	}
	arr, err := arrowutil.Concatenate(t.o.Allocator, t.physical[i])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", fault.ErrBatchTooLarge, err)
	}
	return arr, nil
}
