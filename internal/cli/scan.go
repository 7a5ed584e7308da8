package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/schema"
)

func (a *app) scan() *cobra.Command {
	var f catFlags
	var explain, analyze, count bool
	cmd := &cobra.Command{
		Use:   "scan SHARD",
		Short: "Print the rows of a shard that meet a condition, or how they are found",
		Long: `scan prints the rows that --where asks for, as cat does; with --count only how many they are.
--explain prints instead which rows would be looked at: what statistics, Bloom filters, value dictionaries and
range indexes leave of each stripe. --analyze does the same and runs the scan: blocks and bytes read, requests, time.`,
		Example: `  amudai scan flights.amudai.shard --where "origin = 'SFO' and delay > 300"
  amudai scan flights.amudai.shard --where "date >= '2001-01-05'" --columns date,delay --analyze`,
		Args: wants(1, 1, "one shard"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if explain || analyze || count {
				return a.runScan(cmd.Context(), args[0], f, count, analyze)
			}
			return a.runCat(cmd.Context(), args[0], f, "")
		},
	}
	f.register(cmd, -1, "table on a terminal, else csv")
	cmd.Flags().BoolVar(&explain, "explain", false, "print how the rows would be found")
	cmd.Flags().BoolVar(&analyze, "analyze", false, "find them, and print what that took")
	cmd.Flags().BoolVar(&count, "count", false, "print how many they are")
	return cmd
}

// condition is the filter of a flag.
func condition(text string) (filter.Expr, error) {
	if text == "" {
		return filter.Expr{}, nil
	}
	e, err := filter.Parse(text)
	if err != nil {
		return e, usagef("", "--where: %w", err)
	}
	return e, nil
}

// runScan counts rows, or tells how they are found.
func (a *app) runScan(ctx context.Context, location string, f catFlags, count, analyze bool) (err error) {
	if _, err := f.read.options(a); err != nil {
		return err
	}
	o, err := f.scanOptions()
	if err != nil {
		return err
	}
	s, err := openShard(ctx, location, a.types)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if count {
		n, err := s.Count(ctx, o.Filter)
		if f.limit >= 0 {
			n = min(n, f.limit)
		}
		if err == nil {
			_, err = fmt.Fprintln(a.Stdout, n)
		}
		return err
	}
	explain := s.Explain
	if analyze {
		explain = s.Analyze
	}
	o.Columns = f.read.columns
	x, err := explain(ctx, o)
	if errors.Is(err, schema.ErrNoField) {
		err = withHint(err, "amudai schema lists the columns")
	}
	if err == nil {
		_, err = fmt.Fprint(a.Stdout, x)
	}
	return err
}
