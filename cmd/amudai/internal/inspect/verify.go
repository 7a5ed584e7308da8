package inspect

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table"
)

type verifyFlags struct {
	metadata, quick, json bool
	most, parallel        int
}

func (a group) verify() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify FILE...",
		Short: "Check the consistency of shards, Blockpack and ROOT files",
		Long: `verify checks every checksum, reference, count, statistic, dictionary order, filter and index of a
shard against its data, and prints a summary of the checks. There are three answers. Exit code 0: all
files are sound. 1: problems were found; each is one line with its place and offset. 3: no problems
were found, but not all was checked, because a file cannot be read or verified, is too large for a limit, or is of an
edition or version that this one does not know. Notes are peculiarities that affect no value, and what
was not checked. Of folders, the files in such formats are verified. Standard input cannot be verified: save it to a file first.

With --quick, verify reads all bytes of a shard, and compares them with their checksums and those beside
the references to them, but decodes no values. So it finds changed bytes and exchanged files.

Of the RNTuples in a ROOT file it checks every checksum, count, reference and overlap, and decodes
every page. Of a Blockpack file, which has no checksums, it decodes every column, makes the indexes anew, and compares.`,
		Args: app.Wants(1, -1, "one or more files"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.most <= 0 || f.parallel < 0 {
				return usage.Errorf("", "--max and --parallel need a number above 0")
			}
			var answers [notChecked + 1]int
			for _, in := range inputs.Expand(cmd.Context(), args, formats.All()) {
				answer, err := notChecked, in.Err
				if err == nil {
					answer, err = a.runVerify(cmd.Context(), in.Location, f)
				}
				if app.IsBrokenPipe(err) || cmd.Context().Err() != nil {
					return err
				}
				if in.Found && (errors.Is(err, inputs.ErrUnknown) || errors.Is(err, errUnverifiable)) {
					continue // beside files that are meant
				}
				if answers[answer]++; err != nil {
					a.PrintError(err)
				}
			}
			switch {
			case answers[problems] > 0:
				return app.ErrProblems
			case answers[notChecked] > 0:
				return app.ErrUnchecked
			case answers[sound] == 0:
				a.PrintError(errors.New("there are no files that can be verified"))
				return app.ErrUnchecked
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&f.metadata, "metadata", false, "only the metadata, without reading the data")
	cmd.Flags().BoolVar(&f.quick, "quick", false, "of shards only checksums, without decoding values")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().BoolVarP(&a.Quiet, "quiet", "q", false, "print nothing of sound files")
	cmd.Flags().IntVar(&f.most, "max", 100, "number of problems to stop after")
	cmd.Flags().IntVar(&f.parallel, "parallel", 0, "columns checked at a time (default: one per CPU)")
	return cmd
}

// errUnverifiable is the error of an input of which nothing can be checked.
var errUnverifiable = errors.New("cannot be verified")

// answer is the outcome of the verification of a file that can be read.
type answer int

const (
	sound answer = iota
	problems
	notChecked // completely
)

func answerOf(r *table.Report) answer {
	switch {
	case r.OK():
		return sound
	case len(r.Problems) > 0:
		return problems
	}
	return notChecked
}

func (a group) runVerify(ctx context.Context, location string, f verifyFlags) (answer, error) {
	t, err := a.Opener.Table(ctx, location, "")
	if err != nil {
		return notChecked, err
	}
	a.Quiet = a.Quiet || f.json
	p := terminal.Start(a.Bars(), "columns")
	reports, err := t.Verify(ctx, table.VerifyOptions{
		MetadataOnly: f.metadata, Quick: f.quick, MaxFindings: f.most, Parallelism: f.parallel,
		Progress: func(done, total int) { p.Set(int64(done), int64(total)) },
	})
	if err = errors.Join(err, p.End(), t.Close()); err != nil {
		return notChecked, inputs.Missing(location, err)
	}
	report := reports[0]
	if report == nil {
		return notChecked, formats.Untold(t, errUnverifiable)
	}
	answer, name := answerOf(report), storage.Redact(location)
	if f.json {
		return answer, verifyJSON(a.Stdout, name, report)
	}
	if a.Quiet && answer == sound {
		return answer, nil
	}
	for _, err := range report.Problems {
		a.Out.Printf("%s %s\n", a.Out.Paint(terminal.Red, "problem:"), terminal.OneLine(err.Error()))
	}
	for _, err := range report.Notes {
		a.Out.Printf("%s %s\n", a.Out.Paint(terminal.Dim, "note:"), terminal.OneLine(err.Error()))
	}
	return answer, verdict(a.Out, name, report, f.metadata)
}

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
