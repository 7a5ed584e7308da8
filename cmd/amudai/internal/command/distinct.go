package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/table"
)

// distinctFlags are the flags of distinct.
type distinctFlags struct {
	catFlags
	count  bool
	memory string
}

func (a *app) distinct() *cobra.Command {
	var f distinctFlags
	cmd := &cobra.Command{
		Use:   "distinct IN...",
		Short: "Print rows without repetition",
		Long: `distinct prints each row once, in the order of first appearance: rows that differ in the columns of --columns, or in
any column. Null is a value, and so is NaN. --count prints the number of these rows instead. Rows beyond --memory go to
temporary files; they are printed after the input has ended.`,
		Example: `  amudai distinct flights.amudai.shard --columns origin,destination
  amudai distinct 'logs/*.csv' --columns user --count`,
		Args: wants(1, -1, "one or more tables"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runDistinct(cmd.Context(), args, f) },
	}
	f.register(cmd, -1, defaultFormats)
	cmd.Flags().BoolVar(&f.count, "count", false, "print the number of distinct rows")
	registerMemory(cmd, &f.memory)
	return cmd
}

func (a *app) runDistinct(ctx context.Context, locations []string, f distinctFlags) (err error) {
	var o table.DistinctOptions
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
	o.Columns, o.Filter, o.Rows, o.Limit = u.Scan.Columns, u.Scan.Filter, u.Scan.Rows, u.Scan.Limit
	if !f.count {
		return a.printQuery(ctx, u, o, create, -1)
	}
	n := int64(0)
	for b, err := range u.Distinct(ctx, o) {
		if err != nil {
			return errors.Join(err, u.Close())
		}
		n += b.NumRows()
	}
	return errors.Join(a.printCount(n, -1), u.Close())
}
