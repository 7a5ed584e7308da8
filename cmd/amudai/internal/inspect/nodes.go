package inspect

import (
	"context"
	"fmt"
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
)

// Node is a part of a file with its own parts, which are read when they are asked for. Its texts are safe to print.
type Node struct {
	Name  string // "stripe 0"
	Facts string // its properties in a line
	// Parts reads the parts. It is nil for a node without any. Damage within a part is a node, too.
	Parts func(ctx context.Context) ([]Node, error)
}

const partsAtOnce = 256 // parts of one kind below a node; more of them are grouped

// ShardNodes are the parts of a shard: facts, then its stripes, columns, buffers, blocks and encoding trees. The shard must stay
// open as long as the nodes are used.
func ShardNodes(ctx context.Context, s *shard.Shard) ([]Node, error) {
	info, err := s.Inspect(ctx, shard.InspectOptions{})
	if err != nil {
		return nil, err
	}
	var list []Node
	for _, f := range overview(info) {
		list = append(list, Node{Name: f.Name, Facts: cell(f.Value)})
	}
	stripes, err := s.Stripes(ctx)
	if err != nil {
		return nil, err
	}
	return append(list, grouped(stripes.Kind, stripes.Len, nodesOf(stripes))...), nil
}

// nodesOf reads parts of a shard as nodes.
func nodesOf(parts *shard.Parts) func(ctx context.Context, from, to int) ([]Node, error) {
	return func(ctx context.Context, from, to int) (nodes []Node, err error) {
		list, err := parts.Read(ctx, from, to)
		for _, p := range list {
			nodes = append(nodes, partNode(p))
		}
		return nodes, err
	}
}

func partNode(p shard.Part) Node {
	node := Node{Name: terminal.Printable(p.Name), Facts: terminal.OneLine(partFacts(p.Value))}
	if p.Parts != nil {
		node.Parts = func(ctx context.Context) ([]Node, error) {
			parts, err := p.Parts(ctx)
			if err != nil {
				return nil, err
			}
			if parts.Len <= partsAtOnce { // no need of a level of its own
				return nodesOf(parts)(ctx, 0, parts.Len)
			}
			return grouped(parts.Kind, parts.Len, nodesOf(parts))[0].Parts(ctx)
		}
	}
	return node
}

// partFacts are the properties of a part in a line.
func partFacts(v any) string {
	switch v := v.(type) {
	case *shard.StripeStructure:
		return fmt.Sprintf("rows %s–%s", terminal.Count(v.Position), terminal.Count(v.Position+v.Rows))
	case *shard.ColumnStructure:
		return columnFacts(v)
	case *shard.BufferStructure:
		return terminal.Size(v.Bytes) + ", " + bufferFacts(v)
	case *shard.BlockStructure:
		facts := fmt.Sprintf("%s, %s from %s, %s at %d", v.Tree, terminal.Plural(v.Values, "value"), terminal.Count(v.First), terminal.Plural(v.Bytes, "byte"), v.Offset)
		if v.Presence > 0 {
			facts += ", presence " + terminal.Plural(v.Presence, "byte")
		}
		if v.Error != "" {
			facts += " ! " + v.Error
		}
		return facts
	case *shard.TreeStructure:
		facts := fmt.Sprintf("%s, %s at %d", terminal.Plural(v.Values, "value"), terminal.Plural(v.Bytes, "byte"), v.Offset)
		if v.Type != "" {
			facts = v.Type + ", " + facts
		}
		if v.Err != nil {
			facts += " ! " + v.Err.Error()
		}
		return facts
	}
	return fmt.Sprint(v)
}

func columnFacts(c *shard.ColumnStructure) string {
	facts := []string{c.Type, terminal.Size(c.Bytes)}
	switch {
	case c.Missing:
		facts = append(facts, "missing: all null")
	case c.IsConstant:
		facts = append(facts, "constant "+terminal.Clip(terminal.Printable(c.Min), 40))
	default:
		facts = append(facts, "nulls "+nullsText(c))
		if d := distinctText(c.Distinct); d != "" {
			facts = append(facts, "distinct "+d)
		}
		if c.Min != "" || c.Max != "" {
			facts = append(facts, terminal.Clip(terminal.Printable(c.Min), 30)+" to "+terminal.Clip(terminal.Printable(c.Max), 30))
		}
	}
	return strings.Join(facts, ", ")
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

// OutlineNodes are the parts of what a format tells of a file. The function is called again for the parts of a group of rows.
func OutlineNodes(ctx context.Context, inspect func(ctx context.Context, o provider.InspectOptions) (*provider.Outline, error)) ([]Node, error) {
	return outlineNodes(ctx, provider.InspectOptions{Detail: 1}, inspect)
}

func outlineNodes(ctx context.Context, o provider.InspectOptions, inspect func(ctx context.Context, o provider.InspectOptions) (*provider.Outline, error)) (list []Node, err error) {
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
						return outlineNodes(ctx, provider.InspectOptions{Detail: 3, Groups: []int{i}}, inspect)
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
func rowNode(l provider.List, i int) Node {
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
func ColumnEncodings(ctx context.Context, s *shard.Shard, name string) (string, error) {
	if s.NumStripes() == 0 {
		return "", nil
	}
	list, err := s.Summaries(ctx, shard.InspectOptions{Stripes: []int{0}, Columns: []string{schema.JoinPath("", name)}})
	if err != nil || len(list) == 0 {
		return "", err
	}
	return encodingNames(list[0]), nil
}
