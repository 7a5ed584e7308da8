package change

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/shard"
)

func (a group) merge() *cobra.Command {
	var o shard.MergeOptions
	var output string
	cmd := &cobra.Command{
		Use:   "merge SHARD... -o OUT",
		Short: "Make one shard of several, without a copy of their data",
		Long: `merge makes a shard whose stripes are those of others, folders and patterns of them, in their order. They stay in the files where they are; only
metadata is read and written. Columns are matched by name, and are null where a shard lacks them. A column that has another type in one of the shards is an
error: amudai column cast changes it there. Deleted rows stay deleted.

The files must stay where they are. They must lie in the folder of the new shard or below: by default, readers refuse references to other places.
amudai convert makes a shard with a copy of the values, and amudai compact writes small stripes of the merged one anew.`,
		Example: `  amudai merge 2026-*.amudai.shard -o 2026.amudai.shard
  amudai merge days/ -o all.amudai.shard --dry-run`,
		Args: app.Wants(1, -1, "shards"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return usage.Errorf("-o OUT.amudai.shard", "merge needs the name of the new shard")
			}
			return a.runMerge(cmd.Context(), args, output, o)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write the new shard to `OUT`")
	a.reports(cmd, &o.DryRun)
	return cmd
}

func (a group) runMerge(ctx context.Context, locations []string, output string, o shard.MergeOptions) error {
	if err := files.CheckOutput(output, a.Force); err != nil {
		return err
	}
	all, err := a.Opener.Inputs(ctx, locations, &formats.ReadFlags{From: "shard"})
	if err != nil {
		return err
	}
	o.Overwrite = a.Force
	r, err := shard.Merge(ctx, output, all, o)
	if err != nil {
		return err
	}
	if len(r.Dropped) > 0 {
		a.Noticef("%s has no index of all of its rows: %s stays with its shard only; amudai index add makes one", output, strings.Join(r.Dropped, ", "))
	}
	did := terminal.Plural(len(all), "shard") + " → " + output + ": " + terminal.Plural(r.Stripes, "stripe") + ", " + terminal.Plural(int(r.Rows), "row")
	if o.DryRun {
		did += "; no data would be copied"
	} else {
		did += ", " + terminal.Size(r.Written) + " of metadata"
	}
	return a.report(o.DryRun, map[string]any{
		"location": output, "shards": len(all), "stripes": r.Stripes, "rows": r.Rows, "written_bytes": r.Written, "dropped_indexes": list(r.Dropped),
	}, did)
}
