package change

import (
	"context"
	"errors"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
)

// rowFlags are the flags that say which rows are meant.
type rowFlags struct {
	where    filter.Expr
	rows     []table.RowRange
	matching string
	on       []string
	all      bool
	o        shard.EditOptions
}

func (f *rowFlags) register(cmd *cobra.Command, what string) {
	usage.Parsed(cmd, &f.where, "where", "", "rows that match a condition, such as \"origin = 'SFO' and delay > 300\"", formats.Condition)
	usage.Parsed(cmd, &f.rows, "rows", "", "rows with these numbers, from 0: 100:200, 100: or :100; -100: for the last 100 rows; several, separated by commas", rangesOf)
	cmd.Flags().StringVar(&f.matching, "matching", "", "rows whose columns --on have the values of a row of `TABLE`")
	cmd.Flags().StringSliceVar(&f.on, "on", nil, "columns that --matching compares, by name")
	cmd.Flags().BoolVar(&f.all, "all", false, what)
}

// rangesOf parses a list of ranges of rows.
func rangesOf(list string) (all []table.RowRange, err error) {
	for text := range strings.SplitSeq(list, ",") {
		r, err := table.ParseRows(text)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// marking is the shape of shard.Delete and shard.Undelete.
type marking = func(context.Context, string, shard.EditOptions, shard.Rows) (int64, error)

func (a group) delete() *cobra.Command {
	return a.marks(shard.Delete, "deleted", "all rows", &cobra.Command{
		Use:   "delete SHARD (--where CONDITION | --rows LIST | --matching TABLE --on COLUMNS | --all)",
		Short: "Delete rows of a shard",
		Long: `delete marks rows as deleted: no command shows or counts them any more. The other rows keep their numbers. A new root file has a bitmap for each stripe
with deleted rows, and refers to the data, which stay as they are. amudai undelete brings the rows back.

Of several flags, rows must meet the conditions of all.`,
		Example: `  amudai delete flights.amudai.shard --where "origin = 'SFO' and delay > 300"
  amudai delete users.amudai.shard --matching erased.csv --on user_id
  amudai delete logs.amudai.shard --rows 0:1000 --dry-run`,
	})
}

func (a group) undelete() *cobra.Command {
	return a.marks(shard.Undelete, "restored", "all deleted rows", &cobra.Command{
		Use:   "undelete SHARD (--where CONDITION | --rows LIST | --matching TABLE --on COLUMNS | --all)",
		Short: "Bring deleted rows of a shard back",
		Long: `undelete brings back rows that amudai delete marked as deleted. Of several flags, rows must meet the conditions of all. Rows whose stripe was written anew since then
are gone.`,
		Example: `  amudai undelete flights.amudai.shard --where "delay > 1000"
  amudai undelete flights.amudai.shard --all`,
	})
}

// marks completes a command that marks rows.
func (a group) marks(mark marking, did, all string, cmd *cobra.Command) *cobra.Command {
	var f rowFlags
	cmd.Args = app.Wants(1, 1, "one shard")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return a.change(cmd.Context(), args[0], &f, mark, did)
	}
	f.register(cmd, all)
	a.reports(cmd, &f.o.DryRun)
	return cmd
}

func (a group) change(ctx context.Context, location string, f *rowFlags, change marking, did string) (err error) {
	some := !f.where.IsZero() || f.rows != nil || f.matching != ""
	switch {
	case some == f.all:
		return usage.Errorf("--where, --rows, --matching or --all", "say which rows are meant")
	case (f.matching == "") != (len(f.on) == 0):
		return usage.Errorf("", "--matching needs --on, and the other way round")
	}
	if err := files.CheckShard(location); err != nil {
		return err
	}
	total, keys, err := a.describe(ctx, location, f.on)
	if err != nil {
		return err
	}
	rows := shard.Rows{Where: f.where, Ranges: f.rows}
	for i := range rows.Ranges { // those that count from the end
		r := &rows.Ranges[i]
		if r.To = min(r.To, total); r.To < 0 {
			r.To += total
		}
		if r.From < 0 {
			r.From = max(r.From+total, 0)
		}
	}
	if f.matching != "" {
		t, err := a.Opener.Table(ctx, f.matching, "", keys...)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, t.Close()) }()
		rows.Keys = t.Scan(ctx, table.ScanOptions{Columns: f.on})
	}
	f.o.IfMatch, f.o.Open.Policy = a.Versions.Known()[location], a.Policy
	n, err := change(ctx, location, f.o, rows)
	if err != nil {
		return err
	}
	line := location + ": " + terminal.Plural(int(n), "row") + " of " + terminal.Count(total) + " " + did
	if f.o.DryRun {
		line = terminal.Plural(int(n), "row") + " of " + terminal.Count(total) + " would be " + did
	}
	return a.report(f.o.DryRun, map[string]any{"rows": n, "of": total}, line)
}

// describe is the number of rows of a shard, and some of its columns.
func (a group) describe(ctx context.Context, location string, columns []string) (rows int64, fields []arrow.Field, err error) {
	s, err := a.Opener.Shard(ctx, location, shard.OpenOptions{})
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	all, err := s.ArrowSchema(ctx)
	if err != nil {
		return 0, nil, err
	}
	for _, name := range columns {
		at := all.FieldIndices(name)
		if len(at) != 1 {
			return 0, nil, usage.Errorf("amudai schema lists the columns", "--on: %s has no column %q", location, name)
		}
		fields = append(fields, all.Field(at[0]))
	}
	return s.NumRows(), fields, nil
}
