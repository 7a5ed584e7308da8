package change

import (
	"context"
	"encoding/csv"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard"
)

func (a group) column() *cobra.Command {
	return app.Group("column", "Add, drop, rename, order, cast and describe the columns of a shard",
		`column changes the columns of a shard. A new root file replaces the old one in one step, and refers to the data where they are: only values of new
columns are written. An interrupted command leaves the old shard. A column is named by its path; address.city is a field of a struct.`,
		a.columnAdd(), a.columnDrop(), a.columnRename(), a.columnOrder(), a.columnCast(), a.columnSet())
}

// edits registers the flags of commands that edit a shard.
func (a group) edits(cmd *cobra.Command, o *shard.EditOptions, builds bool) {
	a.reports(cmd, &o.DryRun)
	if builds {
		formats.RegisterSize(cmd, &o.MemoryBytes, "memory", "64MiB", "memory for new values; the rest goes to temporary files")
		cmd.Flags().IntVar(&o.Parallelism, "parallel", 0, "values that are computed and encoded at a time (default: one per CPU)")
	}
}

func (a group) columnAdd() *cobra.Command {
	var o shard.EditOptions
	var r formats.ReadFlags
	var of string
	cmd := &cobra.Command{
		Use:   "add SHARD ('NAME = EXPRESSION'... | --of TABLE)",
		Short: "Add columns, computed of others or from another table",
		Long: `add adds columns with the values of expressions, as filters and agg have them, for each row: 'total = price * n'. They are computed of the columns that
the shard has before. A value that cannot be computed, such as a number that is too large, is an error with its row. A name such as address.zip adds a field to a struct.

With --of, the columns are those of another table of any format. It needs a row for each row of the shard, deleted ones included, in their order.`,
		Example: `  amudai column add orders.amudai.shard 'total = price * n' 'year = year(day)'
  amudai column add orders.amudai.shard --of scores.parquet --columns score`,
		Args: app.Wants(1, -1, "one shard"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if (len(args) == 1) == (of == "") {
				return usage.Errorf("'total = price * n', for example", "say which columns to add: expressions or --of")
			}
			if of != "" {
				return a.addColumns(cmd.Context(), args[0], of, r, o)
			}
			var changes []shard.Change
			for _, arg := range args[1:] {
				name, expression, ok := strings.Cut(arg, "=")
				if name = strings.TrimSpace(name); !ok || name == "" {
					return usage.Errorf("'total = price * n', for example", "%q needs the form NAME = EXPRESSION", arg)
				}
				changes = append(changes, shard.AddColumn(name, expression))
			}
			return a.edit(cmd.Context(), args[0], o, "add "+terminal.Plural(len(changes), "column"), changes...)
		},
	}
	cmd.Flags().StringVar(&of, "of", "", "add the columns of `TABLE`; the flags about inputs are for it")
	a.edits(cmd, &o, true)
	r.Register(cmd, true)
	return cmd
}

// addColumns adds the columns of another table.
func (a group) addColumns(ctx context.Context, location, of string, r formats.ReadFlags, o shard.EditOptions) (err error) {
	ro, err := a.Opener.Use(ctx, &r)
	if err != nil {
		return err
	}
	src, err := a.Opener.Source(ctx, of, r.From, ro)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	return a.edit(ctx, location, o, "add "+terminal.Plural(src.Schema().NumFields(), "column"), shard.AddColumns(src))
}

func (a group) columnDrop() *cobra.Command {
	return a.columnList("drop", "Drop columns",
		`drop leaves columns out, and indexes of them. Their bytes stay in the files of the shard: amudai gc, and writing the shard anew, get rid of them.`,
		func(paths []string) (string, shard.Change) {
			return "drop " + strings.Join(paths, ", "), shard.DropColumns(paths...)
		})
}

func (a group) columnOrder() *cobra.Command {
	return a.columnList("order", "Put columns first", `order puts columns before the others, which keep their order. Fields of a struct are ordered among themselves.`,
		func(paths []string) (string, shard.Change) {
			return "put " + strings.Join(paths, ", ") + " first", shard.OrderColumns(paths...)
		})
}

// columnList is a command about a list of columns.
func (a group) columnList(name, short, long string, change func(paths []string) (string, shard.Change)) *cobra.Command {
	var o shard.EditOptions
	cmd := &cobra.Command{
		Use: name + " SHARD COLUMN,...", Short: short, Long: long,
		Example: "  amudai column " + name + " orders.amudai.shard price,address.zip",
		Args:    app.Wants(2, -1, "a shard and columns"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var paths []string
			for _, arg := range args[1:] {
				list, err := csv.NewReader(strings.NewReader(arg)).Read()
				if err != nil {
					return usage.Errorf("", "%q is no list of columns", arg)
				}
				paths = append(paths, list...)
			}
			did, c := change(paths)
			return a.edit(cmd.Context(), args[0], o, did, c)
		},
	}
	a.edits(cmd, &o, false)
	return cmd
}

