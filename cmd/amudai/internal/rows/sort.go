package rows

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

func (g group) sort() *cobra.Command {
	var f flags
	var o table.SortOptions
	cmd := &cobra.Command{
		Use:   "sort IN...",
		Short: "Print the rows of tables in order",
		Long: `sort prints rows in the order of the values of --by: columns, or expressions such as year(date), separated by
commas. A minus before one makes its order descending. Nulls are last, unless --nulls-first; NaN is greater than
all numbers; strings are compared by their bytes, lists and structs by their elements. Rows of equal values keep
their order. With --limit, only the first rows are kept in memory. Rows beyond --memory go to temporary files.`,
		Example: `  amudai sort flights.amudai.shard --by -delay,origin --limit 10
  amudai sort 'logs/*.csv' --by 'year(date), -size' --output sorted.parquet`,
	}
	f.TableFlags.Register(cmd, -1)
	cmd.Flags().StringVar(&o.By, "by", "", "values to sort by, separated by commas, such as \"-delay,origin\"")
	cmd.Flags().BoolVar(&o.NullsFirst, "nulls-first", false, "nulls come before all values")
	formats.RegisterMemory(cmd, &o.Memory, "rows")
	return g.prints(cmd, &f, "", func(u *formats.Union) (table.Query, error) {
		if o.By == "" {
			return nil, usage.Errorf("--by -delay,origin, for example", "sort needs --by")
		}
		o.Columns, o.Filter, o.Rows, o.Limit = u.Scan.Columns, u.Scan.Filter, u.Scan.Rows, u.Scan.Limit
		return o, nil
	})
}

func (g group) distinct() *cobra.Command {
	var f flags
	var o table.DistinctOptions
	count := false
	cmd := &cobra.Command{
		Use:   "distinct IN...",
		Short: "Print rows without repetition",
		Long: `distinct prints each row once, in the order of first appearance: rows that differ in the columns of --columns, or in
any column. Null is a value, and so is NaN. --count prints the number of these rows instead. Rows beyond --memory go to
temporary files; they are printed after the input has ended.`,
		Example: `  amudai distinct flights.amudai.shard --columns origin,destination
  amudai distinct 'logs/*.csv' --columns user --count`,
	}
	ask := func(u *formats.Union) (table.Query, error) {
		o.Columns, o.Filter, o.Rows, o.Limit = u.Scan.Columns, u.Scan.Filter, u.Scan.Rows, u.Scan.Limit
		return o, nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if count {
			return g.countRows(cmd.Context(), args, &f, ask)
		}
		return g.print(cmd.Context(), args, &f, "", ask)
	}
	f.TableFlags.Register(cmd, -1)
	cmd.Flags().BoolVar(&count, "count", false, "print the number of distinct rows")
	formats.RegisterMemory(cmd, &o.Memory, "rows")
	return g.prints(cmd, &f, "", ask)
}

// countRows prints the number of rows of an answer.
func (g group) countRows(ctx context.Context, locations []string, f *flags, q ask) error {
	src, _, err := g.answer(ctx, locations, f, "", q)
	if err != nil {
		return err
	}
	n := int64(0)
	for b, err := range provider.Batches(ctx, src) {
		if err != nil {
			return errors.Join(err, src.Close())
		}
		n += b.NumRows()
	}
	return errors.Join(g.Out.Printf("%d\n", n), src.Close())
}
