package table

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/base/option"
	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/internal/engine/aggregate"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/table/internal/bins"
	"github.com/amudai/amudai-go/table/internal/recorded"
	"github.com/amudai/amudai-go/table/internal/tables"
	"github.com/amudai/amudai-go/table/provider"
)

// GroupOptions ask for aggregates of groups of rows. The zero value counts all rows.
type GroupOptions struct {
	// By are the values to group by, separated by commas, such as "origin, year(date) as y". Without any, all rows are one group.
	By string
	// Aggregates are the values of each group, such as "count(), avg(delay) as late" (docs/aggregates.md); default "count()".
	Aggregates string
	Having     string // only groups whose results meet a condition, such as "count > 100"
	Sort       string // columns of the result to sort by, such as "-count,origin"; default: the groups

	Filter filter.Expr // of the rows, as in [ScanOptions]
	Rows   []RowRange
	Search *SearchOptions // only the matches of a search; its columns, context and limit mean nothing. Nil for all rows
	Limit  int64          // maximum number of groups of the result; 0 for all
	Memory int64          // bytes of groups held in memory; the rest goes to temporary files; default DefaultMemory
}

// Group returns a row for each group of rows: the values of By, then those of Aggregates. Null is a value of groups. If
// files record the result, no values are read. If the only aggregate is a histogram, there is a row for each of its bins.
func (t *Table) Group(ctx context.Context, o GroupOptions) iter.Seq2[arrow.RecordBatch, error] {
	return t.rows(ctx, o)
}

// groupQuery are parsed options.
type groupQuery struct {
	GroupOptions
	keys   []*ast.Node
	calls  []ast.Call
	shares bool // the greatest counts come first, with their shares of all rows
}

func (o GroupOptions) parse() (q groupQuery, err error) {
	o.Aggregates = cmp.Or(o.Aggregates, "count()")
	if err := option.SetDefault("Memory", &o.Memory, DefaultMemory); err != nil {
		return q, err
	}
	q.GroupOptions = o
	if q.keys, err = ast.ParseKeys(o.By); err != nil {
		return q, &OptionError{"By", o.By, err, ""}
	}
	if q.calls, err = ast.ParseCalls(o.Aggregates); err != nil {
		return q, &OptionError{"Aggregates", o.Aggregates, err, "'count(), avg(x)', for example"}
	}
	return q, nil
}

// scan opens the rows, and binds the query to their schema.
func (q *groupQuery) scan(ctx context.Context, t *Table) (_ provider.Source, _ *aggregate.Query, err error) {
	so := ScanOptions{
		Columns: ast.ColumnsOf(q.keys, q.calls), Filter: q.Filter, Rows: q.Rows,
		Dictionaries: true, Decimals64: ast.Decimals64(q.keys, q.calls), Lengths: ast.Lengths(q.keys, q.calls, q.Filter.Node()), Reuse: true, anyOrder: ast.AnyOrder(q.keys, q.calls),
	}
	var src provider.Source
	if q.Search != nil {
		so.Lengths = nil // the search may look at the texts
		src, err = q.Search.matches(ctx, t, so)
	} else {
		src, err = so.open(ctx, t)
	}
	if err != nil {
		return nil, nil, err
	}
	bound, err := aggregate.Bind(q.keys, q.calls, src.Schema())
	if err != nil {
		return nil, nil, errors.Join(&OptionError{Err: err}, src.Close())
	}
	return src, bound, nil
}

func (o GroupOptions) open(ctx context.Context, t *Table) (provider.Source, error) {
	q, err := o.parse()
	if err != nil {
		return nil, err
	}
	if b := t.recorded(ctx, &q); b != nil {
		return &oneBatch{b.Schema(), b}, nil
	}
	return q.open(ctx, t)
}

