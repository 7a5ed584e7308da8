package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/table"
)

// sortFlags are the flags of sort.
type sortFlags struct {
	catFlags
	by         string
	nullsFirst bool
	memory     string
}

func (a *app) sort() *cobra.Command {
	var f sortFlags
	cmd := &cobra.Command{
		Use:   "sort IN...",
		Short: "Print the rows of tables in order",
		Long: `sort prints rows in the order of the values of --by: columns, or expressions such as year(date), separated by
commas. A minus before one makes its order descending. Nulls are last, unless --nulls-first; NaN is greater than
all numbers; strings are compared by their bytes, lists and structs by their elements. Rows of equal values keep
their order. With --limit, only the first rows are kept in memory. Rows beyond --memory go to temporary files.`,
		Example: `  amudai sort flights.amudai.shard --by -delay,origin --limit 10
  amudai sort 'logs/*.csv' --by 'year(date), -size' --output sorted.parquet`,
		Args: wants(1, -1, "one or more tables"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runSort(cmd.Context(), args, f) },
	}
	f.register(cmd, -1, defaultFormats)
	cmd.Flags().StringVar(&f.by, "by", "", "values to sort by, separated by commas, such as \"-delay,origin\"")
	cmd.Flags().BoolVar(&f.nullsFirst, "nulls-first", false, "nulls come before all values")
	registerMemory(cmd, &f.memory)
	return cmd
}

// registerMemory adds the flag of the commands that move rows to temporary files.
func registerMemory(cmd *cobra.Command, memory *string) {
	cmd.Flags().StringVar(memory, "memory", "256MiB", "rows held in memory, up to 1GiB; the rest goes to temporary files")
}

// memoryOf parses the flag --memory.
func memoryOf(text string) (int64, error) {
	n, err := terminal.ParseSize(text)
	if err != nil || n <= 0 {
		return 0, usage.Errorf("", "--memory: %q is not a size such as 256MiB", text)
	}
	return n, nil
}

func (a *app) runSort(ctx context.Context, locations []string, f sortFlags) (err error) {
	if f.by == "" {
		return usage.Errorf("--by -delay,origin, for example", "sort needs --by")
	}
	o := table.SortOptions{By: f.by, NullsFirst: f.nullsFirst}
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
	return a.printQuery(ctx, u, o, create, -1)
}
