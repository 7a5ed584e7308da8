package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/internal/command/files"
	"github.com/amudai/amudai-go/internal/command/formats"
	"github.com/amudai/amudai-go/internal/command/inspect"
	"github.com/amudai/amudai-go/internal/command/terminal"
	"github.com/amudai/amudai-go/internal/command/usage"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
)

type verifyFlags struct {
	metadata, json, quiet bool
	most, parallel        int
}

func (a *app) verify() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify FILE...",
		Short: "Check the consistency of shards, Blockpack and ROOT files",
		Long: `verify checks every checksum, reference, count, statistic, dictionary order, filter and index of a
shard against its data, and prints a summary of the checks. Exit code 1 means that problems were
found; each is one line with its place and offset. Notes are peculiarities that affect no value. If a
shard cannot be opened, that is an error, and the others are still checked. Standard input cannot
be verified: save it to a file first.

Of the RNTuples in a ROOT file it checks every checksum, count, reference and overlap, and decodes
every page. Of a Blockpack file, which has no checksums, it decodes every column, makes the indexes anew, and compares.`,
		Args: wants(1, -1, "one or more files"),
		RunE: func(cmd *cobra.Command, args []string) error {
			failed := false
			for _, in := range verified(cmd.Context(), args) {
				ok, err := false, in.Err
				if err == nil {
					ok, err = a.runVerify(cmd.Context(), in.Location, f)
				}
				var wrong usage.Error
				if errors.As(err, &wrong) || isBrokenPipe(err) || cmd.Context().Err() != nil {
					return err
				}
				if err != nil {
					a.printError(err)
				}
				failed = failed || !ok || err != nil
			}
			if failed {
				return errProblems
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&f.metadata, "metadata", false, "only the metadata, without reading the data")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "print problems only")
	cmd.Flags().IntVar(&f.most, "max", 100, "number of problems to stop after")
	cmd.Flags().IntVar(&f.parallel, "parallel", 0, "columns checked at a time (default: one per CPU)")
	return cmd
}

// verified are the files of locations. Shells expand patterns of paths, and no others.
func verified(ctx context.Context, locations []string) (all []formats.Input) {
	for _, location := range locations {
		if files.IsURL(location) {
			all = append(all, formats.Inputs(ctx, []string{location})...)
		} else {
			all = append(all, formats.Input{Location: location})
		}
	}
	return all
}

func (a *app) runVerify(ctx context.Context, location string, f verifyFlags) (ok bool, err error) {
	if f.most <= 0 || f.parallel < 0 {
		return false, usage.Errorf("", "--max and --parallel need a number above 0")
	}
	if in, format, ok := a.opener.Describes(ctx, location, func(f table.Format) bool { return f.Verify != nil }); ok {
		sound, err := a.verifyTable(ctx, in, format, f)
		return sound, errors.Join(err, in.Close())
	}
	if err := files.CheckShard(location); err != nil {
		return false, err
	}
	p := terminal.StartColumns(a.bars(f.quiet || f.json))
	report, err := shard.Verify(ctx, location, shard.VerifyOptions{
		MetadataOnly: f.metadata, MaxFindings: f.most, Parallelism: f.parallel,
		Progress: func(done, total int) { p.Set(done, total) },
	})
	err = errors.Join(err, p.End())
	if err != nil {
		return false, files.Missing(location, err)
	}
	if f.json {
		return report.OK(), inspect.VerifyJSON(a.Stdout, location, report)
	}
	a.findings(report.Problems, report.Notes, f.quiet)
	if f.quiet {
		return report.OK(), nil
	}
	return report.OK(), inspect.Verdict(a.out, location, report, f.metadata)
}

// findings prints problems, and notes unless it is to be quiet.
func (a *app) findings(problems, notes []shard.Finding, quiet bool) {
	for _, x := range problems {
		a.out.Printf("%s %s\n", a.out.Paint(terminal.Red, "problem:"), terminal.OneLine(x.String()))
	}
	for _, x := range notes {
		if !quiet {
			a.out.Printf("%s %s\n", a.out.Paint(terminal.Dim, "note:"), terminal.OneLine(x.String()))
		}
	}
}

// verifyTable checks an input of another format than shards.
func (a *app) verifyTable(ctx context.Context, in table.Input, format table.Format, f verifyFlags) (ok bool, err error) {
	p := terminal.StartColumns(a.bars(f.quiet || f.json))
	report, err := format.Verify(ctx, in, table.VerifyOptions{
		MetadataOnly: f.metadata, MaxFindings: f.most, Parallelism: f.parallel,
		Progress: func(done, total int) { p.Set(done, total) },
	})
	if err = errors.Join(err, p.End()); err != nil {
		return false, err
	}
	if f.json {
		return report.OK(), inspect.TableReportJSON(a.Stdout, in.Name, report)
	}
	a.findings(inspect.Findings(report.Problems), inspect.Findings(report.Notes), f.quiet)
	if f.quiet {
		return report.OK(), nil
	}
	return report.OK(), inspect.TableVerdict(a.out, in.Name, report, f.metadata)
}
