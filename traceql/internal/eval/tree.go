package eval

import "github.com/amudai/amudai-go/traceql/internal/lang"

// tree is how the spans of a trace hang together. Ids that no span has, and circles of parents, are possible.
type tree struct {
	spans    []Span
	parent   []int   // the parent of each span, or -1
	children [][]int // in the order of spans
	left     []int64 // numbers of a nested set, 0 for spans that are below no root; nil until they are needed
	right    []int64
}

func (t *Trace) treeOf() *tree {
	if t.tree != nil {
		return t.tree
	}
	n := len(t.Spans)
	byID, clients := make(map[string]int, n), make(map[string]int)
	for i, s := range t.Spans {
		if len(s.ID) == 0 {
			continue
		}
		if s.Kind == clientKind {
			clients[string(s.ID)] = i
		}
		if other, shared := byID[string(s.ID)]; !shared || t.Spans[other].Kind != serverKind { // the server has the children
			byID[string(s.ID)] = i
		}
	}
	t.tree = &tree{spans: t.Spans, parent: make([]int, n), children: make([][]int, n)}
	for i, s := range t.Spans {
		t.tree.parent[i] = -1
		p, ok := byID[string(s.Parent)]
		ok = ok && s.Parent != nil
		if client, shared := clients[string(s.ID)]; shared && s.Kind == serverKind { // that of the same call
			p, ok = client, true
		}
		if ok {
			t.tree.parent[i] = p
			t.tree.children[p] = append(t.tree.children[p], i)
		}
	}
	return t.tree
}

// related are the spans that are in a relation to one of some: those that are a child, a descendant, … of it.
func (t *tree) related(r lang.Relation, from []bool) []bool {
	out := make([]bool, len(from))
	switch r {
	case lang.Child, lang.Descendant:
		t.below(from, out, r == lang.Descendant)
	case lang.Parent, lang.Ancestor:
		t.above(from, out, r == lang.Ancestor)
	case lang.Sibling:
		t.siblings(from, out)
	}
	return out
}

// inverse has the relations of the left span to the right one.
var inverse = map[lang.Relation]lang.Relation{
	lang.Child: lang.Parent, lang.Descendant: lang.Ancestor, lang.Parent: lang.Child, lang.Ancestor: lang.Descendant, lang.Sibling: lang.Sibling,
}

func (t *tree) below(from, out []bool, deep bool) {
	var open []int
	mark := func(i int) {
		for _, c := range t.children[i] {
			if !out[c] {
				out[c] = true
				open = append(open, c)
			}
		}
	}
	for i, yes := range from {
		if yes {
			mark(i)
		}
	}
	for deep && len(open) > 0 {
		i := open[len(open)-1]
		open = open[:len(open)-1]
		mark(i)
	}
}

func (t *tree) above(from, out []bool, deep bool) {
	for i, yes := range from {
		if !yes {
			continue
		}
		for p := t.parent[i]; p >= 0 && !out[p]; p = t.parent[p] {
			out[p] = true
			if !deep {
				break
			}
		}
	}
}

// siblings are spans with the same parent as another one. That parent may be missing, but root spans have no siblings.
func (t *tree) siblings(from, out []bool) {
	count := map[string]int{}
	for i, yes := range from {
		if yes && t.spans[i].Parent != nil {
			count[string(t.spans[i].Parent)]++
		}
	}
	for i, s := range t.spans {
		if s.Parent == nil {
			continue
		}
		others := count[string(s.Parent)]
		if from[i] {
			others--
		}
		out[i] = others > 0
	}
}

// nestedSet is a number of a span in a walk around the tree, which begins at 1 at the first root.
func (t *tree) nestedSet(which lang.Intrinsic, i int) int64 {
	if t.left == nil {
		t.number()
	}
	switch {
	case which == lang.NestedSetLeft:
		return t.left[i]
	case which == lang.NestedSetRight:
		return t.right[i]
	case t.spans[i].Parent == nil:
		return -1
	case t.parent[i] < 0:
		return 0
	}
	return t.left[t.parent[i]]
}

func (t *tree) number() {
	t.left, t.right = make([]int64, len(t.spans)), make([]int64, len(t.spans))
	next := int64(0)
	type step struct{ span, child int }
	for i, s := range t.spans {
		if s.Parent != nil {
			continue
		}
		next++
		t.left[i] = next
		path := []step{{i, 0}}
		for len(path) > 0 {
			top := &path[len(path)-1]
			next++
			if top.child == len(t.children[top.span]) {
				t.right[top.span] = next
				path = path[:len(path)-1]
				continue
			}
			c := t.children[top.span][top.child]
			top.child++
			t.left[c] = next
			path = append(path, step{c, 0})
		}
	}
}
