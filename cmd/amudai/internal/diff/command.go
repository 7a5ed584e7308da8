// Package diff prints differences of two tables, as text and JSON.
package diff

import (
	"bufio"
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table"
)

// diffFlags are the flags of diff.
type diffFlags struct {
	formats.TableFlags
	key, format string
	memory      int64
	tolerance   float64
	quiet       bool
	storage     bool
}

// outputs are the formats of differences.
var outputs = []string{"text", "jsonl"}

// errDiffer is the error of tables that differ, which diff has told already.
var errDiffer = app.Printed{Code: app.ExitFailure, Text: "the tables differ"}

type group struct{ *app.App }

// Commands make the commands of the package.
func Commands(a *app.App) []func() *cobra.Command { return []func() *cobra.Command{group{a}.diff} }

func (a group) diff() *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff OLD NEW | diff SHARD --at VERSION",
		Short: "Compare two tables, or versions of a shard: columns, then rows",
		Long: `diff compares two tables of any formats; each may also be a folder, or a pattern in quotes. It prints the columns that
were added, removed or changed, then the rows: by position, or with --key by the values that identify a row, in any order
of the rows. Values of different types are compared in a type that holds both: 1 as int32 is equal to 1 as int64. NaN is
equal to NaN.

With --at, one shard is compared with an earlier version of it: rows with equal numbers, which deleted rows have, too, until a compaction.
--storage also compares what files store of each field: bytes, and encodings. --rows :0 leaves the rows out.

The exit code is 0 if the tables are equal, 1 if they differ, 2 after an error.`,
		Example: `  amudai diff flights.csv flights.amudai.shard
  amudai diff old.parquet new.parquet --key id --columns id,price --tolerance 1e-9
  amudai diff monday/ tuesday/ --key 'user,day' --format jsonl | jq 'select(.kind == "removed")'
  amudai diff orders.amudai.shard --at 3
  amudai diff small.amudai.shard fast.amudai.shard --storage --rows :0`,
		Args: app.Wants(1, 2, "the old table, and the new one"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.diffExit(cmd.Context(), a.runDiff(cmd, args, f))
		},
	}
	f.Register(cmd, 100)
	flags := cmd.Flags()
	flags.Lookup("limit").Usage = "most rows that are shown, -1 for all; all are counted"
	flags.StringVar(&f.key, "key", "", "values that identify a row, separated by commas (default: its position)")
	usage.Choice(cmd, &f.format, "format", "text", "text, or jsonl with all differences for programs", outputs, outputs...)
	flags.Float64Var(&f.tolerance, "tolerance", 0, "floats that differ by no more are equal")
	flags.BoolVar(&f.storage, "storage", false, "also compare the stored bytes and the encodings of each field")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing, and end with the first difference")
	formats.RegisterMemory(cmd, &f.memory, "rows")
	return cmd
}

// diffExit prints an error that is not about usage, so that the exit code is that of diff(1).
func (a group) diffExit(ctx context.Context, err error) error {
	var printed app.Printed
	var misuse usage.Error
	if err == nil || errors.As(err, &printed) || errors.As(err, &misuse) || ctx.Err() != nil || app.IsBrokenPipe(err) {
		return err
	}
	a.PrintError(err)
	return app.Printed{Code: app.ExitUsage, Text: "the tables are not compared"}
}

func (a group) runDiff(cmd *cobra.Command, args []string, f diffFlags) (err error) {
	ctx := cmd.Context()
	if _, err := f.Rows.Options(); err != nil {
		return err
	}
	names := [2]string{storage.Redact(args[0]), storage.Redact(args[len(args)-1])}
	read := [2]formats.TableFlags{f.TableFlags, f.TableFlags}
	switch at := cmd.Flags().Lookup("at"); {
	case len(args) == 1 && !at.Changed:
		return usage.Errorf("name the new table, too, or an earlier version of a shard by --at", "diff needs two tables")
	case len(args) == 1:
		names[0] += " at " + at.Value.String()
		read[1].Read.Newest()
	case args[0] == "-" && args[1] == "-":
		return usage.Errorf("", "only one of the tables can be standard input")
	}
	limit := f.Rows.Limit
	if f.format == "jsonl" && !cmd.Flags().Changed("limit") {
		limit = -1
	}
	var sides [2]*formats.Union
	for i := range sides {
		read[i].Rows.Limit = -1 // that of the flag is about differences
		if sides[i], err = a.Opener.Union(ctx, args[i%len(args):][:1], &read[i]); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, sides[i].Close()) }()
	}
	c, err := table.Diff(ctx, sides[0].Table, sides[1].Table, table.DiffOptions{
		Old: sides[0].Scan, New: sides[1].Scan, Key: f.key, Numbers: len(args) == 1, Tolerance: f.tolerance, Memory: f.memory,
	})
	if err != nil {
		return app.Flagged(err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	out := bufio.NewWriter(a.Stdout)
	screen := a.Out
	screen.Out = out
	switch {
	case f.quiet:
		err = firstDifference(ctx, c)
	case f.format == "jsonl":
		err = Print(ctx, c, f.storage, &JSON{Out: out, Keys: c.Keys(), Limit: limit})
	default:
		err = Print(ctx, c, f.storage, &Text{Screen: screen, Old: names[0], New: names[1], Keys: c.Keys(), Limit: limit})
	}
	if err = errors.Join(err, out.Flush()); err == nil && c.Differs() {
		err = errDiffer
	}
	return err
}

// firstDifference compares rows until some differ.
func firstDifference(ctx context.Context, c *table.Comparison) error {
	if c.Differs() {
		return nil
	}
	for _, err := range c.Rows(ctx) {
		if err != nil || c.Differs() {
			return err
		}
	}
	return nil
}

// Printer prints differences, in order.
type Printer interface {
	// Columns receives the columns of both tables, once, before the rows.
	Columns(table.DiffColumns) error
	// Stored receives what both tables store, if it is compared, before the rows.
	Stored(*table.DiffStored) error
	// Row receives a row that differs, or the second row of a key.
	Row(table.DiffRow) error
	// Summary receives the numbers of rows. differs tells whether columns or rows differ.
	Summary(s table.DiffSummary, differs bool) error
}

// Print compares two tables to their end, and what they store if stored is set.
func Print(ctx context.Context, c *table.Comparison, stored bool, p Printer) error {
	if err := p.Columns(c.Columns()); err != nil {
		return err
	}
	if stored {
		s, err := c.Stored(ctx)
		if err == nil {
			err = p.Stored(s)
		}
		if err != nil {
			return err
		}
	}
	for r, err := range c.Rows(ctx) {
		if err == nil {
			err = p.Row(r)
		}
		if err != nil {
			return err
		}
	}
	return p.Summary(c.Summary(), c.Differs())
}

// second is the second row of a key, and whether it is in the new table.
func second(r table.DiffRow) (row table.DiffValues, inNew bool) {
	if r.New.Arrays != nil {
		return r.New, true
	}
	return r.Old, false
}

// storedAlike reports whether a field has the same bytes and encodings in both tables.
func storedAlike(old, new *table.StoredField) bool {
	return old != nil && new != nil && old.Bytes == new.Bytes && slices.Equal(old.Encodings, new.Encodings)
}
