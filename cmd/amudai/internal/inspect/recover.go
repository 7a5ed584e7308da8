package inspect

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/shard"
)

type recoverFlags struct {
	layout   shard.Layout
	json     bool
	parallel int
}

func (a group) recover() *cobra.Command {
	var f recoverFlags
	cmd := &cobra.Command{
		Use:   "recover DAMAGED OUT",
		Short: "Save the complete stripes of an unfinished or damaged shard",
		Long: `recover writes a new shard with every complete and undamaged stripe of a damaged one. It also
accepts the temporary file of a writer that was killed (.NAME.RANDOM.tmp). Of a file that was packed, FILE:0 is the first shard, and
FILE means all, which are packed again. Exit code 1 means that
stripes were lost, or that bytes remain which probably belong to one. OUT then has the stripes that
were saved, if there are any.`,
		Args: app.Wants(2, 2, "the damaged shard, then the output"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.runRecover(cmd.Context(), args[0], args[1], f)
		},
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	usage.Parsed(cmd, &f.layout, "layout", "single", "single (one file) or two-level (one file per stripe beside the root)", formats.Layout)
	cmd.Flags().IntVar(&f.parallel, "parallel", 0, "columns checked at a time (default: one per CPU)")
	return cmd
}

func (a group) runRecover(ctx context.Context, in, out string, f recoverFlags) error {
	var open shard.OpenOptions
	in, err := formats.ShardIn(ctx, in, &open)
	if err != nil {
		return err
	}
	if err := files.CheckOutput(out, a.Force); err != nil {
		return err
	}
	report, err := shard.Recover(ctx, in, out, shard.RecoverOptions{Open: open, Layout: f.layout, Overwrite: a.Force, Parallelism: f.parallel})
	if report == nil {
		return usage.WithHint(inputs.Missing(in, err), "nothing in it can be saved")
	}
	if f.json {
		if jerr := recoverJSON(a.Stdout, out, report, err); jerr != nil {
			return jerr
		}
	} else {
		recoverText(a.Out, out, report, err == nil)
	}
	if err != nil {
		return usage.WithHint(files.CreateError(out, err), "nothing in it can be saved")
	}
	if len(report.Lost)+len(report.Missing)+report.Damaged > 0 || report.OpenErr != nil && !report.Unfinished || report.Left > 0 && !report.Complete {
		return app.ErrProblems
	}
	return nil
}
