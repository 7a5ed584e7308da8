package table

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/internal/engine/sortkeys"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/table/provider"
)

// mostFirst is the greatest limit for which the keys are read on their own before.
const mostFirst = 100_000

// firstRows narrows a scan to the first rows of a sort, so that the other columns of most rows are not read. It reads the keys alone, of files that can
// skip values.
func (o SortOptions) firstRows(ctx context.Context, t *Table, scan ScanOptions, by []sortkeys.Key) (_ ScanOptions, err error) {
	if o.Limit <= 0 || o.Limit > mostFirst || !t.skipValues(ctx) {
		return scan, nil
	}
	first := scan
	first.Columns, first.Silent, first.Dictionaries = []string{}, true, true
	src, err := t.openKeyed(ctx, first, by, o.NullsFirst)
	if err != nil {
		return scan, err
	}
	defer func() { err = errors.Join(err, src.src.Close()) }()
	if rows, err := firstPlaces(ctx, src, o.Limit); err != nil || rows != nil {
		scan.Filter, scan.Rows = filter.Expr{}, rows
		return scan, err
	}
	return scan, nil
}

// skipValues reports whether all inputs are files of formats that read the columns of a filter first.
func (t *Table) skipValues(ctx context.Context) bool {
	for i, location := range t.locations {
		if inputs.IsPipe(location) {
			return false
		}
		in, format, err := t.input(ctx, &t.find, i, location)
		if err != nil || errors.Join(in.Close()) != nil || !format.Filters {
			return false
		}
	}
	return true
}

// firstPlaces returns the positions of the first rows in the order of the keys, or nil if there are no more, or if their source does not know them.
func firstPlaces(ctx context.Context, src *keyedSource, limit int64) (rows []RowRange, err error) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "row", Type: arrow.PrimitiveTypes.Int64}}, nil)
	s, err := order.NewSorter(schema, src.Keys, order.Options{Limit: limit})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	count, known := int64(0), true
	err = src.each(ctx, func(batch arrow.RecordBatch, keys []arrow.Array) error {
		n := int(batch.NumRows())
		count += int64(n)
		buf := arrowutil.NewBuffer(memory.DefaultAllocator, 8*n)
		places, at := arrowutil.As[int64](buf.Bytes()), 0
		for _, r := range provider.RangesOf(src.src) {
			for row := r.From; row < r.To && at < n; row++ {
				places[at] = row
				at++
			}
		}
		known = known && at == n
		column := arrowutil.Make(arrow.PrimitiveTypes.Int64, n, []*memory.Buffer{nil, buf}, nil, 0)
		defer column.Release()
		batch = array.NewRecordBatch(schema, []arrow.Array{column}, int64(n))
		defer batch.Release()
		return s.Add(ctx, batch, keys)
	})
	if err == nil {
		err = s.Finish(ctx)
	}
	if err != nil || count <= limit || !known {
		return nil, err
	}
	err = seq.Each(provider.Batches(ctx, sorted{s}), func(b arrow.RecordBatch) error {
		for _, row := range arrowutil.Values[int64](b.Column(0)) {
			rows = append(rows, RowRange{From: row, To: row + 1})
		}
		return nil
	})
	slices.SortFunc(rows, func(a, b RowRange) int { return cmp.Compare(a.From, b.From) })
	return rows, err
}

// TopOptions ask for the most frequent values.
type TopOptions struct {
	By     string // the values to count together, separated by commas, as in [GroupOptions]
	Filter filter.Expr
	Rows   []RowRange
	Limit  int64 // maximum number of values; 0 for all
	Memory int64 // bytes of values held in memory; the rest goes to temporary files; default DefaultMemory
}

// Top returns the most frequent values with the columns count and percent, the share of all rows. Null is a value, too. Values of equal
// numbers are in ascending order.
func (t *Table) Top(ctx context.Context, o TopOptions) iter.Seq2[arrow.RecordBatch, error] {
	return t.rows(ctx, o)
}

func (o TopOptions) open(ctx context.Context, t *Table) (provider.Source, error) {
	q, err := GroupOptions{By: o.By, Filter: o.Filter, Rows: o.Rows, Limit: o.Limit, Memory: o.Memory}.parse()
	if err != nil {
		return nil, err
	}
	q.shares = true
	src, err := q.open(ctx, t)
	if bad := (*OptionError)(nil); errors.As(err, &bad) {
		bad.Option, bad.Value = "By", o.By
	}
	return src, err
}

// shares are values with their numbers of rows, and the shares of these of all rows.
type shares struct {
	sorted
	schema *arrow.Schema
	rows   int64 // of all values
}

func (s shares) Schema() *arrow.Schema { return s.schema }

func (s shares) Next(ctx context.Context) (arrow.RecordBatch, error) {
	b, err := s.Sorter.Next(ctx)
	if err != nil || b == nil {
		return nil, err
	}
	defer b.Release()
	percent := array.NewFloat64Builder(memory.DefaultAllocator)
	defer percent.Release()
	for _, v := range b.Column(int(b.NumCols() - 1)).(*array.Int64).Int64Values() {
		percent.Append(math.Round(1e4*float64(v)/float64(s.rows)) / 100)
	}
	column := percent.NewArray()
	defer column.Release()
	return array.NewRecordBatch(s.schema, append(slices.Clone(b.Columns()), column), b.NumRows()), nil
}
