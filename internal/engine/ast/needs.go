package ast

import (
	"slices"
	"strings"

	"github.com/amudai/amudai-go/internal/format/schema"
)

// ColumnsOf are the paths of the columns that keys and calls need, each once.
func ColumnsOf(keys []*Node, calls []Call) []string {
	paths, seen := []string{}, map[string]bool{}
	add := func(n *Node) {
		for _, p := range n.Columns() {
			if !seen[p] {
				seen[p] = true
				paths = append(paths, p)
			}
		}
	}
	for _, n := range keys {
		add(n)
	}
	for _, c := range calls {
		for _, n := range c.Args {
			add(n)
		}
		add(c.Where)
	}
	return paths
}

// Decimals64 are the paths of columns of which decimals of 64 bits give the same results as decimals of 128 bits that are the same
// numbers: all but arguments of functions whose results are of their type.
func Decimals64(keys []*Node, calls []Call) (paths []string) {
	other := map[string]bool{}
	for _, c := range calls {
		for _, n := range c.Args {
			if n.Op == OpColumn && !typeless[c.Name] {
				other[n.Path] = true
			}
		}
	}
	for _, p := range ColumnsOf(keys, calls) {
		if !other[p] {
			paths = append(paths, p)
		}
	}
	return paths
}

// Lengths are the names of top-level columns of which only the lengths of values matter, to the condition for rows, too.
func Lengths(keys []*Node, calls []Call, where *Node) (names []string) {
	values := map[string]bool{}
	var visit func(n *Node)
	visit = func(n *Node) {
		for _, a := range n.Args {
			if a.Op != OpColumn || !IsLength(n) && !n.isEmptiness() || len(schema.SplitPath(a.Path)) > 1 {
				visit(a)
			}
		}
		if n.Op == OpColumn {
			values[schema.SplitPath(n.Path)[0]] = true
		}
	}
	all := &Node{Args: slices.Clone(keys)}
	for _, c := range calls {
		all.Args = append(append(all.Args, c.Args...), c.Where)
	}
	all.Args = slices.DeleteFunc(append(all.Args, where), func(n *Node) bool { return n == nil })
	visit(all)
	for _, p := range ColumnsOf(keys, calls) {
		if name := schema.SplitPath(p)[0]; !values[name] {
			names = append(names, name)
		}
	}
	return names
}

// IsLength reports whether an expression is the length of another one.
func IsLength(n *Node) bool { return n.Op == OpCall && (n.Name == "length" || n.Name == "len") }

// isEmptiness reports whether a condition tells empty texts from others, which statistics often do without the texts.
func (n *Node) isEmptiness() bool {
	return (n.Op == OpEq || n.Op == OpNe) && slices.ContainsFunc(n.Args, func(a *Node) bool { return a.Op == OpLiteral && a.Lit.Kind == LitString && a.Lit.Text == "" })
}

// AnyOrder reports whether the order of rows makes no difference, but for the rounding of sums of floats, and zeros of both signs.
func AnyOrder(keys []*Node, calls []Call) bool {
	computed := func(n *Node) bool { return n.Op != OpColumn }
	return !slices.ContainsFunc(keys, computed) && !slices.ContainsFunc(calls, func(c Call) bool { return !orderless[c.Name] || slices.ContainsFunc(c.Args, computed) })
}

// orderless are functions whose results do not depend on the order of values.
var orderless = map[string]bool{"count": true, "sum": true, "avg": true, "mean": true, "min": true, "max": true, "bool_and": true, "bool_or": true}

// typeless are functions whose results do not depend on the width of decimals.
var typeless = map[string]bool{
	"count": true, "sum": true, "avg": true, "mean": true, "var_samp": true, "var_pop": true, "variance": true,
	"stddev_samp": true, "stddev_pop": true, "stddev": true,
	"min": true, "max": true, "first": true, "last": true, "arbitrary": true, "any_value": true,
}

// Shifted splits x + 1 and x - 1 into a column and a number of at most 31 bits, which is 0 for all else.
func Shifted(n *Node) (x *Node, by int64) {
	if n.Op != OpAdd && n.Op != OpSub {
		return n, 0
	}
	x, y := n.Args[0], n.Args[1]
	if n.Op == OpAdd && x.Op == OpLiteral {
		x, y = y, x
	}
	if x.Op != OpColumn || y.Op != OpLiteral || y.Lit.Kind != LitNumber || strings.ContainsAny(y.Lit.Text, ".eE") || y.Lit.Rat().Num().BitLen() > 31 {
		return n, 0
	}
	if by = y.Lit.Rat().Num().Int64(); n.Op == OpSub {
		by = -by
	}
	return x, by
}
