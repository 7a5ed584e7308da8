// Package learn learns the patterns of byte strings, and splits these by them into constant bytes and fields: what is written as the encoding
// Fields (docs/format.md §7.5).
package learn

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
)

// Patterns are what was learnt, as a tree: a value goes from the root along an edge for each of its tokens, as far as
// there are edges. What is left over when there is none is a text. They do not change, and are safe for concurrent use.
type Patterns struct {
	edges   []edge
	into    []int32 // by node: the edge that leads to it, -1 for the root
	grammar *grammar
	forms   []*form // by path, nil where none is known; empty before the first block
	left    float64 // share of the bytes that was left over when they were learnt

	nodes    []node
	branches []branch // by the nodes that they come from, constants first
}

// node is where its branches are in a list: constants, then others.
type node struct {
	constants, others, end int32
	common                 uint64 // all bits of the first bytes that each constant has

	hop
}

// hop is the way from a node where no value branches: constants, as far as there is one way only, and the field or the ending behind them. Their
// bytes are compared in one step.
type hop struct {
	literal // constants, and the delimiters before the field
	kind    hopKind
	branch  int32 // of the field or the ending
	to      int32 // the next node
}

// literal is constant bytes.
type literal struct {
	text        string
	first, mask uint64 // the first 8 bytes, the first one lowest, and all bits of those that there are
}

func literalOf(text string) literal {
	first, mask := firstOf([]byte(text))
	return literal{text, bits.ReverseBytes64(first), bits.ReverseBytes64(mask)}
}

// begins tells whether the bytes from a place to stop begin with a literal. The first 8 of them are w.
func (l *literal) begins(w uint64, data []byte, from, stop uint32) bool {
	n := uint32(len(l.text))
	return (w^l.first)&l.mask == 0 && n <= stop-from && (n <= 8 || string(data[from:from+n]) == l.text)
}

type hopKind uint8

const (
	noHop hopKind = iota
	hopConstants
	hopField
	hopEnding
)

// branch is an edge, as it is looked for.
type branch struct {
	first, mask uint64 // the first 8 bytes of the text, the first one highest, and all bits of those that it has
	shape       uint64
	edge, to    int32
	size        uint32 // bytes of the text
	kind        kind
}

// edge is a token of a pattern: a constant, or delimiters and a word that varies.
type edge struct {
	from, to int32 // nodes
	parent   int32 // the edge that leads to from, -1 for the root
	kind     kind
	text     []byte // delimiters, and the word of a constant
	key      uint64 // of the path
	shape    uint64 // of words
}

// kind is the classes of words that an edge is for.
type kind uint8

const (
	constant kind = iota
	ofShape       // a word with digits, of a shape
	ofWord        // any word
	ending
	rest // no edge: what is left over at a node
)

// A sample has up to so many values.
const (
	sampleValues = 4096
	maxTokens    = 64
	maxEdges     = 1 << 13
	rareShare    = 1024 // a path is worth an edge from one in so many values of the sample on
	rareLeast    = 4
)

// sampled is a token of the sample.
type sampled struct {
	token
	hash  uint64 // of delimiters, and of the word, or its shape if it has a digit
	delim uint64 // of delimiters
	after uint64 // of all that follows
}

// learner is the memory for learning.
type learner struct {
	t      *Patterns
	tokens []sampled
	first  []int // by value: its first token
	values [][]byte
	least  int // values that are worth an edge
}

// add makes an edge to a new node, and returns its number.
func (t *Patterns) add(from, parent int32, k kind, shape uint64, text []byte) int32 {
	e := edge{from: from, to: int32(len(t.into)), parent: parent, kind: k, text: bytes.Clone(text), shape: shape}
	e.key = hash(t.key(parent)^uint64(k)<<56, text)
	t.edges = append(t.edges, e)
	n := int32(len(t.edges) - 1)
	t.into = append(t.into, n)
	return n
}

// key is the hash of a path that ends with an edge.
func (t *Patterns) key(n int32) uint64 {
	if n < 0 {
		return 1
	}
	return t.edges[n].key
}

// sort makes lists of the edges by node.
func (t *Patterns) sort() {
	by := make([]int32, len(t.edges))
	for i := range by {
		by[i] = int32(i)
	}
	slices.SortStableFunc(by, func(a, b int32) int {
		x, y := &t.edges[a], &t.edges[b]
		return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.kind, y.kind), bytes.Compare(x.text, y.text))
	})
	t.branches = make([]branch, len(by))
	for i, n := range by {
		e := &t.edges[n]
		b := branch{shape: e.shape, edge: n, to: e.to, size: uint32(len(e.text)), kind: e.kind}
		b.first, b.mask = firstOf(e.text)
		t.branches[i] = b
	}
	at := int32(0)
	more := func(node int, only kind) bool {
		return int(at) < len(by) && t.edges[by[at]].from == int32(node) && (only == rest || t.edges[by[at]].kind == only)
	}
	for i := range t.into {
		n := node{constants: at, common: ^uint64(0)}
		for ; more(i, constant); at++ {
			n.common &= t.branches[at].mask
		}
		n.others = at
		for more(i, rest) {
			at++
		}
		n.end = at
		t.nodes = append(t.nodes, n)
	}
	t.link()
}

// link makes the hops. Nodes come after those that lead to them.
func (t *Patterns) link() {
	for i := len(t.nodes) - 1; i >= 0; i-- {
		n := &t.nodes[i]
		if n.end != n.constants+1 {
			continue
		}
		b := &t.branches[n.constants]
		switch b.kind {
		case constant:
			if n.hop = t.nodes[b.to].hop; n.hop.kind == noHop {
				n.hop = hop{kind: hopConstants, to: b.to}
			}
		case ending:
			n.hop = hop{kind: hopEnding, branch: n.constants}
		default:
			n.hop = hop{kind: hopField, branch: n.constants, to: b.to}
		}
		n.literal = literalOf(string(t.edges[b.edge].text) + n.text)
	}
}

