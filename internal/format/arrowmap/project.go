package arrowmap

import (
	"cmp"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// Project gives the columns for a list of paths ([schema.JoinPath]), in the order of the paths;
// nil stands for all fields. A column that is named twice comes once, at its first place. A
// path to a field inside a struct gives the struct with that field only; several such paths
// give one struct with all of these fields, in the order of the schema, at the place of the
// first path. Alternatives of a union come as a struct, too, in which they are null where another
// one is chosen. A map keeps its keys. An extension type is dropped if its storage loses fields.
// Only the nodes on the paths and below them are read.
//
// The error wraps [schema.ErrNoField] for a path without a node.
func Project(s *schema.Schema, paths []string, o ReadOptions) ([]Column, error) {
	if paths == nil {
		_, columns, err := ToArrow(s, o)
		return columns, err
	}
	var top picks
	for _, path := range paths {
		nodes, err := s.PathNodes(path)
		if err != nil {
			return nil, err
		}
		at := &top
		var p *pick
		for _, n := range nodes {
			p = at.add(n)
			at = &p.kids
		}
		p.whole = true
	}
	r := newReader(s, o)
	columns := make([]Column, len(top.list))
	for i, p := range top.list {
		var err error
		if columns[i], err = r.column(p.node, named, p); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// pick is a wanted node, or a node with some wanted descendants.
type pick struct {
	node  schema.Node
	whole bool
	kids  picks
}

// picks are wanted siblings, in the order they were asked for.
type picks struct {
	list []*pick
	byID map[uint32]*pick
}

// add finds a node, or adds it.
func (s *picks) add(n schema.Node) *pick {
	if p := s.byID[n.ID()]; p != nil {
		return p
	}
	if s.byID == nil {
		s.byID = map[uint32]*pick{}
	}
	p := &pick{node: n}
	s.list = append(s.list, p)
	s.byID[n.ID()] = p
	return p
}

// partial reports whether only some of a node's children are wanted.
func (p *pick) partial() bool { return p != nil && !p.whole }

// child is the pick of a child, nil if it is wanted whole.
func (p *pick) child(c schema.Node) *pick {
	if p.partial() {
		return p.kids.byID[c.ID()]
	}
	return nil
}

// picked maps the wanted children of a struct or list.
func (r *reader) picked(node schema.Node, p *pick) ([]Column, error) {
	kids := slices.Clone(p.kids.list)
	slices.SortFunc(kids, func(a, b *pick) int { return cmp.Compare(a.node.ID(), b.node.ID()) })
	columns := make([]Column, len(kids))
	for i, k := range kids {
		var err error
		if columns[i], err = r.column(k.node, placeOf(node, 0), k); err != nil {
			return nil, err
		}
		if node.Type() == schema.Union {
			if columns[i].Ordinal, err = ordinal(node, k.node.ID()); err != nil {
				return nil, err
			}
		}
	}
	return columns, nil
}

// ordinal is the number of the child with a schema id.
func ordinal(node schema.Node, id uint32) (int, error) {
	for i := range node.NumChildren() {
		if child, err := node.Child(i); err != nil || child.ID() == id {
			return i, err
		}
	}
	return 0, schema.ErrNoField
}

// ofPart is the annotation without the properties that do not hold for a part of the node: an extension type, an interval, a union.
func (k annotation) ofPart() annotation {
	k.wraps = slices.DeleteFunc(slices.Clone(k.wraps), func(w term) bool { return w.name == "extension" })
	shape, _ := kinds.OfName(k.base.name)
	if shape == kinds.Choice || k.base.name == kinds.Name(arrow.INTERVAL_DAY_TIME) || k.base.name == kinds.Name(arrow.INTERVAL_MONTH_DAY_NANO) {
		k.base = term{name: kinds.Name(arrow.STRUCT)}
	}
	return k
}
