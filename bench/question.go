package main

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/bench/suite"
)

// cond is a condition on one column. All fields that are set must hold.
type cond struct {
	column   string
	ranged   bool
	from, to int64  // the first and last integer, day or unscaled decimal
	equals   string // the only string
	contains string // a substring
	prefix   string // the beginning of a string
}

type conds []cond

const needle = "blk_7123456789012345678"

// The filters of the queries, as text.
const (
	orderKey       = "l_orderkey = 3000034"
	shipMonth      = "l_shipdate >= '1994-01-01' and l_shipdate < '1994-02-01' and l_quantity < 5"
	shipMonthCents = "l_shipdate >= '1994-01-01' and l_shipdate < '1994-02-01' and l_quantity < 500"
	fromSFO        = "origin = 'SFO'"
	delayed        = "delay > 300"
	needleLine     = "line like '%" + needle + "%'"
	someOrders     = "id between 500000 and 504999"
)

// questions are the queries of each data set.
var questions = map[string][]suite.Question{
	"flights":   {{Name: "SFO", Where: fromSFO, Count: true}, {Name: "delay", Where: delayed, Count: true}},
	"lineitem":  {{Name: "orderkey", Where: orderKey, Count: true}, {Name: "month", Where: shipMonth, Count: true}},
	"lineitemi": {{Name: "orderkey", Where: orderKey, Count: true}, {Name: "month", Where: shipMonthCents, Count: true}},
	"logs":      {{Name: "needle", Where: needleLine, Count: true}},
	"logcut":    {{Name: "needle", Where: needleLine, Count: true}},
	"nested":    {{Name: "ids", Where: someOrders, Count: true}},
}

var monthByHand = conds{{column: "l_shipdate", ranged: true, from: 8766, to: 8796}, {column: "l_quantity", ranged: true, from: 0, to: 499}}

// byHand are the same conditions for contenders without filters.
var byHand = map[string]conds{
	orderKey:       {{column: "l_orderkey", ranged: true, from: 3000034, to: 3000034}},
	shipMonth:      monthByHand,
	shipMonthCents: monthByHand,
	fromSFO:        {{column: "origin", equals: "SFO"}},
	delayed:        {{column: "delay", ranged: true, from: 301, to: 1 << 40}},
	needleLine:     {{column: "line", contains: needle}},
	someOrders:     {{column: "id", ranged: true, from: 500_000, to: 504_999}},
}

// columns are the columns of the conditions.
func (cs conds) columns() []string {
	var names []string
	for _, c := range cs {
		names = append(names, c.column)
	}
	return names
}

// rows is the mask of the rows of a batch that satisfy all conditions.
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

// keep clears the rows that do not satisfy the condition.
func (c cond) keep(col arrow.Array, keep []bool) {
	switch a := col.(type) {
	case *array.Int64:
		for i, v := range a.Int64Values() {
			keep[i] = keep[i] && v >= c.from && v <= c.to
		}
	case *array.Uint64:
		for i, v := range a.Uint64Values() {
			keep[i] = keep[i] && v >= uint64(c.from) && v <= uint64(c.to)
		}
	case *array.FixedSizeBinary:
		for i := range keep {
			keep[i] = keep[i] && string(a.Value(i)) == c.equals
		}
	case *array.Date32:
		for i, v := range a.Date32Values() {
			keep[i] = keep[i] && int64(v) >= c.from && int64(v) <= c.to
		}
	case *array.Decimal128:
		for i := range keep {
			v := int64(a.Value(i).LowBits()) // all values of the conditions are small
			keep[i] = keep[i] && v >= c.from && v <= c.to
		}
	case array.StringLike:
		for i := range keep {
			v := a.Value(i)
			keep[i] = keep[i] && (c.contains != "" && strings.Contains(v, c.contains) || c.equals != "" && v == c.equals ||
				c.prefix != "" && strings.HasPrefix(v, c.prefix))
		}
	}
	if col.NullN() > 0 {
		for i := range keep {
			keep[i] = keep[i] && col.IsValid(i)
		}
	}
}
