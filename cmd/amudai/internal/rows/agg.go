package rows

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

func (g group) agg() *cobra.Command {
	var f flags
	var o table.GroupOptions
	explain := false
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
  bool_and bool_or string_agg list hist(x, 0, 200, 100)

Each may be followed by filter (where CONDITION), and by "as NAME". Rows are in the order of the groups, or of --sort.`,
		Example: `  amudai agg flights.amudai.shard --by origin 'count(), avg(delay), max(delay)' --sort -count --limit 10
  amudai agg 'logs/*.csv' --by 'year(date), status' 'count(distinct user) as users' --where "bytes > 0"`,
	}
	f.Read.Register(cmd, false)
	f.Rows.Register(cmd, -1)
	cmd.Flags().StringVar(&o.By, "by", "", "values to group by, separated by commas, such as \"origin,year(date)\"")
	cmd.Flags().StringVar(&o.Having, "having", "", "only groups whose results meet a condition, such as \"count > 100 and avg(delay) > 10\"")
	cmd.Flags().StringVar(&o.Sort, "sort", "", "columns of the result to sort by, such as \"-count,origin\" (default: the groups)")
	cmd.Flags().BoolVar(&explain, "explain", false, "tell what would be read, instead of the result")
	formats.RegisterSize(cmd, &o.Memory, "memory", "256MiB", "groups held in memory; the rest goes to temporary files")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		locations, aggregates, err := aggArgs(args)
		if err != nil {
			return err
		}
		o.Aggregates = aggregates
		if explain {
			return g.explainAgg(cmd.Context(), locations, &f, o)
		}
		src, create, err := g.answer(cmd.Context(), locations, &f, "", func(u *formats.Union) (table.Query, error) {
			o.Filter, o.Rows, o.Limit = u.Scan.Filter, u.Scan.Rows, u.Scan.Limit
			return o, nil
		})
		if err != nil {
			return err
		}
		if g.Width > 0 && f.Output == "" && (f.Format == "" || f.Format == app.TableFormat) && strings.HasPrefix(strings.TrimSpace(aggregates), "hist(") {
			src = plot(src, g.Width)
		}
		return app.PrintRows(cmd.Context(), src, create)
	}
	return g.prints(cmd, &f, "", nil)
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

// explainAgg tells which columns are read, and in which form.
func (g group) explainAgg(ctx context.Context, locations []string, f *flags, o table.GroupOptions) error {
	if _, _, err := g.Printer(&f.PrintFlags, ""); err != nil {
		return err
	}
	u, err := g.Opener.Union(ctx, locations, &f.TableFlags)
	if err != nil {
		return err
	}
	o.Filter, o.Rows, o.Limit = u.Scan.Filter, u.Scan.Rows, u.Scan.Limit
	x, err := u.ExplainGroup(ctx, o)
	if err = errors.Join(err, u.Close()); err != nil {
		return app.Flagged(err)
	}
	if x.Recorded {
		return g.Out.Printf("Recorded statistics answer: no values are read.\n")
	}
	s := x.Columns
	if x.RowsKnown {
		about := ""
		if x.Estimated {
			about = "about "
		}
		g.Out.Printf("%s%s of %s are read:\n", about, terminal.Plural(int(x.Rows), "row"), terminal.Plural(s.NumFields(), "column"))
	} else {
		g.Out.Printf("%s of the rows that match are read:\n", terminal.Plural(s.NumFields(), "column"))
	}
	for _, f := range s.Fields() {
		dt, form := f.Type, ""
		if d, ok := dt.(*arrow.DictionaryType); ok {
			dt, form = d.ValueType, ", by codes of dictionaries"
		}
		if arrowutil.AreLengths(f) {
			form = ", lengths of values"
		}
		g.Out.Printf("  %s: %s%s\n", terminal.Printable(f.Name), dt, form)
	}
	return nil
}

func (g group) top() *cobra.Command {
	var f flags
	var o table.TopOptions
	cmd := &cobra.Command{
		Use:   "top IN...",
		Short: "Print the most frequent values",
		Long: `top prints the most frequent values of --by, with the number of rows that have them, and their share of all rows in
percent. Several columns or expressions are counted together. Null is a value, too. Values of equal numbers are in
ascending order. agg has other aggregates, and --limit -1 prints all values.`,
		Example: `  amudai top flights.amudai.shard --by origin
  amudai top 'logs/*.csv' --by 'status, year(date)' --limit 20 --where "bytes > 0"`,
	}
	f.Read.Register(cmd, false)
	f.Rows.Register(cmd, 10)
	cmd.Flags().Lookup("limit").Usage = "most values that are printed, -1 for all"
	cmd.Flags().StringVar(&o.By, "by", "", "values to count, separated by commas, such as \"origin,year(date)\"")
	formats.RegisterMemory(cmd, &o.Memory, "values")
	return g.prints(cmd, &f, "", func(u *formats.Union) (table.Query, error) {
		if o.By == "" {
			return nil, usage.Errorf("--by origin, for example", "top needs --by")
		}
		o.Filter, o.Rows, o.Limit = u.Scan.Filter, u.Scan.Rows, u.Scan.Limit
		return o, nil
	})
}

// plotted has a bar in each row of a histogram, which are on a terminal.
type plotted struct {
	provider.Source
	schema *arrow.Schema
	width  int
}

// The columns of a histogram, which come behind those of its group.
var histogramColumns = []string{"from", "to", "count"}

const (
	widestBar    = 40 // tables cut longer texts
	besideBar    = 45 // columns of the terminal
	narrowestBar = 10
)

// plot draws the last columns of a source, if they are those of a histogram.
func plot(src provider.Source, width int) provider.Source {
	fields := src.Schema().Fields()
	var names []string
	for _, f := range fields[max(len(fields)-len(histogramColumns), 0):] {
		names = append(names, f.Name)
	}
	if !slices.Equal(names, histogramColumns) {
		return src
	}
	fields = append(slices.Clone(fields), arrow.Field{Name: " ", Type: arrow.BinaryTypes.String})
	return &plotted{src, arrow.NewSchema(fields, nil), min(max(width-besideBar, narrowestBar), widestBar)}
}

func (p *plotted) Schema() *arrow.Schema { return p.schema }

// Next implements [provider.Source]. The greatest count of each histogram has the widest bar.
func (p *plotted) Next(ctx context.Context) (arrow.RecordBatch, error) {
	b, err := p.Source.Next(ctx)
	if b == nil || err != nil {
		return nil, err
	}
	defer b.Release()
	last := int(b.NumCols()) - 1
	from, counts := b.Column(last-2).(*array.Float64), b.Column(last).(*array.Int64)
	out := array.NewStringBuilder(memory.DefaultAllocator)
	defer out.Release()
	for i := 0; i < counts.Len(); {
		end := i + 1
		for end < counts.Len() && from.Value(end) > from.Value(end-1) {
			end++
		}
		one := counts.Int64Values()[i:end]
		most := float64(slices.Max(one))
		for _, n := range one {
			bar := terminal.Bar(float64(n), most, p.width)
			if bar == "" && n > 0 {
				bar = "▏"
			}
			out.Append(bar)
		}
		i = end
	}
	bars := out.NewArray()
	defer bars.Release()
	return array.NewRecordBatch(p.schema, append(slices.Clone(b.Columns()), bars), b.NumRows()), nil
}
