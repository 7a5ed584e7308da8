package command

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/internal/command/formats"
	"github.com/amudai/amudai-go/internal/command/usage"
	"github.com/amudai/amudai-go/internal/engine/aggregate"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/order"
)

// topFlags are the flags of top.
type topFlags struct {
	formats.TableFlags
	print      PrintFlags
	by, memory string
}

func (a *app) top() *cobra.Command {
	var f topFlags
	cmd := &cobra.Command{
		Use:   "top IN...",
		Short: "Print the most frequent values",
		Long: `top prints the most frequent values of --by, with the number of rows that have them, and their share of all rows in
percent. Several columns or expressions are counted together. Null is a value, too. Values of equal numbers are in
ascending order. agg has other aggregates, and --limit -1 prints all values.`,
		Example: `  amudai top flights.amudai.shard --by origin
  amudai top 'logs/*.csv' --by 'status, year(date)' --limit 20 --where "bytes > 0"`,
		Args: wants(1, -1, "one or more tables"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runTop(cmd.Context(), args, f) },
	}
	f.Read.Register(cmd, false)
	f.Rows.Register(cmd, 10)
	f.print.Register(cmd, defaultFormats)
	cmd.Flags().Lookup("limit").Usage = "most values that are printed, -1 for all"
	cmd.Flags().StringVar(&f.by, "by", "", "values to count, separated by commas, such as \"origin,year(date)\"")
	cmd.Flags().StringVar(&f.memory, "memory", "256MiB", "values held in memory, up to 1GiB; the rest goes to temporary files")
	return cmd
}

func (a *app) runTop(ctx context.Context, locations []string, f topFlags) (err error) {
	if f.by == "" {
		return usage.Errorf("--by origin, for example", "top needs --by")
	}
	by, err := ast.ParseValues(f.by)
	if err != nil {
		return usage.Errorf("", "--by %s: %w", f.by, err)
	}
	memory, err := memoryOf(f.memory)
	if err != nil {
		return err
	}
	create, _, err := a.printer(&f.print, "")
	if err != nil {
		return err
	}
	if _, err := f.Rows.Options(); err != nil {
		return err
	}
	limit := f.Rows.Limit
	f.Rows.Limit = -1 // of the input
	calls := []ast.Call{{Name: "count"}}
	src, err := a.opener.Tables(ctx, locations, &f.TableFlags, formats.TablesOptions{
		Columns: aggregate.Columns(by, calls), Dictionaries: true, Reuse: true,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	query, err := aggregate.Bind(by, calls, src.Schema())
	if err != nil {
		return usage.Errorf("", "--by %s: %w", f.by, err)
	}
	agg, err := aggregate.New(query, aggregate.Options{Memory: memory / 2})
	if err != nil {
		return err
	}
	defer agg.Close()
	if err := addAll(ctx, agg, src); err != nil {
		return err
	}
	t, err := sortCounts(ctx, agg, query, order.Options{Memory: memory / 2, Limit: max(limit, 0)})
	if t.Sorter != nil {
		defer func() { err = errors.Join(err, t.Close()) }()
	}
	if err != nil {
		return err
	}
	return printRows(ctx, t, create, limit)
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

// Schema implements [table.Source].
func (t counts) Schema() *arrow.Schema { return t.schema }

// Next implements [table.Source].
func (t counts) Next(ctx context.Context) (arrow.RecordBatch, error) {
	b, err := t.Sorter.Next(ctx)
	if err != nil {
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
