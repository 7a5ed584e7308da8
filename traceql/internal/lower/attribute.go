package lower

import (
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/spans"
)

// attribute compares an attribute in a scope.
func (l lowerer) attribute(scope lang.Scope, name string, c comparison) Cond {
	if scope == lang.EventScope || scope == lang.LinkScope {
		return l.inLists(scope, name, c)
	}
	var cols, others []spans.Column
	for _, col := range l.s.Columns(spans.AttributeName(scope, name)) {
		if relevant(c.value, col.Class) {
			cols = append(cols, col)
		} else {
			others = append(others, col)
		}
	}
	var parts []Cond
	for _, col := range cols {
		parts = append(parts, c.column(col))
	}
	var cond Cond
	switch {
	case c.want:
		cond = Or(parts...)
	case len(cols) > 1 && c.negative():
		// A row with values in several columns has an array, which does not differ from its elements.
		cond = maybe
	default:
		cond = and(parts...)
	}
	if len(cols) > 1 && c.negative() || len(cols) > 0 && len(others) > 0 && c.negative() {
		cond = cond.inexact()
	}
	if rest, ok := l.s.Rest(scope); ok {
		return Or(cond, l.contains(rest, name)).inexact()
	}
	return cond
}

// contains is the condition that a protobuf message has a text somewhere.
func (l lowerer) contains(col spans.Column, text string) Cond {
	if text == "" {
		return notNull(col).inexact()
	}
	return of(filter.Contains(filter.Col(col.Path), text)).inexact()
}

// attributeMissing is the condition that an attribute is missing in a scope or, without want, is there.
func (l lowerer) attributeMissing(scope lang.Scope, name string, want bool) Cond {
	if scope == lang.EventScope || scope == lang.LinkScope {
		return l.list(scope, want, func(col spans.Column) Cond { return l.contains(col, name) })
	}
	var parts []Cond
	for _, col := range l.s.Columns(spans.AttributeName(scope, name)) {
		if want {
			parts = append(parts, isNull(col))
		} else {
			parts = append(parts, notNull(col))
		}
	}
	rest, ok := l.s.Rest(scope)
	switch {
	case want && ok:
		return and(parts...).inexact()
	case want:
		return and(parts...)
	case ok:
		return Or(append(parts, l.contains(rest, name))...).inexact()
	}
	return Or(parts...)
}

// inLists compares an attribute of events or links.
func (l lowerer) inLists(scope lang.Scope, name string, c comparison) Cond {
	return l.list(scope, !c.want, func(col spans.Column) Cond {
		parts := []Cond{l.contains(col, name)}
		if text := c.value.Text(); c.op == lang.Eq && text != "" {
			parts = append(parts, l.contains(col, text))
		}
		return and(parts...)
	})
}

// list is the condition that something of events or links is missing or, without want, the one that present gives for their column.
func (l lowerer) list(scope lang.Scope, want bool, present func(spans.Column) Cond) Cond {
	col, ok := l.s.Lists(scope)
	switch {
	case !ok:
		return constant(want)
	case want:
		return maybe
	}
	return present(col)
}

func (l lowerer) listMissing(scope lang.Scope, want bool) Cond {
	return l.list(scope, want, func(col spans.Column) Cond { return notNull(col).inexact() })
}
