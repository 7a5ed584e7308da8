package table

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"math/big"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/internal/engine/sortkeys"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/table/provider"
)

// mostFirst is the greatest limit for which the column of the first key is read on its own before.
const mostFirst = 100_000

// firstRows narrows a scan to rows that the first ones of a sort are among, and few others, so that the other columns of most rows are
// not read. It reads the first key alone, if that is a column of files that can skip values. If there is no other key, it has the very rows, else
// those that are not after the last of them.
func (o SortOptions) firstRows(ctx context.Context, t *Table, scan ScanOptions, by []sortkeys.Key) (_ ScanOptions, err error) {
	if o.Limit <= 0 || o.Limit > mostFirst || len(by[0].Node.Args) > 0 || !t.skipValues(ctx) {
		return scan, nil
	}
	first := scan
	first.Columns, first.Silent, first.Dictionaries = []string{}, true, true
	src, err := t.openKeyed(ctx, first, by[:1], o.NullsFirst)
	if err != nil {
		return scan, err
	}
	defer func() { err = errors.Join(err, src.src.Close()) }()
	path, ok := src.Values[0].Column()
	_, exact := src.src.(provider.Numbered)
	exact = exact && len(by) == 1
	if !ok || !exact && (o.NullsFirst || !comparesAsSorted(kinds.Decoded(src.Keys[0].Type))) {
		return scan, nil
	}
	last, rows, err := firstValues(ctx, src, o.Limit)
	if last == nil || err != nil {
		return scan, err
	}
	defer last.Release()
	if exact && rows != nil {
		scan.Filter, scan.Rows = filter.Expr{}, rows
	} else if !o.NullsFirst && !values.IsNull(last, 0) && comparesAsSorted(kinds.Decoded(src.Keys[0].Type)) {
		if bound := boundOf(filter.Col(path), last, by[0].Descending); !bound.IsZero() {
			scan.Filter = filter.And(scan.Filter, bound)
		}
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

// comparesAsSorted reports whether comparisons of a filter agree with the order of a sort. Those of floats do, except for NaN.
func comparesAsSorted(t arrow.DataType) bool {
	id := t.ID()
	return arrow.IsInteger(id) || id == arrow.FLOAT32 || id == arrow.FLOAT64 || arrow.IsDecimal(id) ||
		id == arrow.STRING || id == arrow.LARGE_STRING || id == arrow.DATE32 || id == arrow.TIMESTAMP
}

// firstValues returns the last of the first values in the order of the key, nil if there are fewer, and the rows of all of them, nil if their source
// does not know them.
func firstValues(ctx context.Context, src *keyedSource, limit int64) (last arrow.Array, rows []RowRange, err error) {
	fields := []arrow.Field{{Name: "key", Type: src.Keys[0].Type, Nullable: true}, {Name: "row", Type: arrow.PrimitiveTypes.Int64}}
	schema := arrow.NewSchema(fields, nil)
	s, err := order.NewSorter(schema, src.Keys, order.Options{Limit: limit})
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	count, known := int64(0), true
	err = src.each(ctx, func(batch arrow.RecordBatch, keys []arrow.Array) error {
		count += batch.NumRows()
		buf := arrowutil.NewBuffer(memory.DefaultAllocator, int(8*batch.NumRows()))
		numbers := arrowutil.As[int64](buf.Bytes())[:0]
		for _, r := range provider.RangesOf(src.src) {
			for row := r.From; row < r.To && len(numbers) < cap(numbers); row++ {
				numbers = append(numbers, row)
			}
		}
		known = known && len(numbers) == cap(numbers)
		places := arrowutil.Make(arrow.PrimitiveTypes.Int64, int(batch.NumRows()), []*memory.Buffer{nil, buf}, nil, 0)
		defer places.Release()
		batch = array.NewRecordBatch(schema, []arrow.Array{keys[0], places}, batch.NumRows())
		defer batch.Release()
		return s.Add(ctx, batch, keys)
	})
	if err == nil {
		err = s.Finish(ctx)
	}
	if err != nil || count <= limit {
		return nil, nil, err
	}
	for limit > 0 {
		b, err := s.Next(ctx)
		if err != nil {
			return last, rows, err
		}
		for _, row := range arrowutil.Values[int64](b.Column(1)) {
			rows = append(rows, RowRange{From: row, To: row + 1})
		}
		if limit -= b.NumRows(); limit == 0 {
			last = array.NewSlice(b.Column(0), b.NumRows()-1, b.NumRows())
		}
		b.Release()
	}
	if !known {
		return last, nil, nil
	}
	slices.SortFunc(rows, func(a, b RowRange) int { return cmp.Compare(a.From, b.From) })
	return last, rows, nil
}

// boundOf is the condition that a column is not after a value in an order. It is zero if there is none.
func boundOf(column filter.Expr, last arrow.Array, descending bool) (bound filter.Expr) {
	text := string(values.Text(last)(nil, 0))
	var literal any = text
	id := kinds.Decoded(last.DataType()).ID()
	switch {
	case arrow.IsInteger(id) || arrow.IsDecimal(id):
		n, ok := new(big.Rat).SetString(text)
		if !ok {
			return bound
		}
		literal = n
	case id == arrow.FLOAT32 || id == arrow.FLOAT64:
		v := arrowutil.Floats(last)(0)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return bound
		}
		if literal = v; id == arrow.FLOAT32 {
			literal = float32(v)
		}
		if descending {
			return filter.Or(filter.Ge(column, literal), filter.IsNaN(column)) // NaN is greatest
		}
	}
	if descending {
		return filter.Ge(column, literal)
	}
	return filter.Le(column, literal)
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

func newShares(r *resultRows) shares {
	fields := append(slices.Clone(r.sorter.Schema().Fields()), arrow.Field{Name: "percent", Type: arrow.PrimitiveTypes.Float64})
	return shares{sorted{r.sorter}, arrow.NewSchema(fields, nil), r.counted}
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
