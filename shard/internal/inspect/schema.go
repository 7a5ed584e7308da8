package inspect

import (
	"cmp"
	"fmt"

	"github.com/amudai/amudai-go/internal/format/schema"
)

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
