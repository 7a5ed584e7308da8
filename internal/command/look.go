package command

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/internal/command/files"
	"github.com/amudai/amudai-go/internal/command/inspect"
	"github.com/amudai/amudai-go/internal/command/terminal"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/format/shardfile"
	"github.com/amudai/amudai-go/internal/text"
)

// lookers are the commands that inspect shards.
func (a *app) lookers() []*cobra.Command {
	return []*cobra.Command{a.inspect(), a.schema(), a.stats(), a.verify(), a.recover()}
}

func (a *app) schema() *cobra.Command {
	var r readFlags
	stored := false
	cmd := &cobra.Command{
		Use:   "schema FILE",
		Short: "Print the columns and their types",
		Long: `schema prints a line "name: type" for each column of a shard or any other table, with Arrow types.
--stored prints the types that a shard stores instead, as a tree with schema ids.`,
		Args: wants(1, 1, "one table"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if stored {
				return a.printStored(cmd.Context(), args[0])
			}
			return a.printSchema(cmd.Context(), args[0], r)
		},
	}
	r.register(cmd, false)
	cmd.Flags().BoolVar(&stored, "stored", false, "print the stored types of a shard")
	return cmd
}

// printStored prints the schema tree of a shard.
func (a *app) printStored(ctx context.Context, location string) error {
	return a.withFile(ctx, location, func(f *shardfile.File) error { return inspect.StoredTypes(ctx, a.out, f) })
}

// withFile calls f with the open file of a shard.
func (a *app) withFile(ctx context.Context, location string, f func(*shardfile.File) error) (err error) {
	if err := files.CheckShard(location); err != nil {
		return err
	}
	s, err := shardfile.Open(ctx, location, shardfile.OpenOptions{})
	if err != nil {
		return wrongFormat(files.Missing(location, err), location, shardName)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return f(s)
}

func (a *app) inspect() *cobra.Command {
	var o inspect.Options
	cmd := &cobra.Command{
		Use:   "inspect SHARD",
		Short: "Show how a shard is built",
		Long: `inspect shows the structure of a shard: an overview; with -v its stripes and columns; with -vv
the buffers of each column with their encodings; with -vvv every block with its encoding tree.
--hex dumps the bytes with their meaning, --json prints everything for programs. --stripe and
--column limit it to parts.`,
		Example: `  amudai inspect -vv --column price lineitem.amudai.shard
  amudai inspect -vvv --json small.amudai.shard | jq .stripe_list[0]`,
		Args: wants(1, 1, "one shard"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withFile(cmd.Context(), args[0], func(f *shardfile.File) error {
				for _, i := range o.Stripes {
					if i < 0 || i >= f.NumStripes() {
						return usagef("", "--stripe %d: the shard has %s", i, terminal.Plural(f.NumStripes(), "stripe"))
					}
				}
				return columnHint(inspect.Shard(cmd.Context(), a.out, f, o))
			})
		},
	}
	cmd.Flags().CountVarP(&o.Verbose, "verbose", "v", "more: -v stripes and columns, -vv buffers, -vvv blocks")
	cmd.Flags().BoolVar(&o.Hex, "hex", false, "dump the bytes with their meaning")
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print JSON")
	cmd.Flags().IntSliceVar(&o.Stripes, "stripe", nil, "only these stripes, from 0")
	cmd.Flags().StringSliceVar(&o.Columns, "column", nil, "only these columns with their nested columns, by path")
	return cmd
}

func (a *app) stats() *cobra.Command {
	var o inspect.StatsOptions
	cmd := &cobra.Command{
		Use:   "stats SHARD",
		Short: "Show statistics and sizes of the columns",
		Long: `stats shows for each column its type, nulls, distinct values, range, bytes, bits per value,
encodings, and its share of the file. Counts and ranges come from the shard's statistics, distinct
values from its dictionaries where these hold all values; ≈ marks estimates. amudai verify checks
statistics against the data.`,
		Args: wants(1, 1, "one shard"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withFile(cmd.Context(), args[0], func(f *shardfile.File) error {
				return columnHint(inspect.Stats(cmd.Context(), a.out, f, o))
			})
		},
	}
	cmd.Flags().StringSliceVar(&o.Columns, "columns", nil, "only these columns with their nested columns, by path")
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&o.Details, "details", false, "all statistics, one per line")
	return cmd
}

// columnHint adds a hint to the error about an unknown column.
func columnHint(err error) error {
	if errors.Is(err, schema.ErrNoField) {
		return withHint(err, "amudai schema lists the columns")
	}
	return err
}

// bars is the output for progress bars, nil for none.
func (a *app) bars(quiet bool) io.Writer {
	if quiet || !a.Progress {
		return nil
	}
	return a.Stderr
}

// printSchema prints the Arrow schema of a table in any format.
func (a *app) printSchema(ctx context.Context, location string, r readFlags) error {
	o, err := r.options(a)
	if err != nil {
		return err
	}
	src, err := a.openSource(ctx, location, r.from, o)
	if err != nil {
		return err
	}
	return errors.Join(a.out.Printf("%s", terminal.Lines(text.Schema(src.Schema()))), src.Close())
}
