// Package rowfilter finds the rows of a table that a filter is true for. It goes by stripes:
//
//	Filter   a filter bound to the columns of a table
//	Stripe   the filter in one stripe: the sources (package source) divide its rows into those for which each condition is
//	         true, those for which it is false, and those whose values must be read
//	Rows     the search among some rows of the stripe: columns of the filter are decoded one after the other, each for
//	         the rows that are left, or searched in their encoded form
//
// Columns that were decoded for the filter need not be decoded again for the result ([Rows.Decoded]).
package rowfilter

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/engine/valueset"
)

// Filter is a filter bound to a table. It may be used by many goroutines.
type Filter struct {
	of      table.Table
	expr    *predicate.Bound
	columns []filterColumn
	hits    []hitRate                        // selectivity by node
	whole   parallel.Once[predicate.Verdict] // of the statistics of the whole table, asked before the first stripe

	byIndexes parallel.Once[*Stripe] // as if the table were one stripe, by its indexes; nil if there are none
	node      *ast.Node              // by whose text the table remembers what was found
	traced    bool
}

// Trace has the steps of stripes recorded, and nothing remembered. It is called before the first stripe, if there is a filter.
func (f *Filter) Trace() {
	if f != nil {
		f.traced = true
	}
}

// hitRate counts the rows that a leaf was evaluated for, and those for which it was true.
type hitRate struct{ asked, found atomic.Int64 }

// low reports whether a leaf is true for so few rows that decoding its whole column does not pay. It is true before
// the first evaluation.
func (r *hitRate) low() bool { return 8*r.found.Load() <= r.asked.Load() }

// filterColumn is a column of a filter: a top-level column, or a field within structs.
type filterColumn struct {
	*predicate.Column
	top      table.Column    // the top-level column, with only the nodes on the path
	path     []*table.Column // from top to the column itself
	index    []int           // field indices within the structs of top
	physical bool            // the filter needs the values of physical arrays
}

func (c *filterColumn) leaf() *table.Column { return c.path[len(c.path)-1] }

// Paths are the paths of the columns of the filter.
func (f *Filter) Paths() []string { return f.expr.Columns() }

// path is the path of a column, with names within JSON texts.
func (f *Filter) path(column int) string { return f.columns[column].Path }

// LooksAt reports whether the filter uses a column of the table, or a part of it.
func (f *Filter) LooksAt(id uint32) bool {
	return slices.ContainsFunc(f.columns, func(c filterColumn) bool { return c.top.ID == id })
}

// Bind binds a filter to a table. It returns nil for no condition.
func Bind(ctx context.Context, t table.Table, n *ast.Node) (*Filter, error) {
	if n == nil {
		return nil, nil
	}
	p, err := t.ProjectTops(ctx, n.Columns())
	if err != nil {
		return nil, err
	}
	bound, err := compute.Condition(n, p.Schema)
	if err != nil {
		if p, err = t.Project(ctx, nil); err == nil { // the error may name another column
			bound, err = compute.Condition(n, p.Schema)
		}
		if err != nil {
			return nil, err
		}
	}
	f := &Filter{of: t, expr: bound, node: n, hits: make([]hitRate, bound.NumNodes())}
	f.columns = make([]filterColumn, bound.NumColumns())
	for i := range f.columns {
		c := &f.columns[i]
		c.Column = bound.Column(i)
		c.fill(t, p.Columns[c.Index[0]])
	}
	order(bound.Root())
	return f, nil
}

// fill fills in all but the column as the filter knows it, of which top is the top-level column.
func (c *filterColumn) fill(t table.Table, top table.Column) {
	index := c.Index[1:]
	c.top, c.index = onlyPath(top, index), make([]int, len(index))
	node := &c.top
	c.path = append(c.path, node)
	for range c.index {
		node = &node.Children[0]
		c.path = append(c.path, node)
	}
	_, same := t.PhysicalType(node)
	c.physical = (same || len(node.Children) == 0) && c.Inside == nil
}

// order brings the cheapest children of conjunctions and disjunctions to the front.
func order(n *predicate.Node) {
	for _, k := range n.Nodes {
		order(k)
	}
	slices.SortStableFunc(n.Nodes, func(a, b *predicate.Node) int { return cmp.Compare(rank(a), rank(b)) })
}

// rank is the cost of evaluating a node, relative to others.
func rank(n *predicate.Node) (most int) {
	for _, k := range n.Nodes {
		most = max(most, rank(k))
	}
	if len(n.Nodes) > 0 {
		return most
	}
	switch n.Test.(type) {
	case predicate.Nulls, valueset.Bools, valueset.Ints, valueset.Uints, valueset.Floats:
		return 0
	case valueset.Decimals:
		return 1
	case valueset.Bytes:
		return 2
	case *predicate.Text:
		return 4
	}
	return 3
}

// onlyPath returns a column with only the fields on a path within its structs.
func onlyPath(c table.Column, index []int) table.Column {
	if len(index) == 0 {
		return c
	}
	child := onlyPath(c.Children[index[0]], index[1:])
	c.Children, c.Wraps = []table.Column{child}, nil
	c.Plain = arrow.StructOf(child.Arrow)
	c.Arrow.Type = c.Plain
	return c
}

// tableVerdict asks the statistics of the whole table. If these exclude all rows, no stripe is opened. With a
// single stripe, the statistics of the stripe are used instead, because they say more.
func (f *Filter) tableVerdict(ctx context.Context) (predicate.Verdict, error) {
	if f.of.NumStripes() < 2 {
		return predicate.Some, nil
	}
	return f.whole.Get(ctx, func() (_ predicate.Verdict, err error) {
		facts := make([]predicate.Facts, len(f.columns))
		for i := range f.columns {
			if f.columns[i].Derived() {
				continue
			}
			if facts[i], err = f.of.Facts(ctx, f.columns[i].path); err != nil {
				return predicate.Some, err
			}
		}
		return f.expr.Prune(facts), nil
	})
}
