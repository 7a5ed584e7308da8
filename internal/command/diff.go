package command

import (
	"bufio"
	"context"
	"errors"
	"math"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/internal/command/diff"
	"github.com/amudai/amudai-go/internal/command/formats"
	"github.com/amudai/amudai-go/internal/command/usage"
	"github.com/amudai/amudai-go/internal/engine/ast"
)

// diffFlags are the flags of diff.
type diffFlags struct {
	formats.TableFlags
	key, format, memory string
	tolerance           float64
	quiet               bool
}

// errDiffer is the error of tables that differ, which diff has told already.
var errDiffer = printedError{ExitFailure, "the tables differ"}

func (a *app) diff() *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare two tables: columns, then rows",
		Long: `diff compares two tables of any formats; each may also be a folder, or a pattern in quotes. It prints the columns that
were added, removed or changed, then the rows: by position, or with --key by the values that identify a row, in any order
of the rows. Values of different types are compared in a type that holds both: 1 as int32 is equal to 1 as int64. NaN is
equal to NaN.

The exit code is 0 if the tables are equal, 1 if they differ, 2 after an error.`,
		Example: `  amudai diff flights.csv flights.amudai.shard
  amudai diff old.parquet new.parquet --key id --columns id,price --tolerance 1e-9
  amudai diff monday/ tuesday/ --key 'user,day' --format jsonl | jq 'select(.kind == "removed")'`,
		Args: wants(2, 2, "the old table, and the new one"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.diffExit(cmd.Context(), a.runDiff(cmd, args, f))
		},
	}
	f.Register(cmd, 100)
	flags := cmd.Flags()
	flags.Lookup("limit").Usage = "most rows that are shown, -1 for all; all are counted"
	flags.StringVar(&f.key, "key", "", "values that identify a row, separated by commas (default: its position)")
	flags.StringVar(&f.format, "format", "text", "text, or jsonl with all differences for programs")
	flags.Float64Var(&f.tolerance, "tolerance", 0, "floats that differ by no more are equal")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing, and end with the first difference")
	registerMemory(cmd, &f.memory)
	usage.Complete(cmd, "format", "text", "jsonl")
	return cmd
}

// diffExit prints an error that is not about usage, so that the exit code is that of diff(1).
func (a *app) diffExit(ctx context.Context, err error) error {
	var printed printedError
	var misuse usage.Error
	if err == nil || errors.As(err, &printed) || errors.As(err, &misuse) || ctx.Err() != nil || isBrokenPipe(err) {
		return err
	}
	a.printError(err)
	return printedError{ExitUsage, "the tables are not compared"}
}

func (a *app) runDiff(cmd *cobra.Command, args []string, f diffFlags) (err error) {
	ctx := cmd.Context()
	o, names, err := f.options()
	if err != nil {
		return err
	}
	if args[0] == "-" && args[1] == "-" {
		return usage.Errorf("", "only one of the tables can be standard input")
	}
	limit := f.Rows.Limit
	if f.format == "jsonl" && !cmd.Flags().Changed("limit") {
		limit = -1
	}
	f.Rows.Limit = -1 // of the inputs
	sides, err := a.openSides(ctx, args, f.TableFlags)
	defer func() { err = errors.Join(err, closeSides(sides)) }()
	if err != nil {
		return err
	}
	o.Inferred = isInferred(sides[0].u) || isInferred(sides[1].u)
	out := bufio.NewWriter(a.Stdout)
	var report interface {
		diff.Report
		Summary(diff.Summary) error
	}
	screen := a.out
	screen.Out = out
	switch {
	case f.quiet:
		report = diff.Quiet{}
	case f.format == "jsonl":
		report = &diff.JSON{Out: out, Keys: names, Limit: limit}
	default:
		report = &diff.Text{Screen: screen, Old: args[0], New: args[1], Keys: names, Limit: limit}
	}
	s, err := diff.Tables(ctx, sides[0].src, sides[1].src, o, report)
	if err == nil {
		err = report.Summary(s)
	}
	if err = errors.Join(err, out.Flush()); err == nil && s.Differs() {
		err = errDiffer
	}
	return err
}

// options parses the flags. names are the values of the key.
func (f *diffFlags) options() (o diff.Options, names []string, err error) {
	if f.format != "text" && f.format != "jsonl" {
		return o, nil, usage.Errorf("", "--format %q: use text or jsonl", f.format)
	}
	if o.Tolerance = f.tolerance; !(o.Tolerance >= 0) || math.IsInf(o.Tolerance, 0) {
		return o, nil, usage.Errorf("", "--tolerance %v: use a number from 0", f.tolerance)
	}
	if o.Order.Memory, err = memoryOf(f.memory); err != nil {
		return o, nil, err
	}
	if _, err := f.Rows.Options(); err != nil {
		return o, nil, err
	}
	if o.First = f.quiet; f.key != "" {
		if o.Key, err = ast.ParseValues(f.key); err != nil {
			return o, nil, usage.Errorf("", "--key: %w", err)
		}
	}
	for _, n := range o.Key {
		names = append(names, n.String())
	}
	return o, names, nil
}
