package inspect

import (
	"context"
	"fmt"

	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
)

// Node is a node of the stored schema.
type Node struct {
	ID       uint32
	Depth    int    // from 0
	Name     string // "(item)" for that of lists
	Type     string // the stored type
	Extended string // the extended type, or ""
}

// Nodes lists the nodes of the stored schema, parents first.
func Nodes(ctx context.Context, f *shardfile.File) (list []Node, err error) {
	s, err := f.Schema(ctx)
	if err != nil {
		return nil, err
	}
	err = walkSchema(s, func(n schema.Node, _ string, depth int) error {
		label, err := n.Label()
		list = append(list, Node{ID: n.ID(), Depth: depth, Name: displayName(n), Type: storedType(n), Extended: label})
		return err
	})
	return list, err
}

// displayName is the displayed name of a node. Items of lists have none.
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
