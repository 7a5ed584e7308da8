package command

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
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
		RunE: func(cmd *cobra.Command, args []string) error { return a.runAgg(cmd.Context(), args, f) },
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

// aggArgs divides arguments into locations and aggregates, which are the last one if it has parentheses.
func aggArgs(args []string) (locations []string, aggregates string, err error) {
	last := args[len(args)-1]
	if !strings.Contains(last, "(") || isFile(last) { // a file may be named "flights (1).csv"
		return args, "", nil
	}
	if len(args) == 1 {
		return nil, "", usage.Errorf("amudai agg FILE '"+last+"'", "%s of which table?", last)
	}
	return args[:len(args)-1], last, nil
}

func isFile(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func (a *app) runAgg(ctx context.Context, args []string, f aggFlags) error {
	locations, aggregates, err := aggArgs(args)
	if err != nil {
		return err
	}
	o := table.GroupOptions{By: f.by, Aggregates: aggregates, Having: f.having, Sort: f.sort}
	if o.Memory, err = memoryOf(f.memory); err != nil {
		return err
	}
	create, _, err := a.printer(&f.print, "")
	if err != nil {
		return err
	}
	u, err := a.opener.Union(ctx, locations, &f.TableFlags)
	if err != nil {
		return err
	}
	o.Filter, o.Rows, o.Limit = u.Scan.Filter, u.Scan.Rows, u.Scan.Limit
	if f.explain {
		x, err := u.ExplainGroup(ctx, o)
		if err = errors.Join(err, u.Close()); err != nil {
			return flagged(err)
		}
		return a.explainAgg(x)
	}
	return a.printQuery(ctx, u, o, create, f.Rows.Limit)
}

// printQuery prints the answer to a question about a table, which it closes: limit rows, or all if limit is negative.
func (a *app) printQuery(ctx context.Context, u *formats.Union, q table.Query, create createSink, limit int64) error {
	src, err := u.Source(ctx, q)
	if err != nil {
		return flagged(err)
	}
	return errors.Join(printRows(ctx, src, create, limit), src.Close())
}

// flagged gives an error about an option the name of its flag.
func flagged(err error) error {
	var option *table.OptionError
	if !errors.As(err, &option) {
		return err
	}
	o := *option
	switch o.Option {
	case "":
	case "Aggregates": // an argument
		o.Option, o.Value = o.Value, ""
	default:
		o.Option = "--" + strings.ToLower(o.Option)
	}
	return usage.Errorf(o.Advice, "%w", &o)
}

// explainAgg tells which columns are read, and in which form.
func (a *app) explainAgg(x table.GroupExplanation) error {
	if x.Recorded {
		return a.out.Printf("Recorded statistics answer: no values are read.\n")
	}
	s := x.Columns
	if x.RowsKnown {
		about := ""
		if x.Estimated {
			about = "about "
		}
		if err := a.out.Printf("%s%s of %s are read:\n", about, terminal.Plural(int(x.Rows), "row"), terminal.Plural(s.NumFields(), "column")); err != nil {
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
