package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/inspect"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
)

// lookers are the commands that inspect shards.
func (a *app) lookers() []*cobra.Command {
	return []*cobra.Command{a.inspect(), a.schema(), a.stats(), a.index(), a.verify(), a.recover()}
}

func (a *app) schema() *cobra.Command {
	var r formats.ReadFlags
	stored := false
	cmd := &cobra.Command{
		Use:   "schema FILE",
		Short: "Print the columns and their types",
		Long: `schema prints a line "name: type" for each column of a shard or any other table, with Arrow types.
--stored prints the stored types instead: of a shard as a tree with schema ids, of an RNTuple those
of C++.`,
		Args: wants(1, 1, "one table"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if stored {
				return a.printStored(cmd.Context(), args[0])
			}
			return a.printSchema(cmd.Context(), args[0], r)
		},
	}
	r.Register(cmd, false)
	cmd.Flags().BoolVar(&stored, "stored", false, "print the stored types")
	return cmd
}

// printStored prints the schema tree of a shard, or the list of fields of another format that has one.
func (a *app) printStored(ctx context.Context, location string) error {
	done, err := a.opener.Describe(ctx, location, canInspect, func(in provider.Input, f provider.Format) error {
		out, err := f.Inspect(ctx, in, provider.InspectOptions{Detail: 1})
		if err != nil {
			return err
		}
		for _, l := range out.Lists {
			if !strings.HasSuffix(l.Name, "fields") {
				continue
			}
			if len(out.Lists) > 1 && l.Name != "fields" {
				a.out.Printf("%s\n", a.out.Paint(terminal.Bold, terminal.Printable(l.Name)))
			}
			if err := inspect.List(a.out, l); err != nil {
				return err
			}
		}
		return nil
	})
	if done || err != nil {
		return err
	}
	return a.withShard(ctx, location, func(s *shard.Shard) error {
		list, err := s.StoredNodes(ctx)
		if err != nil {
			return err
		}
		return inspect.StoredNodes(a.out, list)
	})
}

// withShard calls f with an open shard.
func (a *app) withShard(ctx context.Context, location string, f func(*shard.Shard) error) (err error) {
	s, err := a.opener.Shard(ctx, location, shard.OpenOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return f(s)
}

// canInspect reports whether an outline tells the structure of files. That of shards is printed in more detail.
func canInspect(f provider.Format) bool { return f.Inspect != nil && f.Name != formats.Shard }

// outline prints what the format of an input tells about it.
func (a *app) outline(ctx context.Context, in provider.Input, f provider.Format, json bool, o provider.InspectOptions) error {
	out, err := f.Inspect(ctx, in, o)
	if err == nil && json {
		err = inspect.OutlineJSON(a.out, in.Name, out)
	} else if err == nil {
		err = inspect.Outline(ctx, a.out, out)
	}
	return err
}

func (a *app) inspect() *cobra.Command {
	var o shard.InspectOptions
	var json, hex bool
	cmd := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Show the structure of a shard, a ROOT file or a Blockpack file",
		Long: `inspect shows the structure of a shard: an overview; with -v its stripes and columns; with -vv
the buffers of each column with their encodings; with -vvv every block with its encoding tree.
--hex dumps the bytes with their meaning, --json prints everything for programs. --stripe and
--column limit it to parts. Of a ROOT file it shows the objects and the RNTuples in it; -v adds fields and
clusters, -vv the columns of each cluster, -vvv their pages. Of a Blockpack file it shows the sections; -v adds
columns and blocks, -vv the columns of each block and the range index, -vvv its keys.`,
		Example: `  amudai inspect -vv --column price lineitem.amudai.shard
  amudai inspect -vvv --json small.amudai.shard | jq .stripe_list[0]
  amudai inspect -v muons.root:Events`,
		Args: wants(1, 1, "one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			done, err := a.opener.Describe(cmd.Context(), args[0], canInspect, func(in provider.Input, f provider.Format) error {
				return a.outline(cmd.Context(), in, f, json, provider.InspectOptions{Detail: o.Detail, Columns: o.Columns, Groups: o.Stripes, Hex: hex})
			})
			if done || err != nil {
				return err
			}
			return a.withShard(cmd.Context(), args[0], func(s *shard.Shard) error {
				for _, i := range o.Stripes {
					if i < 0 || i >= s.NumStripes() {
						return usage.Errorf("", "--stripe %d: the shard has %s", i, terminal.Plural(s.NumStripes(), "stripe"))
					}
				}
				if hex {
					return inspect.Dump(cmd.Context(), a.out, s, o)
				}
				info, err := s.Inspect(cmd.Context(), o)
				if err != nil {
					return err
				}
				if json {
					return terminal.JSON(a.out.Out, info)
				}
				return inspect.Shard(a.out, info, o.Detail)
			})
		},
	}
	cmd.Flags().CountVarP(&o.Detail, "verbose", "v", "more: -v stripes and columns, -vv buffers, -vvv blocks")
	cmd.Flags().BoolVar(&hex, "hex", false, "dump the bytes with their meaning")
	cmd.Flags().BoolVar(&json, "json", false, "print JSON")
	cmd.Flags().IntSliceVar(&o.Stripes, "stripe", nil, "only these stripes, clusters or blocks, from 0")
	cmd.Flags().StringSliceVar(&o.Columns, "column", nil, "only these columns with their nested columns, by path")
	return cmd
}

// bars is the output for progress bars, nil for none.
func (a *app) bars(quiet bool) io.Writer {
	if quiet || !a.Progress {
		return nil
	}
	return a.Stderr
}

// printSchema prints the Arrow schema of a table in any format.
func (a *app) printSchema(ctx context.Context, location string, r formats.ReadFlags) error {
	o, err := a.opener.Use(ctx, &r)
	if err != nil {
		return err
	}
	src, err := a.opener.Source(ctx, location, r.From, o)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, f := range src.Schema().Fields() {
		fmt.Fprintf(&b, "%s%s\n", text.Field(f), typeComment(f))
	}
	return errors.Join(a.out.Printf("%s", terminal.Lines(b.String())), src.Close())
}

// typeComment is the type that a column has in a file of another type system, which readers keep as
// metadata of the column, under a key such as "rntuple.type".
func typeComment(f arrow.Field) string {
	for i, key := range f.Metadata.Keys() {
		if strings.HasSuffix(key, ".type") {
			return "  # " + terminal.OneLine(f.Metadata.Values()[i])
		}
	}
	return ""
}
