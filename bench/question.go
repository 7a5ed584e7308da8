package main

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// question selects rows of a data set.
type question struct {
	name  string
	text  string // as the filter of a scan
	where conds  // the same for contenders without filters
	count bool   // is the number of rows measured, too
}

// cond is what a row must satisfy in one column, all of it that is set.
type cond struct {
	column   string
	ranged   bool
	from, to int64  // the first and last integer, day or unscaled decimal
	equals   string // the only string
	contains string // a part of the string
}

type conds []cond

const needle = "blk_7123456789012345678"

var (
	orderKey = question{name: "orderkey", text: "l_orderkey = 3000034", count: true,
		where: conds{{column: "l_orderkey", ranged: true, from: 3000034, to: 3000034}}}
	shipMonth = question{name: "month", text: "l_shipdate >= '1994-01-01' and l_shipdate < '1994-02-01' and l_quantity < 5", count: true,
		where: conds{{column: "l_shipdate", ranged: true, from: 8766, to: 8796}, {column: "l_quantity", ranged: true, from: 0, to: 499}}}
	shipMonthCents = question{name: "month", text: "l_shipdate >= '1994-01-01' and l_shipdate < '1994-02-01' and l_quantity < 500", count: true,
		where: shipMonth.where}
	needleLine = question{name: "needle", text: "line like '%" + needle + "%'",
		where: conds{{column: "line", contains: needle}}}
)

// questions are those about each data set.
var questions = map[string][]question{
	"flights": {
		{name: "SFO", text: "origin = 'SFO'", where: conds{{column: "origin", equals: "SFO"}}, count: true},
		{name: "delay", text: "delay > 300", where: conds{{column: "delay", ranged: true, from: 301, to: 1 << 40}}},
	},
	"lineitem":  {orderKey, shipMonth},
	"lineitemi": {orderKey, shipMonthCents},
	"logs":      {needleLine},
	"logcut":    {needleLine},
}

// columns are the columns that the conditions look at.
func (cs conds) columns() []string {
	var names []string
	for _, c := range cs {
		names = append(names, c.column)
	}
	return names
}

// rows tells which rows of a batch satisfy all conditions.
func (cs conds) rows(b arrow.RecordBatch) []bool {
	keep := make([]bool, b.NumRows())
	for i := range keep {
		keep[i] = true
	}
	for _, c := range cs {
		c.keep(b.Column(b.Schema().FieldIndices(c.column)[0]), keep)
	}
	return keep
}

// keep clears what does not satisfy the condition.
func (c cond) keep(col arrow.Array, keep []bool) {
	switch a := col.(type) {
	case *array.Int64:
		for i, v := range a.Int64Values() {
			keep[i] = keep[i] && v >= c.from && v <= c.to
		}
	case *array.Date32:
		for i, v := range a.Date32Values() {
			keep[i] = keep[i] && int64(v) >= c.from && int64(v) <= c.to
		}
	case *array.Decimal128:
		for i := range keep {
			v := int64(a.Value(i).LowBits()) // all values in question are small
			keep[i] = keep[i] && v >= c.from && v <= c.to
		}
	case array.StringLike:
		for i := range keep {
			v := a.Value(i)
			keep[i] = keep[i] && (c.contains != "" && strings.Contains(v, c.contains) || c.equals != "" && v == c.equals)
		}
	}
	if col.NullN() > 0 {
		for i := range keep {
			keep[i] = keep[i] && col.IsValid(i)
		}
	}
}