func (a group) columnRename() *cobra.Command {
	var o shard.EditOptions
	cmd := &cobra.Command{
		Use:     "rename SHARD (COLUMN NAME)...",
		Short:   "Rename columns",
		Long:    `rename gives columns, or fields of structs, other names. Indexes of them stay.`,
		Example: "  amudai column rename orders.amudai.shard address.zip postcode n number",
		Args:    app.Wants(3, -1, "a shard, a column and its new name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.editPairs(cmd.Context(), args, o, "rename", func(path, name string) (shard.Change, error) { return shard.RenameColumn(path, name), nil })
		},
	}
	a.edits(cmd, &o, false)
	return cmd
}

func (a group) columnCast() *cobra.Command {
	var o shard.EditOptions
	cmd := &cobra.Command{
		Use:   "cast SHARD (COLUMN TYPE)...",
		Short: "Change the types of columns, without a change of their values",
		Long: `cast converts the values of a column to another type, as --schema of convert does, and writes only these. Nothing is written of a type
that is stored alike, such as utf8 and large_utf8. A value that the type does not hold exactly is an
error with its row, and the shard stays as it was. Indexes of the column are dropped.`,
		Example: `  amudai column cast orders.amudai.shard n int64
  amudai column cast orders.amudai.shard day 'timestamp[us, tz=UTC]'`,
		Args: app.Wants(3, -1, "a shard, a column and a type"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.editPairs(cmd.Context(), args, o, "cast", func(path, name string) (shard.Change, error) {
				to, err := text.ParseType(name)
				if err != nil {
					err = usage.Errorf("amudai schema prints types", "%w", err)
				}
				return shard.CastColumn(path, to), err
			})
		},
	}
	a.edits(cmd, &o, true)
	return cmd
}

// editPairs changes columns of a shard that arguments behind it name, each before what it becomes.
func (a group) editPairs(ctx context.Context, args []string, o shard.EditOptions, did string, change func(path, to string) (shard.Change, error)) error {
	var parts []string
	var changes []shard.Change
	for pair := range slices.Chunk(args[1:], 2) {
		if len(pair) == 1 {
			return usage.Errorf("", "%s needs two words for each column: what does %q become?", did, pair[0])
		}
		c, err := change(pair[0], pair[1])
		if err != nil {
			return err
		}
		parts, changes = append(parts, pair[0]+" to "+pair[1]), append(changes, c)
	}
	return a.edit(ctx, args[0], o, did+" "+strings.Join(parts, ", "), changes...)
}

// edit changes a shard, and prints what it did, or would do.
func (a group) edit(ctx context.Context, location string, o shard.EditOptions, did string, changes ...shard.Change) error {
	if err := files.CheckShard(location); err != nil {
		return err
	}
	o.IfMatch = a.Versions.Known()[location]
	p := terminal.Start(a.Bars(), "rows")
	o.Progress, o.Open.Policy = p.Set, a.Policy
	r, err := shard.Edit(ctx, location, o, changes...)
	if err = errors.Join(err, p.End()); err != nil {
		return err
	}
	for _, x := range r.Indexes {
		a.Noticef("the index of %s (%s) goes with its column", strings.Join(x.Columns, ", "), x.Type)
	}
	if *a.json {
		return a.report(o.DryRun, map[string]any{
			"kept_bytes": r.Kept, "dropped_bytes": r.Dropped, "read_bytes": r.Read, "written_bytes": r.Written, "dropped_indexes": indexes(r.Indexes),
		}, "")
	}
	sizes := terminal.Size(r.Kept) + " of data stay, " + terminal.Size(r.Dropped) + " are not referred to any more"
	if o.DryRun {
		if r.Read > 0 {
			sizes += ", " + terminal.Size(r.Read) + " are read for new values"
		}
		return a.Out.Printf("would %s: %s\n", did, sizes)
	}
	if !a.Summarizes() {
		return nil
	}
	s, err := a.Opener.Shard(ctx, location, o.Open)
	if err != nil {
		return err
	}
	wrote := s.Size() + r.Written
	if err := s.Close(); err != nil {
		return err
	}
	return a.Errs.Printf("%s: %s: %s, wrote %s\n", location, did, sizes, terminal.Size(wrote))
}

// indexes are those that were dropped, in JSON.
func indexes(all []shard.Index) []map[string]any {
	out := []map[string]any{}
	for _, x := range all {
		out = append(out, map[string]any{"type": x.Type, "columns": x.Columns})
	}
	return out
}
