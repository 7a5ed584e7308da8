package command

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/internal/command/terminal"
	"github.com/amudai/amudai-go/internal/command/usage"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
)

// scanFlags are the flags of scan.
type scanFlags struct {
	catFlags
	explain, analyze, count bool
}

func (a *app) scan() *cobra.Command {
	var f scanFlags
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
		Args: wants(1, -1, "one or more tables"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.explain || f.analyze:
				return a.runExplain(cmd.Context(), args, f)
			case f.count:
				return a.runCount(cmd.Context(), args, &f.TableFlags)
			}
			return a.runCat(cmd.Context(), args, f.catFlags, "")
		},
	}
	f.register(cmd, -1, defaultFormats)
	cmd.Flags().BoolVar(&f.explain, "explain", false, "explain how the rows would be found")
	cmd.Flags().BoolVar(&f.analyze, "analyze", false, "run the scan, and print its reads and times")
	cmd.Flags().BoolVar(&f.count, "count", false, "print the number of rows")
	return cmd
}

// runExplain tells how rows are found in each input.
func (a *app) runExplain(ctx context.Context, locations []string, f scanFlags) error {
	if _, err := a.opener.Use(ctx, &f.Read); err != nil {
		return err
	}
	o, err := f.Rows.Options()
	if err != nil {
		return err
	}
	if r, err := f.Rows.Range(); err != nil || !r.IsAll() {
		return errors.Join(err, usage.Errorf("leave it out", "--rows cannot be explained"))
	}
	if f.Rows.HasStripes() {
		return usage.Errorf("leave it out", "--stripes cannot be explained")
	}
	if o.Columns = f.Read.Columns; f.count {
		o.Columns = []string{}
	}
	inputs, err := a.opener.Inputs(ctx, locations, &f.Read)
	if err != nil {
		return err
	}
	for _, location := range inputs {
		if len(inputs) > 1 {
			if err := a.out.Printf("%s:\n", location); err != nil {
				return err
			}
		}
		if err := a.explain(ctx, location, o, f.analyze); err != nil {
			return err
		}
	}
	return nil
}

// explain tells how rows of an input are found.
func (a *app) explain(ctx context.Context, location string, o shard.ScanOptions, analyze bool) (err error) {
	if in, format, ok := a.opener.Describes(ctx, location, func(f table.Format) bool { return f.Explain != nil }); ok {
		return errors.Join(a.explainTable(ctx, in, format, o, analyze), in.Close())
	}
	s, err := a.opener.Shard(ctx, location, shard.OpenOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	explain := s.Explain
	if analyze {
		explain = s.Analyze
	}
	return a.printExplanation(explain(ctx, o))
}

func (a *app) printExplanation(x *shard.Explanation, err error) error {
	if err == nil {
		err = a.out.Printf("%s", explanation(x))
	}
	return err
}

// explainTable tells how the rows of a format that filters are found.
func (a *app) explainTable(ctx context.Context, in table.Input, f table.Format, o shard.ScanOptions, analyze bool) error {
	if in.Location == "" {
		return usage.WithHint(fmt.Errorf("%s: a scan of a compressed file cannot be explained", in.Name), "decompress it first")
	}
	return a.printExplanation(f.Explain(ctx, in, table.ExplainOptions{Columns: o.Columns, Filter: o.Filter, Limit: o.Limit, Run: analyze}))
}

// explanation is an explanation as lines that are safe to print: names of columns may have
// line ends, too.
func explanation(x *shard.Explanation) terminal.Styled {
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
