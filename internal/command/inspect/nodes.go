package inspect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/amudai/amudai-go/encoding/block"
	"github.com/amudai/amudai-go/encoding/describe"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/command/terminal"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/format/shardfile"
	"github.com/amudai/amudai-go/stripe"
	"github.com/amudai/amudai-go/table"
)

// Node is a part of a file with its own parts, which are read when they are asked for. Its texts are safe to print.
type Node struct {
	Name  string // "stripe 0"
	Facts string // its properties in a line
	// Parts reads the parts. It is nil for a node without any. Damage within a part is a node, too.
	Parts func(ctx context.Context) ([]Node, error)
}

const partsAtOnce = 256 // parts of one kind below a node; more of them are grouped

// ShardNodes are the parts of a shard: facts, then its stripes, columns, buffers, blocks and encoding trees. The file must stay
// open as long as the nodes are used.
func ShardNodes(ctx context.Context, f *shardfile.File) ([]Node, error) {
	var facts bytes.Buffer
	var list []Node
	err := inspect(ctx, terminal.Screen{Out: &facts}, f, Options{}, func(in *inspector) error {
		info, err := in.collect(ctx)
		if err != nil {
			return err
		}
		in.overview(info)
		for line := range strings.Lines(facts.String()) {
			line = strings.TrimRight(line, "\n")
			n := min(factWidth, len(line))
			list = append(list, Node{Name: strings.TrimSpace(line[:n]), Facts: strings.TrimSpace(line[n:])})
		}
		in.out = terminal.Screen{Out: &bytes.Buffer{}}
		in.flags.Verbose = 1
		list = append(list, grouped("stripes", f.NumStripes(), func(_ context.Context, from, to int) (nodes []Node, err error) {
			for i := from; i < to; i++ {
				nodes = append(nodes, in.stripeNode(f.Stripe(i)))
			}
			return nodes, nil
		})...)
		return nil
	})
	return list, err
}

// grouped are n parts that a function reads from one to another, in groups if they are many.
func grouped(name string, n int, read func(ctx context.Context, from, to int) ([]Node, error)) []Node {
	if n == 0 {
		return nil
	}
	if n <= partsAtOnce {
		return []Node{{Name: name, Facts: terminal.Count(n), Parts: func(ctx context.Context) ([]Node, error) { return read(ctx, 0, n) }}}
	}
	size := partsAtOnce
	for size*partsAtOnce < n {
		size *= partsAtOnce
	}
	return []Node{{Name: name, Facts: terminal.Count(n), Parts: func(context.Context) ([]Node, error) { return groups(name, 0, n, size, read), nil }}}
}

// groups are the parts from one to another in groups of a size, which are divided further.
func groups(name string, from, to, size int, read func(ctx context.Context, from, to int) ([]Node, error)) (list []Node) {
	for i := from; i < to; i += size {
		end := min(i+size, to)
		parts := func(ctx context.Context) ([]Node, error) { return read(ctx, i, end) }
		if size > partsAtOnce {
			parts = func(context.Context) ([]Node, error) { return groups(name, i, end, size/partsAtOnce, read), nil }
		}
		list = append(list, Node{Name: fmt.Sprintf("%s %s–%s", name, terminal.Count(i), terminal.Count(end-1)), Parts: parts})
	}
	return list
}

func (in *inspector) stripeNode(st *shardfile.Stripe) Node {
	return Node{
		Name:  fmt.Sprintf("stripe %d", st.Index()),
		Facts: fmt.Sprintf("rows %s–%s", terminal.Count(st.Position()), terminal.Count(st.Position()+st.Rows())),
		Parts: func(ctx context.Context) ([]Node, error) {
			columns := grouped("columns", in.schema.NumFields(), func(ctx context.Context, from, to int) (nodes []Node, err error) {
				for i := from; i < to; i++ {
					n, err := in.schema.Field(i)
					if err != nil {
						return nil, err
					}
					node, err := in.columnNode(ctx, st, n, schema.JoinPath("", n.Name()))
					if err != nil {
						return nil, err
					}
					nodes = append(nodes, node)
				}
				return nodes, ctx.Err()
			})
			if len(columns) == 1 { // no need of a level of its own
				return columns[0].Parts(ctx)
			}
			return columns, nil
		},
	}
}

