package shard

import (
	"context"

	"github.com/amudai/amudai-go/arrowmap"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/stripe"
)

// predicate is a filter and the columns of a shard that it looks at.
type predicate struct {
	bound   *filter.Bound
	columns []predicateColumn
}

// predicateColumn is a column of a filter: a field of the shard, or one inside of
// structs.
type predicateColumn struct {
	top   arrowmap.Column    // the field of the shard, with the nodes on the path only
	nodes []*arrowmap.Column // from top to the column itself
	index []int              // of the fields inside of the structs of top
	bare  bool               // bare arrays are as good to evaluate
}

func (c *predicateColumn) leaf() *arrowmap.Column { return c.nodes[len(c.nodes)-1] }

// bind binds a filter, nil for none.
func (s *Shard) bind(ctx context.Context, e filter.Expr) (*predicate, error) {
	if e.IsZero() {
		return nil, nil
	}
	all, err := s.ArrowSchema()
	if err != nil {
		return nil, err
	}
	bound, err := filter.Bind(e, all)
	if err != nil {
		return nil, err
	}
	p := &predicate{bound: bound}
	for i, path := range bound.Columns() {
		pr, err := s.project(ctx, []string{path})
		if err != nil {
			return nil, err
		}
		c := predicateColumn{top: pr.columns[0], index: make([]int, len(bound.Column(i).Index)-1)}
		node := &c.top
		c.nodes = append(c.nodes, node)
		for range c.index {
			node = &node.Children[0]
			c.nodes = append(c.nodes, node)
		}
		_, dressed := stripe.Bare(*node)
		c.bare = !dressed || len(node.Children) == 0
		p.columns = append(p.columns, c)
	}
	return p, nil
}
