package command

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/internal/command/terminal"
	"github.com/amudai/amudai-go/shard"
)

type recoverFlags struct {
	layout          string
	force, json     bool
	parallel        int
	maxProblemLines int
}

func (a *app) recover() *cobra.Command {
	f := recoverFlags{maxProblemLines: 3}
	cmd := &cobra.Command{
		Use:   "recover DAMAGED OUT",
		Short: "Save what is complete in an unfinished or damaged shard",
		Long: `recover writes a new shard with every complete stripe of a damaged one that still checks out. It also
takes the temporary file of a writer that was killed (.NAME.RANDOM.tmp). Exit code 1 means that
stripes were lost, or bytes left over that probably are of one; what was saved is in OUT then, if
anything was.`,
		Args: wants(2, 2, "the damaged shard, and where the new one goes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.runRecover(cmd.Context(), args[0], args[1], f)
		},
	}
	cmd.Flags().BoolVarP(&f.force, "force", "f", false, "replace an existing output")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().StringVar(&f.layout, "layout", "single", "single (one file) or two-level (one file per stripe beside the root)")
	cmd.Flags().IntVar(&f.parallel, "parallel", 0, "columns checked at a time (default: one per CPU)")
	return cmd
}

func (a *app) runRecover(ctx context.Context, in, out string, f recoverFlags) error {
	layout, err := layoutOf(f.layout)
	if err != nil {
		return err
	}
	if err := checkShardFile(in); err != nil {
		return err
	}
	if err := checkOutput(out, f.force); err != nil {
		return err
	}
	report, err := shard.Recover(ctx, in, out, shard.RecoverOptions{Layout: layout, Overwrite: f.force, Parallelism: f.parallel})
	if report == nil {
		return withHint(missing(in, err), "there is nothing to save in it")
	}
	if f.json {
		if jerr := a.recoverJSON(out, report, err); jerr != nil {
			return jerr
		}
	} else {
		a.recoverText(out, report, f, err == nil)
	}
	if err != nil {
		return withHint(creating(out, err), "there is nothing to save in it")
	}
	if len(report.Lost)+len(report.Missing)+report.Damaged > 0 || report.Left > 0 && !report.Complete {
		return errProblems
	}
	return nil
}

// recoverText lists the stripes found, lost and saved.
func (a *app) recoverText(out string, r *shard.RecoverReport, f recoverFlags, done bool) {
	if r.OpenErr != nil {
		a.out.Printf("the end of the shard is damaged: %s\n", terminal.OneLine(r.OpenErr.Error()))
	}
	for _, l := range r.Lost {
		a.out.Printf("%s stripe %d with %s\n", a.out.Paint(terminal.Red, "lost:"), l.Stripe, terminal.Plural(l.Rows, "row"))
		for i, p := range l.Problems {
			if i == f.maxProblemLines {
				a.out.Printf("      and %s\n", terminal.Plural(len(l.Problems)-i, "more problem"))
				break
			}
			a.out.Printf("      %s\n", terminal.OneLine(p.String()))
		}
	}
	if len(r.Missing) > 0 {
		names := make([]string, len(r.Missing))
		for i, m := range r.Missing {
			names[i] = strconv.Itoa(m)
		}
		a.out.Printf("%s nothing is left of stripe %s\n", a.out.Paint(terminal.Red, "lost:"), strings.Join(names, ", "))
	}
	if r.Damaged > 0 {
		a.out.Printf("%s damaged\n", terminal.Plural(r.Damaged, "recovery record"))
	}
	if r.Left > 0 && !r.Complete {
		a.out.Printf("%s %s behind the last stripe that was found: probably of a stripe that is not complete\n",
			a.out.Paint(terminal.Red, "left over:"), terminal.Plural(r.Left, "byte"))
	}
	if done {
		a.out.Printf("saved %s of %d found, %s, in %s\n", terminal.Plural(r.Saved, "stripe"), r.Found, terminal.Plural(r.Rows, "row"), out)
	}
}

func (a *app) recoverJSON(out string, r *shard.RecoverReport, err error) error {
	lost := []map[string]any{}
	for _, l := range r.Lost {
		lost = append(lost, map[string]any{"stripe": l.Stripe, "rows": l.Rows, "problems": findings(l.Problems)})
	}
	j := map[string]any{
		"out": out, "found": r.Found, "saved": r.Saved, "rows": r.Rows, "unfinished": r.Unfinished,
		"lost": lost, "missing": slices.Clip(append([]int{}, r.Missing...)), "damaged_records": r.Damaged,
		"left_bytes": r.Left, "complete": r.Complete || !r.Unfinished,
	}
	if r.OpenErr != nil {
		j["end"] = terminal.OneLine(r.OpenErr.Error())
	}
	if err != nil {
		j["error"] = terminal.OneLine(err.Error())
	}
	return terminal.JSON(a.Stdout, j)
}
