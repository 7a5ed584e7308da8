package command

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/internal/command/formats"
	"github.com/amudai/amudai-go/internal/command/terminal"
	"github.com/amudai/amudai-go/internal/command/usage"
	"github.com/amudai/amudai-go/internal/engine/aggregate"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/table"
)

// aggFlags are the flags of agg.
type aggFlags struct {
	formats.TableFlags
	print   PrintFlags
	by      string
	having  string
	explain bool
	sort    string
	memory  string
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
		RunE: func(cmd *cobra.Command, args []string) error { return a.runAgg(cmd, args, f) },
	}
	f.Read.Register(cmd, false)
	f.Rows.Register(cmd, -1)
	f.print.Register(cmd, defaultFormats)
	cmd.Flags().StringVar(&f.by, "by", "", "values to group by, separated by commas, such as \"origin,year(date)\"")
	cmd.Flags().StringVar(&f.having, "having", "", "only groups whose results meet a condition, such as \"count > 100 and avg(delay) > 10\"")
	cmd.Flags().StringVar(&f.sort, "sort", "", "columns of the result to sort by, such as \"-count,origin\" (default: the groups)")
	cmd.Flags().BoolVar(&f.explain, "explain", false, "tell what would be read, instead of the result")
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
		return q, usage.Errorf("", "--by %s: %w", by, err)
	}
	if q.calls, err = ast.ParseCalls(calls); err != nil {
		return q, usage.Errorf("'count(), avg(x)', for example", "%s: %w", calls, err)
	}
	return q, nil
}

func isFile(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func (a *app) runAgg(cmd *cobra.Command, args []string, f aggFlags) (err error) {
	ctx := cmd.Context()
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
	if _, err := f.Rows.Options(); err != nil {
		return err
	}
	if !needValues(cmd) && f.Rows.Limit != 0 {
		b, err := a.fromStatistics(ctx, q, &f)
		if err != nil {
			return err
		}
		if b != nil && f.explain {
			return a.out.Printf("Recorded statistics answer: no values are read.\n")
		}
		if b != nil {
			return printBatch(ctx, b, create)
		}
	}
	limit := f.Rows.Limit
	f.Rows.Limit = -1
	src, err := a.opener.Tables(ctx, q.locations, &f.TableFlags, formats.TablesOptions{
		Columns: aggregate.Columns(q.keys, q.calls), Dictionaries: true, Decimals64: aggregate.Decimals64(q.keys, q.calls), Reuse: true,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	query, err := aggregate.Bind(q.keys, q.calls, src.Schema())
	if err != nil {
		return usage.Errorf("", "%w", err)
	}
	if f.explain {
		return a.explainAgg(src)
	}
	rows, err := newResultRows(&f, query, memory, max(limit, 0))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.sorter.Close()) }()
	agg, err := aggregate.New(query, aggregate.Options{Memory: memory})
	if err != nil {
		return err
	}
	defer agg.Close()
	if limit != 0 {
		if err := addAll(ctx, agg, src); err != nil {
			return err
		}
		if err := agg.Finish(ctx, func(b arrow.RecordBatch) error { return rows.add(ctx, b) }); err != nil {
			return err
		}
	}
	if err := rows.sorter.Finish(ctx); err != nil {
		return err
	}
	return printRows(ctx, sorted{rows.sorter}, create, -1)
}

// explainAgg tells which columns are read, and in which form.
func (a *app) explainAgg(src table.Source) error {
	s := src.Schema()
	if rows, known := src.Rows(); known {
		if err := a.out.Printf("%s of %s are read:\n", terminal.Plural(int(rows), "row"), terminal.Plural(s.NumFields(), "column")); err != nil {
			return err
		}
	} else if err := a.out.Printf("%s of the rows that match are read:\n", terminal.Plural(s.NumFields(), "column")); err != nil {
		return err
	}
	for _, f := range s.Fields() {
		dt, form := f.Type, ""
		if d, ok := dt.(*arrow.DictionaryType); ok {
			dt, form = d.ValueType, ", by codes of dictionaries"
		}
		if err := a.out.Printf("  %s: %s%s\n", terminal.Printable(f.Name), dt, form); err != nil {
			return err
		}
	}
	return nil
}

// printBatch prints the rows of a batch.
func printBatch(ctx context.Context, b arrow.RecordBatch, create createSink) error {
	sink, err := create(ctx, b.Schema())
	if err == nil {
		if err = sink.Write(ctx, b); err == nil {
			return sink.Close(ctx)
		}
		err = errors.Join(err, sink.Abort(context.WithoutCancel(ctx)))
	}
	return err
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
