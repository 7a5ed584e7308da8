package change

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/shard"
)

func (a group) compact() *cobra.Command {
	var o shard.CompactOptions
	cmd := &cobra.Command{
		Use:   "compact SHARD",
		Short: "Write stripes of a shard anew: small ones, deleted rows, other encodings, sorted",
		Long: `compact writes stripes of a shard anew, and refers to the others. Without flags, it chooses neighbours that have few rows, and stripes of which a fifth of the
rows is deleted. Rows that are deleted are left out, so that rows behind them get other numbers; undelete does not bring them back.

With --sort, the rows are sorted, so that conditions on the first of these columns read few of them. --cluster sorts by several columns at once, along a Z-order curve: conditions on
each of them read few rows, though more than after a sort by that column alone. --profile, --block-values and --upgrade write all stripes anew, unless
--stripes names some. Indexes are built anew where rows have other numbers.

The old data stay in their files, which amudai gc removes once no root refers to them; amudai relocate copies what is left of a shard in a single file.`,
		Example: `  amudai compact logs.amudai.shard
  amudai compact lineitem.amudai.shard --sort l_shipdate --memory 1GiB
  amudai compact lineitem.amudai.shard --cluster l_shipdate,l_partkey
  amudai compact logs.amudai.shard --stripes 0-3,7 --profile high-compression --dry-run`,
		Args: app.Wants(1, 1, "one shard"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runCompact(cmd.Context(), args[0], o) },
	}
	usage.Parsed(cmd, &o.Stripes, "stripes", "", "numbers of the stripes to write anew, from 0: 3,7 or 0-3", stripesOf)
	cmd.Flags().StringVar(&o.Sort, "sort", "", "`COLUMNS` or expressions to sort the rows by, separated by commas; a minus before one is for descending order")
	cmd.Flags().StringVar(&o.Cluster, "cluster", "", "`COLUMNS` or expressions to sort the rows by at once, so that conditions on each read few of them")
	formats.RegisterProfile(cmd, &o.Profile)
	cmd.Flags().IntVar(&o.BlockValues, "block-values", 0, "most values of a block (default 65536)")
	cmd.Flags().Int64Var(&o.StripeRows, "stripe-rows", shard.DefaultStripeRows, "most rows of a new stripe")
	cmd.Flags().BoolVar(&o.Upgrade, "upgrade", false, "from edition reference to 2026")
	formats.RegisterMemory(cmd, &o.MemoryBytes, "rows and encoded data")
	a.reports(cmd, &o.DryRun)
	return cmd
}

// stripesOf parses a list of numbers and ranges of them, both ends included.
func stripesOf(list string) (all []int, err error) {
	for text := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(text), "-")
		first, err := strconv.Atoi(from)
		last := first
		if isRange && err == nil {
			last, err = strconv.Atoi(to)
		}
		if err != nil || first < 0 || last < first || last > 1<<24 {
			return nil, usage.Errorf("", "--stripes: %q is neither a number nor a range such as 0-3", text)
		}
		for i := first; i <= last; i++ {
			all = append(all, i)
		}
	}
	return all, nil
}

func (a group) runCompact(ctx context.Context, location string, o shard.CompactOptions) error {
	if err := files.CheckShard(location); err != nil {
		return err
	}
	p := a.rowsBar(o.DryRun)
	o.Open.Policy, o.Progress = a.Policy, p.Set
	r, err := shard.Compact(ctx, location, o)
	if err = errors.Join(err, p.End()); err != nil {
		return err
	}
	if len(r.Dropped) > 0 {
		a.Noticef("%s lacks indexes that this version cannot build: %s", location, strings.Join(r.Dropped, ", "))
	}
	if len(r.Stripes) == 0 && !*a.json {
		return a.Out.Printf("%s: no stripe is small beside another, or has many deleted rows; nothing is written\n", location)
	}
	did := terminal.Plural(int(r.Rows), "row") + " of " + terminal.Count(len(r.Stripes)) + " of " + terminal.Plural(r.Before, "stripe")
	if r.Deleted > 0 {
		did += ", without " + terminal.Plural(int(r.Deleted), "deleted row")
	}
	if o.DryRun {
		if len(r.Rebuilt) > 0 {
			did += ", indexes: " + strings.Join(r.Rebuilt, ", ")
		}
		did = "would be written anew: " + did + "; " + terminal.Size(r.Replaced) + " of data would be replaced, " + terminal.Size(r.Kept) + " referred to, for "
	} else {
		did = location + ": " + did + " written anew; " + terminal.Size(r.Replaced) + " → " + terminal.Size(r.Written) + " of data, "
	}
	return a.report(o.DryRun, map[string]any{
		"stripes": list(r.Stripes), "before": r.Before, "after": r.After, "rows": r.Rows, "deleted": r.Deleted,
		"kept_bytes": r.Kept, "replaced_bytes": r.Replaced, "written_bytes": r.Written, "rebuilt_indexes": list(r.Rebuilt), "dropped_indexes": list(r.Dropped),
	}, did+terminal.Plural(r.After, "stripe"))
}
