package search

import (
	"github.com/amudai/amudai-go/filter"
)

// condition is the query about a row: each of its terms may be in any of the columns. A null has no words.
func (q *Query) condition(columns []string) filter.Expr { return q.root.condition(columns, false) }

// condition of a node is never unknown where it is negated, so that a null in one column does not hide a row.
func (n *node) condition(columns []string, negate bool) filter.Expr {
	switch n.op {
	case opNot:
		return n.args[0].condition(columns, !negate)
	case opAnd, opOr:
		parts := make([]filter.Expr, len(n.args))
		for i, arg := range n.args {
			parts[i] = arg.condition(columns, negate)
		}
		if (n.op == opAnd) != negate {
			return filter.And(parts...)
		}
		return filter.Or(parts...)
	}
	parts := make([]filter.Expr, len(columns))
	for i, path := range columns {
		parts[i] = n.leaf(filter.Col(path))
		if negate {
			parts[i] = filter.Or(filter.IsNull(filter.Col(path)), filter.Not(parts[i]))
		}
	}
	if negate {
		return filter.And(parts...)
	}
	return filter.Or(parts...)
}

// leaf is the condition of a term on one column.
func (n *node) leaf(column filter.Expr) filter.Expr {
	switch {
	case n.op == opTerm:
		return filter.Has(column, n.text)
	case n.op == opPrefix:
		return filter.HasPrefix(column, n.text)
	case n.fold:
		return filter.MatchesFold(column, n.text)
	}
	return filter.Matches(column, n.text)
}
