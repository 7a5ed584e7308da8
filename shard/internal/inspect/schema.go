package inspect

import (
	"cmp"
	"fmt"

	"github.com/amudai/amudai-go/internal/format/schema"
)

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
		if err := walkNode(c, childPath(path, c), depth+1, visit); err != nil {
			return err
		}
	}
	return nil
}

// childPath is the path of a node below that at another path.
func childPath(path string, child schema.Node) string {
	return schema.JoinPath(path, cmp.Or(child.Name(), "item"))
}
