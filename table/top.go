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
