package command

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
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
	if o.Rows != nil {
		return usage.Errorf("leave it out", "--rows cannot be explained")
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
			if err := a.out.Printf("%s:\n", storage.Redact(location)); err != nil {
				return err
			}
		}
		if err := a.explain(ctx, location, f.Read.From, o, f.analyze); err != nil {
			return err
		}
	}
	return nil
}

// explain tells how rows of an input are found.
func (a *app) explain(ctx context.Context, location, from string, o table.ScanOptions, analyze bool) error {
	t, err := a.opener.Table(ctx, location, from)
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
	return a.out.Printf("%s", explanation(x[0]))
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