// firstOf is the first 8 bytes of a text, the first one highest, and all bits of those that it has.
func firstOf(text []byte) (first, mask uint64) {
	for i, b := range text[:min(len(text), 8)] {
		first |= uint64(b) << (56 - 8*i)
		mask |= 0xff << (56 - 8*i)
	}
	return first, mask
}

// learn makes patterns of a sample of values.
func (l *learner) learn(g *grammar, least int) *Patterns {
	t := &Patterns{grammar: g, into: []int32{-1}}
	l.t, l.least = t, least
	l.tokens, l.first = l.tokens[:0], l.first[:0]
	rows := make([]int32, len(l.values))
	for i, v := range l.values {
		rows[i] = int32(i)
		l.cut(g, v)
	}
	l.first = append(l.first, len(l.tokens))
	l.grow(0, -1, 0, rows)
	t.sort()
	all, left := 1, 0
	for _, v := range l.values {
		all += len(v)
		left += t.leave(v)
	}
	t.left = float64(left) / float64(all)
	return t
}

// cut appends the tokens of a value.
func (l *learner) cut(g *grammar, v []byte) {
	from := len(l.tokens)
	l.first = append(l.first, from)
	for at := uint32(0); len(l.tokens)-from < maxTokens; {
		t, shape := g.next(v, at)
		s := sampled{token: t}
		s.delim, s.hash = t.hashes(v, shape)
		l.tokens = append(l.tokens, s)
		if at = s.end; s.class == end {
			break
		}
	}
	after := uint64(0)
	for i := len(l.tokens) - 1; i >= from; i-- {
		l.tokens[i].after = after
		after = (after ^ l.tokens[i].hash) * 0x9e3779b97f4a7c15
	}
}

// group is the values whose next token is alike.
type group struct {
	first *sampled
	value []byte // the first of the values
	rows  []int32
}

func (g *group) delimiters() []byte { return g.value[g.first.start:g.first.word] }

// grow makes the edges at a node for values, whose next token is their depth-th.
func (l *learner) grow(node, parent int32, depth int, rows []int32) {
	if depth >= maxTokens || len(rows) < l.least || len(l.t.edges) > maxEdges {
		return
	}
	groups := l.groups(depth, rows)
	for i := range groups {
		if g := &groups[i]; g.rows != nil {
			l.growGroups(node, parent, depth, groups[i:])
		}
	}
}

// groups sorts values by their next token: by delimiters, and words without digits by themselves, others by shape.
func (l *learner) groups(depth int, rows []int32) []group {
	index := map[uint64]int{}
	var out []group
	for _, r := range rows {
		i := l.first[r] + depth
		if i >= l.first[r+1] {
			continue
		}
		s := &l.tokens[i]
		k, ok := index[s.hash]
		if !ok {
			k = len(out)
			index[s.hash] = k
			out = append(out, group{first: s, value: l.values[r]})
		}
		out[k].rows = append(out[k].rows, r)
	}
	return out
}

// growGroups makes the edges of those groups that have the delimiters of the first one, and takes their rows.
func (l *learner) growGroups(node, parent int32, depth int, groups []group) {
	first := &groups[0]
	text := first.delimiters()
	if first.first.class == end {
		if len(first.rows) >= l.least {
			l.t.add(node, parent, ending, 0, text)
		}
		first.rows = nil
		return
	}
	var some []*group
	var others []int32
	total := 0
	for i := range groups {
		g := &groups[i]
		if g.first.class == end || g.rows == nil || g.first.delim != first.first.delim {
			continue
		}
		total += len(g.rows)
		if len(g.rows) >= l.least {
			some = append(some, g)
		} else {
			others = append(others, g.rows...)
			g.rows = nil
		}
	}
	if 2*len(others) > total || len(some) > 1 && l.independent(some, depth) {
		for _, g := range some {
			others = append(others, g.rows...)
			g.rows = nil
		}
		slices.Sort(others)
		some = nil
	}
	for _, g := range some {
		n := int32(0)
		if g.first.class == letters {
			n = l.t.add(node, parent, constant, 0, g.value[g.first.start:g.first.end])
		} else {
			n = l.t.add(node, parent, ofShape, g.first.hash-g.first.delim, text)
		}
		rows := g.rows
		g.rows = nil
		l.grow(l.t.edges[n].to, n, depth+1, rows)
	}
	if len(others) >= l.least {
		n := l.t.add(node, parent, ofWord, 0, text)
		l.grow(l.t.edges[n].to, n, depth+1, others)
	}
}

// independent tells whether what follows does not depend on the words: then these are a field, and else parts of
// different patterns.
func (l *learner) independent(words []*group, depth int) bool {
	type seen struct{ word, words, rows int }
	follow := map[uint64]seen{}
	for w, g := range words {
		for _, r := range g.rows {
			h := l.tokens[l.first[r]+depth].after
			s, ok := follow[h]
			if !ok || s.word != w {
				s.words++
				s.word = w
			}
			s.rows++
			follow[h] = s
		}
	}
	repeated, pairs := 0, 0
	for _, s := range follow {
		if s.rows > 1 {
			repeated++
			pairs += s.words
		}
	}
	if repeated == 0 {
		return len(words) > 8
	}
	return 2*pairs > 3*repeated
}
