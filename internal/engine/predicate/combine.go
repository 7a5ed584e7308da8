package predicate

import (
	"slices"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/valueset"
)

// combine makes the and, or the or, of nodes. A node that is neutral is left out, a node that decides the result replaces
// all, and leaves that ask for values of the same column become one.
func (b *binder) combine(and bool, kids []draft) draft {
	kind, neutral, decisive := NodeOr, NodeNever, NodeAlways
	if and {
		kind, neutral, decisive = NodeAnd, NodeAlways, NodeNever
	}
	var out []draft
	leaves := map[int]int{} // column → its place in out
	for _, k := range flatten(kind, kids) {
		if k.kind == neutral {
			continue
		}
		if at, ok := leaves[k.col]; ok && k.set != nil {
			set := *out[at].set
			if and {
				set = set.And(*k.set)
			} else {
				set = valueset.Union(set, *k.set)
			}
			out[at] = b.leaf(k.col, set, false)
			k = out[at] // never, if no value is left
		} else {
			if k.set != nil {
				leaves[k.col] = len(out)
			}
			out = append(out, k)
		}
		if k.kind == decisive {
			return k
		}
	}
	switch len(out) {
	case 0:
		return draft{kind: neutral}
	case 1:
		return out[0]
	}
	return draft{kind: kind, kids: out}
}

// flatten replaces nodes of a kind by the nodes in them.
func flatten(kind NodeKind, kids []draft) []draft {
	var out []draft
	for _, k := range kids {
		if k.kind == kind {
			out = append(out, k.kids...)
		} else {
			out = append(out, k)
		}
	}
	return out
}

// finish gives nodes their final form, and drops columns that no node looks at any more.
func (b *binder) finish(d draft) *Bound {
	f := &finisher{b: b}
	root := f.node(d)
	return &Bound{root: root, nodes: f.nodes, columns: f.columns}
}

type finisher struct {
	b       *binder
	nodes   int
	columns []Column
}

func (f *finisher) column(c Column) int {
	if i := slices.IndexFunc(f.columns, c.Same); i >= 0 {
		return i
	}
	f.columns = append(f.columns, c)
	return len(f.columns) - 1
}

func (f *finisher) node(d draft) *Node {
	n := &Node{Kind: d.kind, ID: f.nodes}
	f.nodes++
	for _, k := range d.kids {
		kid := f.node(k)
		n.Nodes = append(n.Nodes, kid)
		n.computes = n.computes || kid.computes
	}
	switch d.kind {
	case NodeLeaf:
		n.Test = d.test
		c := f.b.columns[d.col]
		n.domain = c.domain
		if d.set != nil {
			n.Test = testOf(n.domain, *d.set)
		}
		n.plan = planOf(n.Test)
		if c.value == nil {
			n.Column = f.column(c)
			break
		}
		n.Kind, n.value, n.computes = NodeValue, c.value, true
		for _, in := range c.value.Inputs() {
			n.inputs = append(n.inputs, f.column(in))
		}
	case NodeCompare:
		n.Column, n.Other, n.compare = f.column(f.b.columns[d.col]), f.column(f.b.columns[d.other]), d.compare
		n.domain = f.b.columns[d.col].domain
	}
	if n.computes { // values are computed last, for the rows that are left
		slices.SortStableFunc(n.Nodes, func(a, b *Node) int { return bitmap.Bit(a.computes) - bitmap.Bit(b.computes) })
	}
	return n
}

// testOf asks whether a value is in a set that is not empty.
func testOf(d *valueset.Domain, set valueset.Set) Test {
	if values := d.Values(set); values != nil {
		return values
	}
	return Nulls{Not: true}
}
