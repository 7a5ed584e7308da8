package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/format/schema"
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

// Inspect asks the format of a file how it is built.
type Inspect func(ctx context.Context, o provider.InspectOptions) (*provider.Outline, error)

// Nodes are the parts of a file: facts, then the tree of all parts, or the lists in which a group of rows has its own.
func (inspect Inspect) Nodes(ctx context.Context) ([]Node, error) {
	return inspect.nodes(ctx, provider.InspectOptions{Detail: 1, Nodes: true})
}

func (inspect Inspect) nodes(ctx context.Context, o provider.InspectOptions) (list []Node, err error) {
	out, err := inspect(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.Groups == nil {
		for _, f := range out.Facts {
			list = append(list, Node{Name: terminal.Printable(f.Name), Facts: cell(f.Value)})
		}
	}
	if out.Nodes != nil {
		return append(list, grouped(out.Nodes.Kind, out.Nodes.Len, nodesOf(out.Nodes))...), nil
	}
	for _, l := range out.Lists {
		list = append(list, grouped(terminal.Printable(l.Name), len(l.Rows), func(_ context.Context, from, to int) (nodes []Node, err error) {
			for i := from; i < to; i++ {
				name, facts := rowFacts(l, l.Rows[i])
				node := Node{Name: name, Facts: inLine(facts)}
				if o.Groups == nil && hasGroups(l.Name) {
					node.Parts = func(ctx context.Context) ([]Node, error) {
						return inspect.nodes(ctx, provider.InspectOptions{Detail: 3, Groups: []int{i}})
					}
				}
				nodes = append(nodes, node)
			}
			return nodes, nil
		})...)
	}
	return list, nil
}

// nodesOf reads parts of a tree.
func nodesOf(parts *provider.Nodes) func(ctx context.Context, from, to int) ([]Node, error) {
	return func(ctx context.Context, from, to int) (nodes []Node, err error) {
		list, err := parts.Read(ctx, from, to)
		for _, n := range list {
			node := Node{Name: terminal.Printable(n.Name), Facts: inLine(n.Facts)}
			if n.Parts != nil {
				node.Parts = func(ctx context.Context) ([]Node, error) {
					parts, err := n.Parts(ctx)
					if err != nil {
						return nil, err
					}
					return divided(parts.Kind, 0, parts.Len, nodesOf(parts))(ctx)
				}
			}
			nodes = append(nodes, node)
		}
		return nodes, err
	}
}

// inLine are facts in a line.
func inLine(facts []provider.Fact) string {
	var list []string
	for _, f := range facts {
		if text := cell(f.Value); text != "" {
			list = append(list, strings.TrimSpace(f.Name+" "+terminal.Clip(text, 60)))
		}
	}
	return terminal.Printable(strings.Join(list, ", "))
}

// Encodings names the encodings of a column in the first group of rows, by its top-level name.
func (inspect Inspect) Encodings(ctx context.Context, name string) (string, error) {
	out, err := inspect(ctx, provider.InspectOptions{Stats: true, Groups: []int{0}, Columns: []string{schema.JoinPath("", name)}})
	if err != nil {
		return "", err
	}
	for _, l := range out.Lists {
		if at := slices.Index(l.Columns, "encodings"); at >= 0 && len(l.Rows) > 0 {
			return cell(l.Rows[0][at]), nil
		}
	}
	return "", nil
}

// grouped are n parts that a function reads from one to another, in groups if they are many.
func grouped(name string, n int, read func(ctx context.Context, from, to int) ([]Node, error)) []Node {
	if n == 0 {
		return nil
	}
	return []Node{{Name: name, Facts: terminal.Count(n), Parts: divided(name, 0, n, read)}}
}

// divided are the parts from one to another, in groups where they are many.
func divided(name string, from, to int, read func(ctx context.Context, from, to int) ([]Node, error)) func(ctx context.Context) ([]Node, error) {
	size := 1
	for size*partsAtOnce < to-from {
		size *= partsAtOnce
	}
	if size == 1 {
		return func(ctx context.Context) ([]Node, error) { return read(ctx, from, to) }
	}
	return func(context.Context) (list []Node, err error) {
		for i := from; i < to; i += size {
			end := min(i+size, to)
			list = append(list, Node{Name: fmt.Sprintf("%s %s–%s", name, terminal.Count(i), terminal.Count(end-1)), Parts: divided(name, i, end, read)})
		}
		return list, nil
	}
}

// hasGroups reports whether the rows of a list are groups of rows of the table.
func hasGroups(name string) bool {
	return slices.ContainsFunc([]string{"clusters", "blocks", "row groups"}, func(groups string) bool { return strings.HasSuffix(name, groups) })
}
