package table

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/aggregate"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/table/provider"
)

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

func (o TopOptions) open(ctx context.Context, t *Table) (_ provider.Source, err error) {
	q, err := GroupOptions{By: o.By, Filter: o.Filter, Rows: o.Rows, Memory: o.Memory}.parse()
	if err != nil {
		return nil, err
	}
	src, query, err := q.scan(ctx, t)
	if err != nil {
		if bad := (*OptionError)(nil); errors.As(err, &bad) {
			bad.Option, bad.Value = "By", o.By
		}
		return nil, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	agg, err := aggregate.New(query, aggregate.Options{Memory: q.Memory / 2})
	if err != nil {
		return nil, err
	}
	defer agg.Close()
	if err := addAll(ctx, agg, src); err != nil {
		return nil, err
	}
	c, err := sortCounts(ctx, agg, query, order.Options{Memory: q.Memory / 2, Limit: o.Limit})
	if err != nil && c.Sorter != nil {
		err = errors.Join(err, c.Close())
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// counts are values with their numbers of rows, the most frequent ones first, and shares of all rows.
type counts struct {
	sorted
	schema *arrow.Schema
	rows   int64 // of all values
}

// sortCounts sorts the groups of a query whose last column is a count.
func sortCounts(ctx context.Context, agg *aggregate.Aggregator, q *aggregate.Query, o order.Options) (counts, error) {
	s := q.Schema()
	n := q.Keys()
	keys := []order.Key{{Type: s.Field(n).Type, Descending: true}}
	for _, f := range s.Fields()[:n] {
		keys = append(keys, order.Key{Type: f.Type})
	}
	t := counts{schema: arrow.NewSchema(append(slices.Clone(s.Fields()), arrow.Field{Name: "percent", Type: arrow.PrimitiveTypes.Float64}), nil)}
	sorter, err := order.NewSorter(s, keys, o)
	if err != nil {
		return t, err
	}
	t.Sorter = sorter
	err = agg.Finish(ctx, func(b arrow.RecordBatch) error {
		for _, v := range b.Column(n).(*array.Int64).Int64Values() {
			t.rows += v
		}
		return sorter.Add(ctx, b, append([]arrow.Array{b.Column(n)}, b.Columns()[:n]...))
	})
	if err == nil {
		err = sorter.Finish(ctx)
	}
	return t, err
}

func (t counts) Schema() *arrow.Schema { return t.schema }

func (t counts) Next(ctx context.Context) (arrow.RecordBatch, error) {
	b, err := t.Sorter.Next(ctx)
	if err != nil || b == nil {
		return nil, err
	}
	defer b.Release()
	percent := array.NewFloat64Builder(memory.DefaultAllocator)
	defer percent.Release()
	for _, v := range b.Column(int(b.NumCols() - 1)).(*array.Int64).Int64Values() {
		percent.Append(math.Round(1e4*float64(v)/float64(t.rows)) / 100)
	}
	column := percent.NewArray()
	defer column.Release()
	return array.NewRecordBatch(t.schema, append(slices.Clone(b.Columns()), column), b.NumRows()), nil
}
