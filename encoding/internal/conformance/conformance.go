// Package conformance checks descriptions of trees of all families of encodings. It serves tests only.
package conformance

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/amudai/amudai-go/encoding"
)

// Covered checks that the fields and parts of a tree name each of its bytes once.
func Covered(n *encoding.Tree) error {
	type span struct{ from, to int }
	var spans []span
	for _, f := range n.Fields {
		spans = append(spans, span{f.Offset, f.Offset + f.Size})
	}
	for i := range n.Children {
		c := &n.Children[i]
		if err := Covered(c); err != nil {
			return err
		}
		spans = append(spans, span{c.Offset, c.Offset + c.Size})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(a.from-b.from, a.to-b.to) })
	at := n.Offset
	for _, s := range append(spans, span{n.Offset + n.Size, n.Offset + n.Size}) {
		if s.from != at {
			return fmt.Errorf("%s at %d: described up to %d, then from %d", n.Label(), n.Offset, at, s.from)
		}
		at = s.to
	}
	return nil
}
