package inspect

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

type group struct{ *app.App }

// Commands make the commands of the package.
func Commands(a *app.App) []func() *cobra.Command {
	g := group{a}
	return []func() *cobra.Command{g.inspect, g.schema, g.inferSchema, g.index, g.verify, g.recover, g.pack}
}

func (a group) inferSchema() *cobra.Command {
	var r formats.ReadFlags
	cmd := &cobra.Command{
		GroupID: "data",
		Use:     "infer-schema FILE",
		Short:   "Print the types inferred for CSV or JSON",
		Long: `infer-schema prints a line "name: type" for each column, with the type that convert would infer. Save the output,
edit it, and pass it to convert with --schema @FILE.`,
		Example: `  amudai infer-schema zipcodes.csv > zipcodes.schema
  amudai convert --schema @zipcodes.schema zipcodes.csv zipcodes.amudai.shard`,
		Args: app.Wants(1, 1, "one table"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.printSchema(cmd.Context(), args[0], r) },
	}
	r.Register(cmd, false)
	return cmd
}

func (a group) schema() *cobra.Command {
	var r formats.ReadFlags
	stored := false
	cmd := &cobra.Command{
		Use:   "schema FILE",
		Short: "Print the columns and their types",
		Long: `schema prints a line "name: type" for each column of a shard or any other table, with Arrow types.
--stored prints the stored types instead: of a shard as a tree with schema ids, of an RNTuple those
of C++.`,
		Args: app.Wants(1, 1, "one table"),
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

// printStored prints the lists of fields that a format tells.
func (a group) printStored(ctx context.Context, location string) error {
	return Tell(ctx, a.Opener, location, provider.InspectOptions{Detail: 1}, func(out *provider.Outline) error {
		for _, l := range out.Lists {
			if !strings.HasSuffix(l.Name, "fields") {
				continue
			}
			if len(out.Lists) > 1 && l.Name != "fields" {
				a.Out.Printf("%s\n", a.Out.Paint(terminal.Bold, terminal.Printable(l.Name)))
			}
			printList(a.Out, l, "inspect --json shows all")
		}
		return nil
	})
}

func (a group) inspect() *cobra.Command {
	var o provider.InspectOptions
	var json bool
	cmd := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Show the structure of a shard, a ROOT file or a Blockpack file",
		Long: `inspect shows the structure of a shard: an overview; with -v its stripes and columns, and the files that they are in; with -vv
the buffers of each column with their encodings; with -vvv every block with its encoding tree.
--hex dumps the bytes with their meaning, --json prints everything for programs. --stripe and
--column limit it to parts. Of a ROOT file it shows the objects and the RNTuples in it; -v adds fields and
clusters, -vv the columns of each cluster, -vvv their pages. Of a Blockpack file it shows the sections; -v adds
columns and blocks, -vv the columns of each block and the range index, -vvv its keys.`,
		Example: `  amudai inspect -vv --column price lineitem.amudai.shard
  amudai inspect -vvv --json small.amudai.shard | jq .lists.blocks[0]
  amudai inspect -v muons.root:Events`,
		Args: app.Wants(1, 1, "one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return Tell(cmd.Context(), a.Opener, args[0], o, func(out *provider.Outline) error {
				if json {
					return OutlineJSON(a.Out, storage.Redact(args[0]), out)
				}
				return Outline(cmd.Context(), a.Out, out, "--json shows all")
			})
		},
	}
	cmd.Flags().CountVarP(&o.Detail, "verbose", "v", "more: -v stripes and columns, -vv buffers, -vvv blocks")
	cmd.Flags().BoolVar(&o.Hex, "hex", false, "dump the bytes with their meaning")
	cmd.Flags().BoolVar(&json, "json", false, "print JSON")
	cmd.Flags().IntSliceVar(&o.Groups, "stripe", nil, "only these stripes, clusters or blocks, from 0")
	cmd.Flags().StringSliceVar(&o.Columns, "column", nil, "only these columns with their nested columns, by path")
	return cmd
}

// printSchema prints the Arrow schema of a table in any format.
func (a group) printSchema(ctx context.Context, location string, r formats.ReadFlags) error {
	o, err := a.Opener.Use(ctx, &r)
	if err != nil {
		return err
	}
	src, err := a.Opener.Source(ctx, location, r.From, o)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, f := range src.Schema().Fields() {
		fmt.Fprintf(&b, "%s%s\n", text.Field(f), typeComment(f))
	}
	return errors.Join(a.Out.Printf("%s", terminal.Lines(b.String())), src.Close())
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