// columnNode is a schema node in a stripe, with its nested nodes and buffers.
func (in *inspector) columnNode(ctx context.Context, st *shardfile.Stripe, n schema.Node, path string) (Node, error) {
	c, err := in.column(ctx, st, n, path)
	if err != nil {
		return Node{}, err
	}
	facts := []string{c.Type, terminal.Size(c.Bytes)}
	switch lo, hi := rangeText(&c); {
	case c.Missing:
		facts = append(facts, "missing: all null")
	case c.isConstant:
		facts = append(facts, "constant "+terminal.Clip(terminal.Printable(lo), 40))
	default:
		facts = append(facts, "nulls "+nullsText(&c))
		if d := c.distinct.text(); d != "" {
			facts = append(facts, "distinct "+d)
		}
		if lo != "" || hi != "" {
			facts = append(facts, terminal.Clip(terminal.Printable(lo), 30)+" to "+terminal.Clip(terminal.Printable(hi), 30))
		}
	}
	return Node{
		Name: terminal.Printable(displayName(n)), Facts: strings.Join(facts, ", "),
		Parts: func(ctx context.Context) ([]Node, error) { return in.columnParts(ctx, st, n, path) },
	}, nil
}

func (in *inspector) columnParts(ctx context.Context, st *shardfile.Stripe, n schema.Node, path string) (list []Node, err error) {
	d, err := st.Descriptor(ctx, n.ID())
	if err != nil {
		return nil, err
	}
	for _, e := range d.GetEncodings() {
		for _, b := range e.GetNative().GetBuffers() {
			node, err := in.bufferNode(ctx, st, n, e.GetNative(), b)
			if err != nil {
				return nil, err
			}
			list = append(list, node)
		}
	}
	for i := range n.NumChildren() {
		child, err := n.Child(i)
		if err != nil {
			return nil, err
		}
		name := child.Name()
		if name == "" {
			name = "item"
		}
		node, err := in.columnNode(ctx, st, child, schema.JoinPath(path, name))
		if err != nil {
			return nil, err
		}
		list = append(list, node)
	}
	return list, ctx.Err()
}

func (in *inspector) bufferNode(ctx context.Context, st *shardfile.Stripe, n schema.Node, e *shardpb.NativeDataEncoding, b *shardpb.EncodedBuffer) (Node, error) {
	info, err := in.buffer(ctx, st, n, e, b)
	if err != nil {
		return Node{}, err
	}
	node := Node{Name: terminal.Printable(info.Kind), Facts: terminal.Printable(terminal.Size(info.Bytes) + ", " + bufferFacts(&info))}
	if !stripe.HasBlocks(b) {
		return node, nil
	}
	v := func() *blockVisitor { return &blockVisitor{checksums: info.Checksums, kind: kindOf(n, e, b.GetKind())} }
	node.Parts = func(ctx context.Context) ([]Node, error) {
		count, err := v().count(ctx, st, n, b)
		if err != nil {
			return damagedNode(ctx, err)
		}
		blocks := grouped("blocks", count, func(ctx context.Context, from, to int) (list []Node, err error) {
			err = v().visit(ctx, st, n, b, from, to, func(bi blockInfo, _ []byte, blk block.Block, tree *describe.Node) error {
				list = append(list, blockNode(bi, tree))
				return nil
			})
			if err != nil {
				damaged, stop := damagedNode(ctx, err)
				return append(list, damaged...), stop
			}
			return list, nil
		})
		if len(blocks) == 1 {
			return blocks[0].Parts(ctx)
		}
		return blocks, nil
	}
	return node, nil
}

// damagedNode is an error about a part as a node, unless ctx ended.
func damagedNode(ctx context.Context, err error) ([]Node, error) {
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return nil, err
	}
	return []Node{{Name: "!", Facts: terminal.OneLine(err.Error())}}, nil
}

func blockNode(b blockInfo, tree *describe.Node) Node {
	facts := fmt.Sprintf("%s from %s, %s at %d", terminal.Plural(b.Values, "value"), terminal.Count(b.First), terminal.Plural(b.Bytes, "byte"), b.Offset)
	if b.Presence > 0 {
		facts += ", presence " + terminal.Plural(b.Presence, "byte")
	}
	if b.Error != "" {
		facts += " ! " + b.Error
	}
	node := Node{Name: fmt.Sprintf("block %d", b.Index), Facts: terminal.Printable(b.Tree + ", " + facts)}
	if tree != nil {
		node.Parts = func(context.Context) ([]Node, error) { return []Node{treeNode(tree)}, nil }
	}
	return node
}