// open reads the rows, and returns the groups in their order.
func (q *groupQuery) open(ctx context.Context, t *Table) (_ provider.Source, err error) {
	src, bound, err := q.scan(ctx, t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	rows, err := newResultRows(q, bound)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, rows.sorter.Close())
		}
	}()
	n, ok := src.Rows()
	if !ok { // behind a filter, room for the keys of all rows would cost more than the question
		n = 0
	}
	agg, err := aggregate.New(bound, aggregate.Options{Memory: q.Memory, Rows: n})
	if err != nil {
		return nil, err
	}
	defer agg.Close()
	if err := seq.Each(provider.Batches(ctx, src), func(b arrow.RecordBatch) error { return agg.Add(ctx, b) }); err != nil {
		return nil, err
	}
	if err := agg.Finish(ctx, rows.first(bound), func(b arrow.RecordBatch) error { return rows.add(ctx, b) }); err != nil {
		return nil, err
	}
	if err := rows.sorter.Finish(ctx); err != nil {
		return nil, err
	}
	if q.shares {
		fields := append(slices.Clone(rows.sorter.Schema().Fields()), arrow.Field{Name: "percent", Type: arrow.PrimitiveTypes.Float64})
		return shares{sorted{rows.sorter}, arrow.NewSchema(fields, nil), rows.counted}, nil
	}
	return bins.Of(sorted{rows.sorter}, q.calls), nil
}

// recorded returns the results of a query if the inputs record them, else nil.
func (t *Table) recorded(ctx context.Context, q *groupQuery) arrow.RecordBatch {
	if len(q.keys) > 0 || q.Search != nil || !q.Filter.IsZero() || q.Rows != nil || q.Having != "" || len(t.o.Schema) > 0 {
		return nil
	}
	for _, c := range q.calls {
		if !recorded.May(c) {
			return nil
		}
	}
	var all *recorded.Results
	for i := range t.locations {
		s, err := t.statisticsOf(ctx, i, ast.ColumnsOf(nil, q.calls))
		if s == nil || err != nil {
			return nil // reading the rows tells an error
		}
		next := recorded.New(s, q.calls)
		if next == nil {
			return nil
		}
		if all == nil {
			all = next
		} else if !all.Add(next) {
			return nil
		}
	}
	if all == nil {
		return nil
	}
	return all.Batch()
}

// GroupExplanation tells what [Table.Group] would read.
type GroupExplanation struct {
	Recorded  bool // files record the result: no values are read
	Rows      int64
	RowsKnown bool
	Estimated bool          // Rows is an estimate
	Columns   *arrow.Schema // that are read, in the form in which they are
}

// ExplainGroup tells what [Table.Group] would read.
func (t *Table) ExplainGroup(ctx context.Context, o GroupOptions) (x GroupExplanation, err error) {
	q, err := o.parse()
	if err != nil {
		return x, err
	}
	if t.recorded(ctx, &q) != nil {
		return GroupExplanation{Recorded: true}, nil
	}
	src, _, err := q.scan(ctx, t)
	if err != nil {
		return x, err
	}
	x.Columns = src.Schema()
	x.Rows, x.RowsKnown = src.Rows()
	x.Estimated = slices.ContainsFunc(t.Formats(), func(f provider.Format) bool { return !f.ExactRows })
	return x, src.Close()
}

// oneBatch is a batch as a source.
type oneBatch struct {
	schema *arrow.Schema
	batch  arrow.RecordBatch // nil once it was returned
}

func (s *oneBatch) Schema() *arrow.Schema { return s.schema }
func (s *oneBatch) Rows() (int64, bool)   { return 1, true }
func (s *oneBatch) Next(ctx context.Context) (arrow.RecordBatch, error) {
	b := s.batch
	s.batch = nil
	return b, ctx.Err()
}

func (s *oneBatch) Close() error {
	if s.batch != nil {
		s.batch.Release()
	}
	return nil
}

// DistinctOptions ask for rows without repetition.
type DistinctOptions struct {
	Columns []string // in which rows differ, as in [ScanOptions]
	Filter  filter.Expr
	Rows    []RowRange
	Limit   int64 // maximum number of rows of the result; 0 for all
	Memory  int64 // bytes of rows held in memory; the rest goes to temporary files; default DefaultMemory
}

// Distinct returns each row once, in the order of first appearance, as [Table.Scan] does. Null is a value, and so is NaN.
// Rows that went to temporary files come last.
func (t *Table) Distinct(ctx context.Context, o DistinctOptions) iter.Seq2[arrow.RecordBatch, error] {
	return t.rows(ctx, o)
}

func (o DistinctOptions) open(ctx context.Context, t *Table) (_ provider.Source, err error) {
	if err := option.SetDefault("Memory", &o.Memory, DefaultMemory); err != nil {
		return nil, err
	}
	src, err := ScanOptions{Columns: o.Columns, Filter: o.Filter, Rows: o.Rows}.open(ctx, t)
	if err == nil {
		src, err = tables.NewDistinct(src, o.Memory)
	}
	if err != nil {
		return nil, err
	}
	return provider.Limit(src, o.Limit), nil
}
