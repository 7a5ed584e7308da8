package rows

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

func (g group) count() *cobra.Command {
	var t formats.TableFlags
	cmd := &cobra.Command{
		Use:   "count IN...",
		Short: "Print the number of rows of tables",
		Long: `count prints the number of rows of tables in any format, all together, or of those that match --where. Shards,
Parquet and other formats that record their number of rows are not read for it.`,
		Example: `  amudai count flights.amudai.shard
  amudai count 'logs/*.csv' --where "level = 'ERROR'"`,
		Args: app.Wants(1, -1, "one or more tables"),
		RunE: func(cmd *cobra.Command, args []string) error { return g.printCount(cmd.Context(), args, &t) },
	}
	t.Register(cmd, -1)
	return cmd
}

// printCount prints the number of rows.
func (g group) printCount(ctx context.Context, locations []string, t *formats.TableFlags) error {
	u, err := g.Opener.Union(ctx, locations, t)
	if err != nil {
		return err
	}
	n, err := u.Count(ctx, u.Scan)
	if err == nil {
		err = g.Out.Printf("%d\n", n)
	}
	return errors.Join(err, u.Close())
}

func (g group) scan() *cobra.Command {
	var f flags
	var explain, analyze, count bool
	cmd := &cobra.Command{
		Use:   "scan IN...",
		Short: "Print the rows that match a condition, or explain how they are found",
		Long: `scan prints the rows that match --where, as cat does; with --count only their number.
--explain prints instead the rows that would be examined: those that statistics, Bloom filters, value dictionaries
and indexes leave of each stripe of a shard, or block of a Blockpack file; an RNTuple has none of these, and its clusters
are stripes. --analyze also runs the scan, and prints blocks and bytes read, requests and times. With --count, both
describe a count.`,
		Example: `  amudai scan flights.amudai.shard --where "origin = 'SFO' and delay > 300"
  amudai scan flights.amudai.shard --where "date >= '2001-01-05'" --columns date,delay --analyze`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case explain || analyze:
				return g.explain(cmd.Context(), args, &f.TableFlags, analyze, count)
			case count:
				return g.printCount(cmd.Context(), args, &f.TableFlags)
			}
			return g.print(cmd.Context(), args, &f, "", scan)
		},
	}
	f.TableFlags.Register(cmd, -1)
	cmd.Flags().BoolVar(&explain, "explain", false, "explain how the rows would be found")
	cmd.Flags().BoolVar(&analyze, "analyze", false, "run the scan, and print its reads and times")
	cmd.Flags().BoolVar(&count, "count", false, "print the number of rows")
	return g.prints(cmd, &f, "", scan)
}

// explain tells how rows, or only their number, are found in each input.
func (g group) explain(ctx context.Context, locations []string, f *formats.TableFlags, analyze, count bool) error {
	if _, err := g.Opener.Use(ctx, &f.Read); err != nil {
		return err
	}
	o, err := f.Rows.Options()
	if err != nil {
		return err
	}
	if o.Rows != nil {
		return usage.Errorf("leave it out", "--rows cannot be explained")
	}
	if f.Rows.HasStripes() {
		return usage.Errorf("leave it out", "--stripes cannot be explained")
	}
	if o.Columns = f.Read.Columns; count {
		o.Columns = []string{}
	}
	inputs, err := g.Opener.Inputs(ctx, locations, &f.Read)
	if err != nil {
		return err
	}
	for _, location := range inputs {
		if len(inputs) > 1 {
			g.Out.Printf("%s:\n", storage.Redact(location))
		}
		if err := g.explainOne(ctx, location, f.Read.From, o, analyze); err != nil {
			return err
		}
	}
	return nil
}

// explainOne tells how rows of an input are found.
func (g group) explainOne(ctx context.Context, location, from string, o table.ScanOptions, analyze bool) error {
	t, err := g.Opener.Table(ctx, location, from)
	if err != nil {
		return err
	}
	x, err := t.Explain(ctx, o, analyze)
	if err = errors.Join(err, t.Close()); err != nil {
		return err
	}
	if x[0] == nil {
		return formats.Untold(t, errors.New("cannot be explained"))
	}
	return g.Out.Printf("%s", explanation(x[0]))
}

