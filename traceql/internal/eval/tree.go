package eval

import (
	"slices"

	"github.com/amudai/amudai-go/traceql/internal/lang"
)

// tree is how the spans of a trace hang together. Ids that no span has, and circles of parents, are possible.
type tree struct {
	spans  []Span
	parent []int32 // the parent of each span, or -1
	first  []int32 // of each span, where its children begin in childs; one more at the end
	childs []int32 // children, in the order of spans
	left   []int64 // numbers of a nested set, 0 for spans that are below no root; nil until they are needed
	right  []int64
}

// children are the spans whose parent is span i.
func (t *tree) children(i int) []int32 { return t.childs[t.first[i]:t.first[i+1]] }

func (t *Trace) treeOf() *tree {
	if t.tree != nil {
		return t.tree
	}
	n := len(t.Spans)
	byID, clients := t.byID()
	t.tree = &tree{spans: t.Spans, parent: make([]int32, n), first: make([]int32, n+1), childs: make([]int32, n)}
	for i := range t.Spans {
		s, p := &t.Spans[i], int32(-1)
		if id := s.Parent(); id != nil {
			p = *byID.slot(t.Spans, id) - 1
		}
		if clients != nil && s.kind() == serverKind {
			if client, shared := clients[string(s.ID())]; shared { // that of the same call
				p = client
			}
		}
		t.tree.parent[i] = p
		if p >= 0 {
			t.tree.first[p+1]++
		}
	}
	t.tree.list()
	return t.tree
}

// byID are the spans that have the children of an id, and the clients among them if some id is there twice.
func (t *Trace) byID() (byID ids, clients map[string]int32) {
	if t.scratch != nil && t.scratch.of == t && !t.sorted { // ids that differ, each where it is
		return t.scratch.ids, nil
	}
	byID.reset(len(t.Spans))
	shared := false
	for i := range t.Spans {
		s := &t.Spans[i]
		id := s.ID()
		if len(id) == 0 {
			continue
		}
		slot := byID.slot(t.Spans, id)
		switch other := *slot - 1; {
		case other < 0:
			*slot = int32(i + 1)
			continue
		case t.Spans[other].kind() != serverKind: // the server has the children
			*slot = int32(i + 1)
		}
		shared = true
	}
	if !shared {
		return byID, nil
	}
	clients = map[string]int32{}
	for i := range t.Spans {
		if s := &t.Spans[i]; s.kind() == clientKind && len(s.ID()) > 0 {
			clients[string(s.ID())] = int32(i)
		}
	}
	return byID, clients
}

// list makes the lists of children of their numbers.
func (t *tree) list() {
	for i := range t.parent {
		t.first[i+1] += t.first[i]
	}
	at := slices.Clone(t.first)
	for i, p := range t.parent {
		if p >= 0 {
			t.childs[at[p]] = int32(i)
			at[p]++
		}
	}
}

// related are the spans that are in a relation to one of some: those that are a child, a descendant, … of it.
func (t *Trace) related(r lang.Relation, from []bool) []bool {
	if t.Summary != nil {
		return relatedByPlace(r, t.Spans, from)
	}
	return t.treeOf().related(r, from)
}

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
	var open []int32
	mark := func(i int32) {
		for _, c := range t.children(int(i)) {
			if !out[c] {
				out[c] = true
				open = append(open, c)
			}
		}
	}
	for i, yes := range from {
		if yes {
			mark(int32(i))
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
	type parent struct {
		span int32
		id   string // if the span is missing
	}
	of := func(i int) (p parent, ok bool) {
		if p.span = t.parent[i]; p.span < 0 {
			p.id = string(t.spans[i].Parent())
		}
		return p, p.span >= 0 || p.id != ""
	}
	count := map[parent]int{}
	for i, yes := range from {
		if p, ok := of(i); yes && ok {
			count[p]++
		}
	}
	for i := range t.spans {
		p, ok := of(i)
		others := count[p]
		if from[i] {
			others--
		}
		out[i] = ok && others > 0
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
	case t.spans[i].Parent() == nil:
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
	for i := range t.spans {
		if t.spans[i].Parent() != nil {
			continue
		}
		next++
		t.left[i] = next
		path := []step{{i, 0}}
		for len(path) > 0 {
			top := &path[len(path)-1]
			next++
			if top.child == len(t.children(top.span)) {
				t.right[top.span] = next
				path = path[:len(path)-1]
				continue
			}
			c := int(t.children(top.span)[top.child])
			top.child++
			t.left[c] = next
			path = append(path, step{c, 0})
		}
	}
}
