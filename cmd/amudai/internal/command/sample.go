package command

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/table"
)

// sampleFlags are the flags of sample.
type sampleFlags struct {
	catFlags
	seed   uint64
	seeded bool
}

func (a *app) sample() *cobra.Command {
	var f sampleFlags
	cmd := &cobra.Command{
		Use:   "sample N IN...",
		Short: "Print random rows of tables",
		Long: `sample prints N random rows of tables in any format, as one table, in their order. All rows have the same
chance. With --where they are chosen among the rows that match. Equal seeds draw equal rows of equal inputs; without
--seed, a notice tells the seed. Of formats that record their number of rows, such as shards and Parquet, only what
holds the chosen rows is read; others are read as a whole.`,
		Example: `  amudai sample 20 flights.amudai.shard --columns date,origin,delay
  amudai sample 1000 'logs/*.csv' --seed 7 --output some.parquet`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return usage.Errorf("the number of rows comes first", "usage: %s: there is nothing to draw from", cmd.UseLine())
			}
			return wants(2, -1, "a number of rows, then one or more tables")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || n < 0 {
				return usage.Errorf("the number of rows comes first: amudai sample 20 "+args[0], "%q is not a number of rows", args[0])
			}
			f.seeded = cmd.Flags().Changed("seed")
			return a.runSample(cmd.Context(), n, args[1:], f)
		},
	}
	f.register(cmd, -1, defaultFormats)
	cmd.Flags().Uint64Var(&f.seed, "seed", 0, "draw the same rows as before with this seed (default: another one each time)")
	return cmd
}

// runSample prints n random rows.
func (a *app) runSample(ctx context.Context, n int64, locations []string, f sampleFlags) error {
	create, _, err := a.printer(&f.print, "")
	if err != nil {
		return err
	}
	u, err := a.opener.Union(ctx, locations, &f.TableFlags)
	if err != nil {
		return err
	}
	if !f.seeded {
		f.seed = rand.Uint64N(1_000_000)
		a.noticef("--seed %d draws the same rows again", f.seed)
	}
	src, err := u.Source(ctx, table.SampleOptions{ScanOptions: u.Scan, N: n, Seed: f.seed})
	if err != nil {
		return err
	}
	return errors.Join(printRows(ctx, src, create, -1), src.Close())
}
