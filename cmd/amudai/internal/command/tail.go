package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/table"
)

func (a *app) tail() *cobra.Command {
	var f catFlags
	cmd := &cobra.Command{
		Use:   "tail IN...",
		Short: "Print the last rows of tables",
		Long: `tail prints the last ten rows, or --limit rows, of tables in any format, as one table. Formats that record
their number of rows, such as shards and Parquet, are read from there on; others are read from the beginning, and the
last rows are kept.`,
		Example: `  amudai tail flights.amudai.shard --columns date,delay
  amudai tail 'logs/*.jsonl' --where "level = 'ERROR'" -n 3`,
		Args: wants(1, -1, "one or more tables"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runTail(cmd.Context(), args, f) },
	}
	f.register(cmd, 10, "table")
	return cmd
}

// runTail prints the last rows.
func (a *app) runTail(ctx context.Context, locations []string, f catFlags) error {
	create, _, err := a.printer(&f.print, tableFormat)
	if err != nil {
		return err
	}
	n := f.Rows.Limit
	t := f.TableFlags
	t.Rows.Limit = -1
	u, err := a.opener.Union(ctx, locations, &t)
	if err != nil {
		return err
	}
	var q table.Query = u.Scan
	if n >= 0 {
		q = table.TailOptions{Columns: u.Scan.Columns, Filter: u.Scan.Filter, Rows: u.Scan.Rows, N: n}
	}
	src, err := u.Source(ctx, q)
	if err != nil {
		return err
	}
	return errors.Join(printRows(ctx, src, create, -1), src.Close())
}
