package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
)

// lookers are the commands that look into shards.
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
	cmd.Flags().BoolVar(&stored, "stored", false, "the types as a shard stores them")
	return cmd
}

// printStored prints the schema tree of a shard.
func (a *app) printStored(ctx context.Context, location string) error {
	s, err := openShard(ctx, location, a.types)
	if err != nil {
		return err
	}
	defer s.Close()
	g := newGrid(">id", "column", "stored type", "extended type")
	err = walkSchema(s.Schema(), func(n schema.Node, path string, depth int) error {
		label, err := n.Label()
		g.add(strconv.Itoa(int(n.ID())), strings.Repeat("  ", depth)+printable(displayName(n)), storedType(n), printable(label))
		return err
	})
	if err != nil {
		return err
	}
	return a.print(a.Stdout, g)
}

// displayName is the name of a node; items of lists have none.
func displayName(n schema.Node) string {
	if n.Name() == "" {
		return "(item)"
	}
	return n.Name()
}

// storedType is the basic type with its sign or size.
func storedType(n schema.Node) string {
	t := n.Type()
	switch t {
	case schema.Int8, schema.Int16, schema.Int32, schema.Int64:
		if !n.Signed() {
			return "U" + t.String()
		}
	case schema.FixedSizeBinary, schema.FixedSizeList:
		return fmt.Sprintf("%s[%d]", t, n.FixedSize())
	}
	return t.String()
}

// walkSchema visits every node, parents first.
func walkSchema(s *schema.Schema, visit func(n schema.Node, path string, depth int) error) error {
	for i := range s.NumFields() {
		n, err := s.Field(i)
		if err != nil {
			return err
		}
		if err := walkNode(n, schema.JoinPath("", n.Name()), 0, visit); err != nil {
			return err
		}
	}
	return nil
}

func walkNode(n schema.Node, path string, depth int, visit func(schema.Node, string, int) error) error {
	if err := visit(n, path, depth); err != nil {
		return err
	}
	for i := range n.NumChildren() {
		c, err := n.Child(i)
		if err != nil {
			return err
		}
		name := c.Name()
		if name == "" {
			name = "item"
		}
		if err := walkNode(c, schema.JoinPath(path, name), depth+1, visit); err != nil {
			return err
		}
	}
	return nil
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
	_, err = io.WriteString(a.Stdout, text.Schema(src.Schema()))
	return errors.Join(err, src.Close())
}
