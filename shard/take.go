package shard

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"golang.org/x/sync/errgroup"

	"github.com/amudai/amudai-go/arrowmap"
	"github.com/amudai/amudai-go/fault"
	"github.com/amudai/amudai-go/internal/arrowutil"
	"github.com/amudai/amudai-go/rowset"
	"github.com/amudai/amudai-go/stripe"
)

// TakeOptions are those of [Shard.Take]. The zero value takes all columns.
type TakeOptions struct {
	// Columns are paths of columns, as in ScanOptions.
	Columns []string
	// Strings is how texts are laid out, by default by the columns' types.
	Strings Strings
	// Parallelism is how many columns are read at a time, by default GOMAXPROCS.
	Parallelism int
	// Allocator makes the memory of the result; by default Arrow's.
	Allocator memory.Allocator
	// MemoryLimit bounds the bytes of one column of the result, by default 1 GiB.
	MemoryLimit int64
}

func (o *TakeOptions) setDefaults() error {
	if o.Parallelism < 0 {
		return fmt.Errorf("TakeOptions.Parallelism is negative: %d", o.Parallelism)
	}
	if o.Strings > StringsDictionary {
		return fmt.Errorf("TakeOptions.Strings is unknown: %v", o.Strings)
	}
	if o.MemoryLimit < 0 {
		return fmt.Errorf("TakeOptions.MemoryLimit is negative: %d", o.MemoryLimit)
	}
	if o.Parallelism == 0 {
		o.Parallelism = runtime.GOMAXPROCS(0)
	}
	if o.Allocator == nil {
		o.Allocator = memory.DefaultAllocator
	}
	return nil
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
	t := &taking{shard: s, o: o, n: len(rows)}
	if err := t.sort(rows); err != nil {
		return nil, err
	}
	if err := t.prefetch(ctx, p.columns); err != nil {
		return nil, err
	}
	arrays := make([]arrow.Array, len(p.columns))
	defer func() {
		for _, a := range arrays {
			if a != nil {
				a.Release()
			}
		}
	}()
	if err := t.all(ctx, p.columns, arrays); err != nil {
		return nil, err
	}
	return array.NewRecordBatch(p.schema, arrays, int64(len(rows))), nil
}

// taking is a Take on its way: the rows of each stripe, and where they go.
type taking struct {
	shard   *Shard
	o       TakeOptions
	n       int
	parts   []takePart
	indices []int64 // of the rows among those of the parts; nil if they are the same
}

type takePart struct {
	stripe int
	rows   rowset.Set // counted in the stripe
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
	for len(set) > 0 {
		i := t.shard.stripeOf(set[0].From)
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

// prefetch reads the descriptors of columns that are not open, a stripe's in few
// requests.
func (t *taking) prefetch(ctx context.Context, columns []arrowmap.Column) error {
	for _, part := range t.parts {
		for from := 0; from < len(columns); from += groupSize {
			var ids []uint32
			for i := range columns[from:min(from+groupSize, len(columns))] {
				c := &columns[from+i]
				if _, ok := t.shard.columns.Get(keyOf(part.stripe, c)); !ok {
					ids = appendIDs(ids, c)
				}
			}
			if len(ids) == 0 {
				continue
			}
			if err := t.shard.file.Stripe(part.stripe).Prefetch(ctx, ids); err != nil {
				return inStripe(err, part.stripe)
			}
		}
	}
	return nil
}

// all takes all columns, some at a time.
func (t *taking) all(ctx context.Context, columns []arrowmap.Column, arrays []arrow.Array) error {
	if t.o.Parallelism == 1 || len(columns) == 1 {
		for i := range columns {
			var err error
			if arrays[i], err = t.column(ctx, &columns[i]); err != nil {
				return err
			}
		}
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(t.o.Parallelism)
	for i := range columns {
		g.Go(func() (err error) {
			arrays[i], err = t.column(ctx, &columns[i])
			return err
		})
	}
	return g.Wait()
}

// column takes one column.
func (t *taking) column(ctx context.Context, col *arrowmap.Column) (arr arrow.Array, err error) {
	defer fault.Recover(&err)
	bare, err := t.bare(ctx, col)
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
	arr, err = stripe.Dress(t.o.Allocator, bare, *col)
	return arr, fault.In(err, fmt.Sprintf("column %q", col.Arrow.Name), -1)
}

// bare reads the rows of all stripes, in ascending order, as the bare type.
func (t *taking) bare(ctx context.Context, col *arrowmap.Column) (arrow.Array, error) {
	parts := make([]arrow.Array, 0, len(t.parts))
	defer func() {
		for _, p := range parts {
			p.Release()
		}
	}()
	if len(t.parts) == 0 {
		bare, _ := stripe.Bare(*col)
		return arrowutil.Nulls(t.o.Allocator, bare.Plain, 0), nil
	}
	for _, part := range t.parts {
		c, err := t.shard.openColumn(ctx, part.stripe, col)
		if err != nil {
			return nil, inStripe(err, part.stripe)
		}
		c = c.With(stripe.ReadOptions{Allocator: t.o.Allocator, MaxArrayBytes: t.o.MemoryLimit})
		arr, err := c.ReadBare(ctx, part.rows)
		if err != nil {
			return nil, inStripe(err, part.stripe)
		}
		parts = append(parts, arr)
	}
	if len(parts) == 1 {
		parts[0].Retain()
		return parts[0], nil
	}
	arr, err := array.Concatenate(parts, t.o.Allocator)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", stripe.ErrBatchTooLarge, err)
	}
	return arr, nil
}
