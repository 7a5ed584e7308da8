package table

import (
	"context"
	"errors"
	"iter"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/option"
	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/internal/engine/sortkeys"
	"github.com/amudai/amudai-go/table/provider"
)

// DefaultMemory is the default of the option Memory, in bytes.
const DefaultMemory = 256 << 20

// SortOptions ask for rows in an order.
type SortOptions struct {
	// By are columns, or expressions such as year(date), separated by commas. A minus before one makes its order descending.
	// NaN is greater than all numbers; strings are compared by their bytes. Rows of equal values keep their order.
	By         string
	NullsFirst bool // nulls come before all values; by default they are last

	Columns []string // as in [ScanOptions]
	Filter  filter.Expr
	Rows    []RowRange
	Limit   int64 // maximum number of rows of the result, of which alone memory is taken; 0 for all
	Memory  int64 // bytes of rows held in memory, up to 1 GiB; the rest goes to temporary files; default DefaultMemory
}

// Sort returns rows in the order of By, as [Table.Scan] does.
func (t *Table) Sort(ctx context.Context, o SortOptions) iter.Seq2[arrow.RecordBatch, error] {
	return t.rows(ctx, o)
}

func (o SortOptions) open(ctx context.Context, t *Table) (_ provider.Source, err error) {
	by, err := sortkeys.Parse(o.By)
	if err != nil {
		return nil, &OptionError{"By", strconv.Quote(o.By), err, "--by -delay,origin sorts by the greatest delay, then by origin"}
	}
	if err := option.SetDefault("Memory", &o.Memory, DefaultMemory); err != nil {
		return nil, err
	}
	scan := ScanOptions{Columns: o.Columns, Filter: o.Filter, Rows: o.Rows}
	if scan, err = o.firstRows(ctx, t, scan, by); err != nil {
		return nil, err
	}
	src, err := t.openKeyed(ctx, scan, by, o.NullsFirst)
	if err != nil {
		return nil, err
	}
	s, err := order.NewSorter(src.rows.Schema(), src.Keys, order.Options{Limit: o.Limit, Memory: o.Memory})
	if err != nil {
		return nil, errors.Join(err, src.src.Close())
	}
	if o.Rows == nil || len(o.Rows) > 0 {
		err = src.each(ctx, func(rows arrow.RecordBatch, keys []arrow.Array) error { return s.Add(ctx, rows, keys) })
	}
	if err == nil {
		err = s.Finish(ctx)
	}
	if err = errors.Join(err, src.src.Close()); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return sorted{s}, nil
}

// sorted is a sorter as a source.
type sorted struct{ *order.Sorter }

func (sorted) Rows() (int64, bool) { return 0, false }

// keyedSource reads rows to print, and the values to sort them by.
type keyedSource struct {
	*sortkeys.Bound
	src  provider.Source
	rows *provider.Projection // of the rows to print
}

// openKeyed opens the rows of a scan with the columns to return and those of the keys.
func (t *Table) openKeyed(ctx context.Context, o ScanOptions, by []sortkeys.Key, nullsFirst bool) (*keyedSource, error) {
	columns := o.Columns
	o.Columns, o.Limit = sortkeys.With(columns, by), 0
	src, err := o.open(ctx, t)
	if err != nil {
		return nil, err
	}
	k := &keyedSource{src: src}
	if k.rows, err = provider.Project(src.Schema(), columns); err == nil {
		k.Bound, err = sortkeys.Bind(by, src.Schema(), nullsFirst)
	}
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	return k, nil
}

// each calls f with the rows of each batch, and the values of the keys.
func (k *keyedSource) each(ctx context.Context, f func(rows arrow.RecordBatch, keys []arrow.Array) error) error {
	return seq.Each(provider.Batches(ctx, k.src), func(batch arrow.RecordBatch) error { return k.one(batch, f) })
}

func (k *keyedSource) one(batch arrow.RecordBatch, f func(rows arrow.RecordBatch, keys []arrow.Array) error) error {
	keys, err := k.Eval(batch)
	if err != nil {
		return err
	}
	defer arrowutil.ReleaseAll(keys)
	rows, err := k.rows.Of(batch)
	if err != nil {
		return err
	}
	defer rows.Release()
	return f(rows, keys)
}
