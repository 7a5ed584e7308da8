package scan

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
)

// boundFilter is the filter of a scan, and the columns of the table that it looks at.
type boundFilter struct {
	expr    *predicate.Bound
	columns []filterColumn
	hits    map[*predicate.Node]*hitRate // by leaf
	table   tableVerdict
}

// hitRate is how many rows a leaf was asked about in a scan so far, and how many it has
// found.
type hitRate struct{ asked, found atomic.Int64 }

func (r *hitRate) add(asked, found rowset.Set) {
	r.asked.Add(asked.Len())
	r.found.Add(found.Len())
}

// low tells that a leaf finds so few rows that others of its column are best not decoded; as
// long as nothing is known it probably does.
func (r *hitRate) low() bool { return 8*r.found.Load() <= r.asked.Load() }

// filterColumn is a column of a filter: one of the table, or one inside of structs.
type filterColumn struct {
	top      table.Column    // the column of the table, with the nodes on the path only
	path     []*table.Column // from top to the column itself
	index    []int           // of the fields inside of the structs of top
	physical bool            // physical arrays are as good to evaluate
}

func (c *filterColumn) leaf() *table.Column { return c.path[len(c.path)-1] }

// looksAt tells whether the filter looks at a column of the table, or inside of it.
func (f *boundFilter) looksAt(id uint32) bool {
	return slices.ContainsFunc(f.columns, func(c filterColumn) bool { return c.top.ID == id })
}

// bind binds a filter to a table; nil for none.
func bind(ctx context.Context, t table.Table, e filter.Expr) (*boundFilter, error) {
	if e.IsZero() {
		return nil, nil
	}
	p, err := t.ProjectTops(ctx, e.Columns())
	if err != nil {
		return nil, err
	}
	bound, err := predicate.Bind(e.Node(), p.Schema)
	if err != nil {
		if p, err = t.Project(ctx, nil); err == nil { // the error may name another column
			bound, err = predicate.Bind(e.Node(), p.Schema)
		}
		if err != nil {
			return nil, err
		}
	}
	f := &boundFilter{expr: bound, hits: map[*predicate.Node]*hitRate{}}
	for i := range bound.Columns() {
		index := bound.Column(i).Index
		f.columns = append(f.columns, newFilterColumn(t, p.Columns[index[0]], index[1:]))
	}
	f.addLeaves(bound.Root())
	return f, nil
}

func newFilterColumn(t table.Table, top table.Column, index []int) filterColumn {
	c := filterColumn{top: onlyPath(top, index), index: make([]int, len(index))}
	node := &c.top
	c.path = append(c.path, node)
	for range c.index {
		node = &node.Children[0]
		c.path = append(c.path, node)
	}
	_, same := t.PhysicalType(node)
	c.physical = same || len(node.Children) == 0
	return c
}

func (f *boundFilter) addLeaves(n *predicate.Node) {
	if len(n.Nodes) == 0 {
		f.hits[n] = &hitRate{}
	}
	for _, k := range n.Nodes {
		f.addLeaves(k)
	}
}

// onlyPath is a column with the fields only that lead to one inside of structs.
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

// tableVerdict is what the statistics of a whole table say about a filter. They are asked
// once a scan, before those of the first stripe.
type tableVerdict struct {
	mu      sync.Mutex
	known   bool
	verdict predicate.Verdict
}

// tableVerdict asks the statistics of the whole table. What they exclude needs no look at
// any stripe; a single stripe tells more than they do.
func (f *boundFilter) tableVerdict(ctx context.Context, t table.Table) (predicate.Verdict, error) {
	if t.NumStripes() < 2 {
		return predicate.Some, nil
	}
	v := &f.table
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known {
		return v.verdict, nil
	}
	facts := make([]predicate.Facts, len(f.columns))
	for i := range f.columns {
		var err error
		if facts[i], err = t.Facts(ctx, f.columns[i].path); err != nil {
			return predicate.Some, err
		}
	}
	v.known, v.verdict = true, f.expr.Prune(facts)
	return v.verdict, nil
}
