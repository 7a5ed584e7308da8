package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
)

func (a *app) count() *cobra.Command {
	var t formats.TableFlags
	cmd := &cobra.Command{
		Use:   "count IN...",
		Short: "Print the number of rows of tables",
		Long: `count prints the number of rows of tables in any format, all together, or of those that match --where. Shards,
Parquet and other formats that record their number of rows are not read for it.`,
		Example: `  amudai count flights.amudai.shard
  amudai count 'logs/*.csv' --where "level = 'ERROR'"`,
		Args: wants(1, -1, "one or more tables"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runCount(cmd.Context(), args, &t) },
	}
	t.Register(cmd, -1)
	return cmd
}

// runCount prints the number of rows.
func (a *app) runCount(ctx context.Context, locations []string, t *formats.TableFlags) error {
	u, err := a.opener.Union(ctx, locations, t)
	if err != nil {
		return err
	}
	n, err := u.Count(ctx, u.Scan)
	if err == nil {
		err = a.printCount(n, -1)
	}
	return errors.Join(err, u.Close())
}

// printCount prints a number of rows, up to the limit.
func (a *app) printCount(n, limit int64) error {
	if limit >= 0 {
		n = min(n, limit)
	}
	return a.out.Printf("%d\n", n)
}