// explanation is an explanation as lines that are safe to print: names of columns may have
// line ends, too.
func explanation(x *provider.Explanation) terminal.Styled {
	safe := *x
	names := func(list []string) []string {
		out := make([]string, len(list))
		for i, name := range list {
			out[i] = terminal.Printable(name)
		}
		return out
	}
	safe.Columns, safe.Looks, safe.Filter = names(x.Columns), names(x.Looks), terminal.Printable(x.Filter)
	safe.Stripes = slices.Clone(x.Stripes)
	for i := range safe.Stripes {
		s := &safe.Stripes[i]
		s.Steps = slices.Clone(s.Steps)
		for k := range s.Steps {
			s.Steps[k].Note = terminal.Printable(s.Steps[k].Note)
		}
	}
	return terminal.Lines(safe.String())
}

func (g group) take() *cobra.Command {
	var f flags
	from := "" // file with the numbers of rows
	cmd := &cobra.Command{
		Use:   "take IN... ROW...",
		Short: "Print rows of tables by their numbers",
		Long: `take prints the rows with some numbers, from 0, in the order of the numbers; a number that is given twice prints its row
twice. Several inputs are one table. Of shards only the blocks with the rows are read, of Parquet the pages, of formats that
do not record their number of rows all rows up to the last one. --rows-from reads the numbers from a file, one a line.`,
		Example: `  amudai take flights.amudai.shard 5 2000000 17
  seq 0 1000 99000 | amudai take flights.amudai.shard --rows-from - --output some.parquet`,
		Args: app.Wants(1, -1, "one or more tables, then numbers of rows"),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		locations, rows, err := g.rowNumbers(cmd.Context(), args, from)
		if err != nil {
			return err
		}
		return g.print(cmd.Context(), locations, &f, "", func(u *formats.Union) (table.Query, error) {
			return table.TakeOptions{Rows: rows, Columns: u.Scan.Columns}, nil
		})
	}
	f.Read.Register(cmd, true)
	f.Rows.All()
	cmd.Flags().StringVar(&from, "rows-from", "", "file with the numbers of rows, one a line; - for stdin")
	return g.prints(cmd, &f, "", nil)
}

// rowNumbers divides arguments into inputs and the numbers behind them, or reads the numbers from a file.
func (g group) rowNumbers(ctx context.Context, args []string, from string) (locations []string, rows []int64, err error) {
	n := len(args)
	for ; n > 0 && from == ""; n-- {
		row, err := strconv.ParseInt(args[n-1], 10, 64)
		if err != nil || row < 0 {
			break
		}
		rows = append(rows, row)
	}
	slices.Reverse(rows)
	switch {
	case from == "" && (n == 0 || len(rows) == 0):
		return nil, nil, usage.Errorf("amudai take flights.amudai.shard 5 17, for example", "take needs tables, then numbers of rows")
	case from == "-" && slices.Contains(args, "-"):
		return nil, nil, usage.Errorf("", "stdin cannot be both a table and the numbers of rows")
	case from != "":
		rows, err = g.numbersOf(ctx, from)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--rows-from: %w", err)
	}
	return args[:n], rows, nil
}

// numbersOf reads numbers of rows, one a line.
func (g group) numbersOf(ctx context.Context, location string) (rows []int64, err error) {
	in, err := inputs.Open(ctx, location, g.Stdin)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	lines := bufio.NewScanner(in.Reader)
	for lines.Scan() {
		row, err := strconv.ParseInt(lines.Text(), 10, 64)
		if err != nil || row < 0 {
			return nil, fmt.Errorf("line %d: %q is not the number of a row", len(rows)+1, lines.Text())
		}
		rows = append(rows, row)
	}
	return rows, lines.Err()
}
