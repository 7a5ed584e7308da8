package schema

import "fmt"

// Text is the type of the node and its descendants, on one line: lists, maps and structs with
// their children, unsigned integers as UInt, and the label of an extended type in brackets.
//
//	List<:Struct<id:Int64,price:FixedSizeBinary(16)[KustoDecimal]>>
func (n Node) Text() (string, error) {
	b, err := n.appendText(nil, n.s.Budget())
	return string(b), err
}

func (n Node) appendText(b []byte, budget *Budget) ([]byte, error) {
	if err := budget.Spend(n); err != nil {
		return b, err
	}
	label, err := n.Label()
	if err != nil {
		return b, err
	}
	if n.basic.IsInteger() && !n.Signed() {
		b = append(b, 'U')
	}
	b = append(b, n.basic.String()...)
	if n.basic == FixedSizeBinary || n.basic == FixedSizeList {
		b = fmt.Appendf(b, "(%d)", n.size)
	}
	if label != "" {
		b = fmt.Appendf(b, "[%s]", label)
	}
	if n.NumChildren() == 0 {
		return b, nil
	}
	for i := range n.NumChildren() {
		c, err := n.Child(i)
		if err != nil {
			return b, err
		}
		b = append(b, "<,"[min(i, 1)])
		b = append(append(b, c.name...), ':')
		if b, err = c.appendText(b, budget); err != nil {
			return b, err
		}
	}
	return append(b, '>'), nil
}
