package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/internal/command/files"
	"github.com/amudai/amudai-go/internal/command/inspect"
	"github.com/amudai/amudai-go/internal/command/terminal"
	"github.com/amudai/amudai-go/shard"
)

type verifyFlags struct {
	metadata, json, quiet bool
	most, parallel        int
}

func (a *app) verify() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify SHARD...",
		Short: "Check the consistency of shards",
		Long: `verify checks every checksum, reference, count, statistic, dictionary order, filter and index of a
shard against its data, and prints a summary of the checks. Exit code 1 means that problems were
found; each is one line with its place and offset. Notes are peculiarities that affect no value. If a
shard cannot be opened, that is an error, and the others are still checked. Standard input cannot
be verified: save it to a file first.`,
		Args: wants(1, -1, "one or more shards"),
		RunE: func(cmd *cobra.Command, args []string) error {
			failed := false
			for _, location := range args {
				ok, err := a.runVerify(cmd.Context(), location, f)
				var wrong usageError
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

func (a *app) runVerify(ctx context.Context, location string, f verifyFlags) (ok bool, err error) {
	if f.most <= 0 || f.parallel < 0 {
		return false, usagef("", "--max and --parallel need a number above 0")
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
	for _, x := range report.Problems {
		a.out.Printf("%s %s\n", a.out.Paint(terminal.Red, "problem:"), terminal.OneLine(x.String()))
	}
	if f.quiet {
		return report.OK(), nil
	}
	for _, x := range report.Notes {
		a.out.Printf("%s %s\n", a.out.Paint(terminal.Dim, "note:"), terminal.OneLine(x.String()))
	}
	return report.OK(), inspect.Verdict(a.out, location, report, f.metadata)
}
