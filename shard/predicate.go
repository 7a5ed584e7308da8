package shard

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/stripe"
)

// predicate is a filter and the columns of a shard that it looks at.
type predicate struct {
	bound   *filter.Bound
	columns []predicateColumn
	found   map[*filter.Node]*foundRows // by leaf
	whole   shardAnswer
}

// foundRows is how many rows a leaf was asked about in a scan so far, and how many it
// has found.
type foundRows struct{ asked, found atomic.Int64 }

func (f *foundRows) add(asked, found rowset.Set) {
	f.asked.Add(asked.Len())
	f.found.Add(found.Len())
}

// few tells that a leaf finds so few rows that others of its column are best not
// decoded; as long as nothing is known it probably does.
func (f *foundRows) few() bool { return 8*f.found.Load() <= f.asked.Load() }

// predicateColumn is a column of a filter: a field of the shard, or one inside of
// structs.
type predicateColumn struct {
	top   arrowmap.Column    // the field of the shard, with the nodes on the path only
	nodes []*arrowmap.Column // from top to the column itself
	index []int              // of the fields inside of the structs of top
	bare  bool               // bare arrays are as good to evaluate
}

func (c *predicateColumn) leaf() *arrowmap.Column { return c.nodes[len(c.nodes)-1] }

// looksAt tells whether the filter looks at a field of the shard, or inside of it.
func (p *predicate) looksAt(id uint32) bool {
	return slices.ContainsFunc(p.columns, func(c predicateColumn) bool { return c.top.ID == id })
}

// bind binds a filter, nil for none.
func (s *Shard) bind(ctx context.Context, e filter.Expr) (*predicate, error) {
	if e.IsZero() {
		return nil, nil
	}
	fields, err := s.fieldsOf(ctx, e)
	if err != nil {
		return nil, err
	}
	bound, err := filter.Bind(e, fields.schema)
	if err != nil {
		if fields, err = s.project(ctx, nil); err == nil { // the error may name another column
			bound, err = filter.Bind(e, fields.schema)
		}
		if err != nil {
			return nil, err
		}
	}
	p := &predicate{bound: bound, found: map[*filter.Node]*foundRows{}}
	for i := range bound.Columns() {
		index := bound.Column(i).Index
		top := fields.columns[index[0]]
		c := predicateColumn{top: onlyPath(top, index[1:]), index: make([]int, len(index)-1)}
		node := &c.top
		c.nodes = append(c.nodes, node)
		for range c.index {
			node = &node.Children[0]
			c.nodes = append(c.nodes, node)
		}
		_, dressed := stripe.Physical(*node)
		c.bare = !dressed || len(node.Children) == 0
		p.columns = append(p.columns, c)
	}
	p.watch(bound.Root())
	return p, nil
}

// watch counts what the leaves of a part of the filter find.
func (p *predicate) watch(n *filter.Node) {
	if len(n.Nodes) == 0 {
		p.found[n] = &foundRows{}
	}
	for _, k := range n.Nodes {
		p.watch(k)
	}
}

// fieldsOf are the fields of the shard that a filter names; all of them if it may
// not be clear which those are.
func (s *Shard) fieldsOf(ctx context.Context, e filter.Expr) (*projection, error) {
	paths := []string{}
	for _, path := range e.Columns() {
		name := schema.SplitPath(path)[0]
		if n, err := s.schema.Count(name); n != 1 || err != nil {
			return s.project(ctx, nil)
		}
		if top := schema.Escape(name); !slices.Contains(paths, top) {
			paths = append(paths, top)
		}
	}
	return s.project(ctx, paths)
}

// onlyPath is a column with the fields only that lead to one inside of structs.
func onlyPath(c arrowmap.Column, index []int) arrowmap.Column {
	if len(index) == 0 {
		return c
	}
	child := onlyPath(c.Children[index[0]], index[1:])
	c.Children, c.Wraps = []arrowmap.Column{child}, nil
	c.Plain = arrow.StructOf(child.Arrow)
	c.Arrow.Type = c.Plain
	return c
}
