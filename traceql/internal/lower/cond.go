// Package lower turns conditions of queries into filters on tables. A filter may be true for more rows than its condition, but never
// for fewer.
package lower

import (
	"github.com/amudai/amudai-go/filter"
)

// Cond is a condition on the rows of a table.
type Cond struct {
	all, none bool        // true for every row, or for no row; otherwise expr decides
	expr      filter.Expr // not empty
	exact     bool        // true for exactly the rows of the condition of the query
}

var (
	always = Cond{all: true, exact: true}
	never  = Cond{none: true, exact: true}
	maybe  = Cond{all: true} // known only after a look at the span
)

func constant(b bool) Cond {
	if b {
		return always
	}
	return never
}

func of(e filter.Expr) Cond { return Cond{expr: e, exact: true} }

// All reports whether the filter excludes no row.
func (c Cond) All() bool { return c.all }

// None reports whether the filter excludes all rows.
func (c Cond) None() bool { return c.none }

// Exact reports whether the filter is true for exactly the rows of the condition.
func (c Cond) Exact() bool { return c.exact }

// Filter is the filter; the empty one if it excludes no row.
func (c Cond) Filter() filter.Expr {
	if c.none {
		return filter.Or()
	}
	return c.expr
}

// inexact is a condition that the rows of another one must meet.
func (c Cond) inexact() Cond {
	c.exact = false
	return c
}

func and(list ...Cond) Cond {
	out := Cond{all: true, exact: true}
	var exprs []filter.Expr
	for _, c := range list {
		if c.none {
			return never
		}
		out.exact = out.exact && c.exact
		if !c.all {
			out.all = false
			exprs = append(exprs, c.expr)
		}
	}
	out.expr = filter.And(exprs...)
	return out
}

// Or is the condition that is true for the rows of any of several ones.
func Or(list ...Cond) Cond {
	out := Cond{none: true, exact: true}
	var exprs []filter.Expr
	for _, c := range list {
		if c.none {
			continue
		}
		if c.all && c.exact {
			return always
		}
		out.none = false
		out.all = out.all || c.all
		out.exact = out.exact && c.exact
		exprs = append(exprs, c.expr)
	}
	if out.all || out.none {
		return out
	}
	out.expr = filter.Or(exprs...)
	return out
}
