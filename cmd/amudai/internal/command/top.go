package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/table"
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
	o := table.TopOptions{By: f.by}
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
	return a.printQuery(ctx, u, o, create, f.Rows.Limit)
}
