package command

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/internal/command/formats"
	"github.com/amudai/amudai-go/internal/command/usage"
	"github.com/amudai/amudai-go/internal/engine/aggregate"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/table"
)

// aggFlags are the flags of agg.
type aggFlags struct {
	formats.TableFlags
	print  PrintFlags
	by     string
	sort   string
	memory string
}

func (a *app) agg() *cobra.Command {
	var f aggFlags
	cmd := &cobra.Command{
		Use:   "agg IN... ['AGGREGATES']",
		Short: "Print aggregates of groups of rows",
		Long: `agg groups the rows of tables by the values of --by, and prints a row with aggregates for each group: those of the last
argument, which has parentheses, or count(). Without --by, all rows are one group. Nulls are a group, too, and no
aggregate but count(), first, last and list sees them.

  count() count(x) count(distinct x)   rows, values, distinct values
  sum avg min max                      sums of integers and decimals are exact, or an error
  median quantile(x, 0.9)              exact; quantile_cont is between values, approx_quantile takes little memory
  stddev variance stddev_pop var_pop   of a sample, or of the population
  approx_distinct(x)                   distinct values, within a few percent
  first last any_value                 values by the order of rows
  bool_and bool_or string_agg list

Each may be followed by filter (where CONDITION), and by "as NAME". Rows are in the order of the groups, or of --sort.`,
		Example: `  amudai agg flights.amudai.shard --by origin 'count(), avg(delay), max(delay)' --sort -count --limit 10
  amudai agg 'logs/*.csv' --by 'year(date), status' 'count(distinct user) as users' --where "bytes > 0"`,
		Args: wants(1, -1, "one or more tables"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runAgg(cmd.Context(), args, f) },
	}
	f.Read.Register(cmd, false)
	f.Rows.Register(cmd, -1)
	f.print.Register(cmd, defaultFormats)
	cmd.Flags().StringVar(&f.by, "by", "", "values to group by, separated by commas, such as \"origin,year(date)\"")
	cmd.Flags().StringVar(&f.sort, "sort", "", "columns of the result to sort by, such as \"-count,origin\" (default: the groups)")
	cmd.Flags().StringVar(&f.memory, "memory", "256MiB", "groups held in memory; the rest goes to temporary files")
	return cmd
}

// aggQuery is a parsed command line of agg.
type aggQuery struct {
	locations []string
	keys      []*ast.Node
	calls     []ast.Call
}

// parseAgg parses keys and aggregates.
func parseAgg(args []string, by string) (q aggQuery, err error) {
	calls := "count()"
	q.locations = args
	if last := args[len(args)-1]; strings.Contains(last, "(") && !isFile(last) { // a file may be named "flights (1).csv"
		if calls, q.locations = last, args[:len(args)-1]; len(args) == 1 {
			return q, usage.Errorf("amudai agg FILE '"+last+"'", "%s of which table?", last)
		}
	}
	if q.keys, err = ast.ParseValues(by); err != nil {
		return q, usage.Errorf("", "--by %s: %s", by, plainError(err))
	}
	if q.calls, err = ast.ParseCalls(calls); err != nil {
		return q, usage.Errorf("'count(), avg(x)', for example", "%s: %s", calls, plainError(err))
	}
	return q, nil
}

func isFile(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// plainError is the text of an error of the language, which is not only that of filters.
func plainError(err error) string { return strings.TrimPrefix(err.Error(), "filter: ") }

func (a *app) runAgg(ctx context.Context, args []string, f aggFlags) (err error) {
	q, err := parseAgg(args, f.by)
	if err != nil {
		return err
	}
	memory, err := memoryOf(f.memory)
	if err != nil {
		return err
	}
	create, _, err := a.printer(&f.print, "")
	if err != nil {
		return err
	}
	limit := max(f.Rows.Limit, 0)
	f.Rows.Limit = min(f.Rows.Limit, -1)
	src, err := a.opener.Tables(ctx, q.locations, &f.TableFlags, formats.TablesOptions{
		Columns: aggregate.Columns(q.keys, q.calls), Dictionaries: true, Reuse: true,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	query, err := aggregate.Bind(q.keys, q.calls, src.Schema())
	if err != nil {
		return usage.Errorf("", "%s", plainError(err))
	}
	keys, columns, err := resultOrder(f.sort, query)
	if err != nil {
		return err
	}
	agg, err := aggregate.New(query, aggregate.Options{Memory: memory})
	if err != nil {
		return err
	}
	defer agg.Close()
	if err := addAll(ctx, agg, src); err != nil {
		return err
	}
	s, err := order.NewSorter(query.Schema(), keys, order.Options{Memory: memory / 4, Limit: limit})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	err = agg.Finish(ctx, func(b arrow.RecordBatch) error {
		values := make([]arrow.Array, len(columns))
		for i, c := range columns {
			values[i] = b.Column(c)
		}
		return s.Add(ctx, b, values)
	})
	if err == nil {
		err = s.Finish(ctx)
	}
	if err != nil {
		return err
	}
	return printRows(ctx, sorted{s}, create, -1)
}

// addAll adds the rows of a source.
func addAll(ctx context.Context, agg *aggregate.Aggregator, src table.Source) error {
	for {
		b, err := src.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = agg.Add(ctx, b)
			b.Release()
		}
		if err != nil {
			return err
		}
	}
}

// resultOrder is the order of the rows of a result: by the columns of --sort, then by the groups. Columns are by their number.
func resultOrder(text string, q *aggregate.Query) (keys []order.Key, columns []int, err error) {
	add := func(column int, descending bool) {
		if !slices.Contains(columns, column) {
			columns = append(columns, column)
			keys = append(keys, order.Key{Type: q.Schema().Field(column).Type, Descending: descending})
		}
	}
	if text != "" {
		for _, part := range splitValues(text) {
			name, descending := strings.CutPrefix(strings.TrimSpace(part), "-")
			column, err := resultColumn(strings.TrimSpace(name), q.Schema())
			if err != nil {
				return nil, nil, err
			}
			add(column, descending)
		}
	}
	for i := range q.Keys() {
		add(i, false)
	}
	for _, k := range keys {
		if err := order.Check(k.Type); err != nil {
			return nil, nil, usage.Errorf("", "--sort: %w", err)
		}
	}
	return keys, columns, nil
}

// resultColumn finds a column of a result by its name, or by a text that differs in spaces and case only.
func resultColumn(name string, s *arrow.Schema) (int, error) {
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, " ", "")) }
	for _, same := range []func(a, b string) bool{
		func(a, b string) bool { return a == b },
		func(a, b string) bool { return plain(a) == plain(b) || plain(a) == plain(b)+"()" },
	} {
		for i, f := range s.Fields() {
			if same(name, f.Name) {
				return i, nil
			}
		}
	}
	var names []string
	for _, f := range s.Fields() {
		names = append(names, f.Name)
	}
	hint := "the columns are " + strings.Join(names, ", ")
	return 0, usage.Errorf(hint, "--sort: the result has no column %s%s", name, text.Suggest(name, slices.Values(names)))
}