// treeNode is an encoding tree, or a part of one.
func treeNode(t *describe.Node) Node {
	name := t.Label()
	if t.Name != "" {
		name = t.Name + ": " + name
	}
	facts := fmt.Sprintf("%s, %s at %d", terminal.Plural(t.Len, "value"), terminal.Plural(t.Size, "byte"), t.Offset)
	if t.Type != "" {
		facts = t.Type + ", " + facts
	}
	if t.Err != nil {
		facts += " ! " + t.Err.Error()
	}
	node := Node{Name: terminal.Printable(name), Facts: terminal.Printable(facts)}
	if len(t.Fields)+len(t.Children) > 0 {
		node.Parts = func(context.Context) (list []Node, err error) {
			for _, f := range t.Fields {
				list = append(list, Node{Name: terminal.Printable(f.Name), Facts: terminal.Printable(f.Text)})
			}
			for i := range t.Children {
				list = append(list, treeNode(&t.Children[i]))
			}
			return list, nil
		}
	}
	return node
}

// OutlineNodes are the parts of what a format tells of a file. The function is called again for the parts of a group of rows.
func OutlineNodes(ctx context.Context, inspect func(ctx context.Context, o table.InspectOptions) (*table.Outline, error)) ([]Node, error) {
	return outlineNodes(ctx, table.InspectOptions{Detail: 1}, inspect)
}

func outlineNodes(ctx context.Context, o table.InspectOptions, inspect func(ctx context.Context, o table.InspectOptions) (*table.Outline, error)) (list []Node, err error) {
	out, err := inspect(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.Groups == nil {
		for _, f := range out.Facts {
			list = append(list, Node{Name: terminal.Printable(f.Name), Facts: cell(f.Value)})
		}
	}
	for _, l := range out.Lists {
		list = append(list, grouped(terminal.Printable(l.Name), len(l.Rows), func(_ context.Context, from, to int) (nodes []Node, err error) {
			for i := from; i < to; i++ {
				node := rowNode(l, i)
				if o.Groups == nil && hasGroups(l.Name) {
					node.Parts = func(ctx context.Context) ([]Node, error) {
						return outlineNodes(ctx, table.InspectOptions{Detail: 3, Groups: []int{i}}, inspect)
					}
				}
				nodes = append(nodes, node)
			}
			return nodes, nil
		})...)
	}
	return list, nil
}

// hasGroups reports whether the rows of a list are groups of rows of the table.
func hasGroups(name string) bool {
	for _, groups := range []string{"clusters", "blocks", "row groups"} {
		if strings.HasSuffix(name, groups) {
			return true
		}
	}
	return false
}

// rowNode is a row of a list: its first cell, and then the others with their names.
func rowNode(l table.List, i int) Node {
	var facts []string
	node := Node{}
	for k, v := range l.Rows[i] {
		switch text := cell(v); {
		case k == 0:
			node.Name = l.Columns[k] + " " + text
			if _, isText := v.(string); isText {
				node.Name = text
			}
		case text != "":
			facts = append(facts, l.Columns[k]+" "+text)
		}
	}
	node.Name, node.Facts = terminal.Printable(node.Name), terminal.Printable(strings.Join(facts, ", "))
	return node
}

// ColumnEncodings names the encodings of a column in the first stripe, by its top-level name.
func ColumnEncodings(ctx context.Context, f *shardfile.File, name string) (text string, err error) {
	if f.NumStripes() == 0 {
		return "", nil
	}
	o := Options{Verbose: 2, Stripes: []int{0}, Columns: []string{schema.JoinPath("", name)}}
	err = inspect(ctx, terminal.Screen{Out: &bytes.Buffer{}}, f, o, func(in *inspector) error {
		info, err := in.collect(ctx)
		if err != nil {
			return err
		}
		list, err := in.statistics(ctx, info)
		if err != nil || len(list) == 0 {
			return err
		}
		text = list[0].encodingsText()
		return nil
	})
	return text, err
}
