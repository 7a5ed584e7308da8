package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/amudai/amudai-go/encoding"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/table/provider"
)

// stripeNodes are the stripes of the shard as parts, then their columns, buffers, blocks and encoding trees. Damage within a part is a
// part with an error.
func (in *inspector) stripeNodes() *provider.Nodes {
	nodes := &inspector{file: in.file, schema: in.schema, total: in.total, names: in.names} // blocks are described when they are asked for
	return &provider.Nodes{Kind: "stripes", Len: in.file.NumStripes(), Read: each(func(_ context.Context, i int) (provider.Node, error) {
		return nodes.stripeNode(in.file.Stripe(i)), nil
	})}
}

// each reads parts one by one.
func each(read func(ctx context.Context, i int) (provider.Node, error)) func(ctx context.Context, from, to int) ([]provider.Node, error) {
	return func(ctx context.Context, from, to int) (list []provider.Node, err error) {
		for i := from; i < to; i++ {
			n, err := read(ctx, i)
			if err != nil {
				return nil, err
			}
			list = append(list, n)
		}
		return list, ctx.Err()
	}
}

// some are parts that are read already.
func some(kind string, list []provider.Node) *provider.Nodes {
	return &provider.Nodes{Kind: kind, Len: len(list), Read: func(_ context.Context, from, to int) ([]provider.Node, error) { return list[from:to], nil }}
}

// facts are cells with their names.
func facts(names []string, cells []any) []provider.Fact {
	list := make([]provider.Fact, len(names))
	for i, name := range names {
		list[i] = provider.Fact{Name: name, Value: cells[i]}
	}
	return list
}

func (in *inspector) stripeNode(st *shardfile.Stripe) provider.Node {
	return provider.Node{
		Name:  fmt.Sprintf("stripe %d", st.Index()),
		Facts: []provider.Fact{{Name: "first row", Value: st.Position()}, {Name: "rows", Value: st.Rows()}, {Name: "deleted", Value: deletedOf(st)}},
		Parts: func(context.Context) (*provider.Nodes, error) {
			return &provider.Nodes{Kind: "columns", Len: in.schema.NumFields(), Read: each(func(ctx context.Context, i int) (provider.Node, error) {
				n, err := in.schema.Field(i)
				if err != nil {
					return provider.Node{}, err
				}
				return in.columnNode(ctx, st, n, schema.JoinPath("", n.Name()))
			})}, nil
		},
	}
}

// columnNode is a schema node in a stripe, with its buffers and nested nodes.
func (in *inspector) columnNode(ctx context.Context, st *shardfile.Stripe, n schema.Node, path string) (provider.Node, error) {
	c, err := in.column(ctx, st, n, path)
	if err != nil {
		return provider.Node{}, err
	}
	return provider.Node{Name: displayName(n), Facts: facts(columnFacts, c.cells(in.total)), Parts: func(ctx context.Context) (*provider.Nodes, error) {
		list, err := in.columnParts(ctx, &c)
		return some("parts", list), err
	}}, nil
}

func (in *inspector) columnParts(ctx context.Context, c *column) (list []provider.Node, err error) {
	for e, b := range stripe.Buffers(c.stored) {
		info, err := in.buffer(ctx, c, e, b)
		if err != nil {
			return nil, err
		}
		list = append(list, bufferNode(c, &info, e))
	}
	for i := range c.node.NumChildren() {
		child, err := c.node.Child(i)
		if err != nil {
			return nil, err
		}
		n, err := in.columnNode(ctx, c.stripe, child, schema.JoinPath(c.path, c.node.PathName(i, child)))
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, ctx.Err()
}

func bufferNode(c *column, b *buffer, e *shardpb.NativeDataEncoding) provider.Node {
	n := provider.Node{Name: b.kind, Facts: facts(bufferFacts, b.cells())}
	if !stripe.HasBlocks(b.stored) || stripe.IsGroup(e, b.stored) {
		return n
	}
	n.Parts = func(ctx context.Context) (*provider.Nodes, error) {
		v, err := blocksOf(ctx, c, e, b.stored)
		if err != nil {
			list, err := damaged(ctx, err)
			return some("blocks", list), err
		}
		return &provider.Nodes{Kind: "blocks", Len: v.Map.Len(), Read: func(ctx context.Context, from, to int) (list []provider.Node, err error) {
			own := *v // several goroutines may read blocks
			own.buf = nil
			err = own.visit(ctx, from, to, func(bi block, _ []byte, _ encoding.Block, tree *encoding.Tree) error {
				list = append(list, blockNode(&bi, tree))
				return nil
			})
			if err != nil {
				last, stop := damaged(ctx, err)
				return append(list, last...), stop
			}
			return list, nil
		}}, nil
	}
	return n
}

// damaged is an error about a part as a part, unless ctx ended.
func damaged(ctx context.Context, err error) ([]provider.Node, error) {
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return nil, err
	}
	return []provider.Node{{Name: "!", Facts: []provider.Fact{{Name: "error", Value: err.Error()}}}}, nil
}

func blockNode(b *block, tree *encoding.Tree) provider.Node {
	n := provider.Node{Name: fmt.Sprintf("block %d", b.index), Facts: facts(blockFacts, b.cells())}
	if tree != nil {
		n.Parts = func(context.Context) (*provider.Nodes, error) {
			return some("trees", []provider.Node{treeNode(tree)}), nil
		}
	}
	return n
}

// treeNode is an encoding tree, or a part of one.
func treeNode(t *encoding.Tree) provider.Node {
	name := t.Label()
	if t.Name != "" {
		name = t.Name + ": " + name
	}
	n := provider.Node{Name: name, Facts: []provider.Fact{{Name: "type", Value: t.Type}, {Name: "values", Value: t.Len}, {Name: "bytes", Value: t.Size}, {Name: "offset", Value: t.Offset}}}
	if t.Err != nil {
		n.Facts = append(n.Facts, provider.Fact{Name: "error", Value: t.Err.Error()})
	}
	if len(t.Fields)+len(t.Children) > 0 {
		n.Parts = func(context.Context) (*provider.Nodes, error) {
			var list []provider.Node
			for _, f := range t.Fields {
				list = append(list, provider.Node{Name: f.Name, Facts: []provider.Fact{{Value: f.Text}}})
			}
			for i := range t.Children {
				list = append(list, treeNode(&t.Children[i]))
			}
			return some("trees", list), nil
		}
	}
	return n
}

// displayName is the displayed name of a node. Items of lists have none.
func displayName(n schema.Node) string {
	return cmp.Or(n.Name(), "(item)")
}

// extendedType is the label of a node, and what an internal field is for; "" if there is neither.
func extendedType(n schema.Node) (string, error) {
	label, err := n.Label()
	if label != "" && n.Internal() != "" {
		label += ", "
	}
	return label + n.Internal(), err
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
