package rows

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
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
