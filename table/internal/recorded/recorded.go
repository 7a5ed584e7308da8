// Package recorded has what files record: results of aggregates, such as numbers of rows and bounds of columns, and the stored sizes and encodings of fields.
package recorded

import (
	"bytes"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/aggregate"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/table/provider"
)

// May reports whether a file may record the result of a call: the number of rows or values, or a bound.
func May(c ast.Call) bool {
	if c.Where != nil || c.Distinct || len(c.Args) > 1 || len(c.Args) == 1 && c.Args[0].Op != ast.OpColumn {
		return false
	}
	return c.Name == "count" || len(c.Args) == 1 && (c.Name == "min" || c.Name == "max")
}

// Results are results that files record, one for each call.
type Results struct {
	calls  []ast.Call
	fields []arrow.Field
	counts []int64       // of counts
	bounds []arrow.Array // of minima and maxima: one value, or nil for null
}

// New finds the results in the statistics of a file. It returns nil if some are missing.
func New(s *provider.Statistics, calls []ast.Call) *Results {
	r := &Results{calls: calls, counts: make([]int64, len(calls)), bounds: make([]arrow.Array, len(calls))}
	var fields []arrow.Field
	columns := map[string]*provider.ColumnStatistics{}
	for i := range s.Columns {
		columns[s.Columns[i].Path] = &s.Columns[i]
		fields = append(fields, arrow.Field{Name: s.Columns[i].Path, Type: s.Columns[i].Type, Nullable: true})
	}
	q, err := aggregate.Bind(nil, calls, arrow.NewSchema(fields, nil))
	if err != nil {
		return nil // a nested column, for example
	}
	r.fields = q.Schema().Fields()
	for i, c := range calls {
		if len(c.Args) == 0 {
			r.counts[i] = s.Rows
			continue
		}
		col := columns[c.Args[0].Path]
		if col == nil || col.Nulls < 0 {
			return nil
		}
		if s.Hidden > 0 && (c.Name != "count" || col.Nulls > 0) {
			return nil // the values of hidden rows do not count
		}
		if r.counts[i] = s.Rows - col.Nulls; c.Name == "count" || r.counts[i] == 0 {
			continue
		}
		if r.bounds[i] = col.Min; c.Name == "max" {
			r.bounds[i] = col.Max
		}
		if b := r.bounds[i]; b == nil || !col.Exact || col.NaNs != 0 || order.Check(b.DataType()) != nil || !arrow.TypeEqual(b.DataType(), r.fields[i].Type) {
			return nil
		}
	}
	return r
}

// Add adds the results of another file. It reports false if its columns have other types.
func (r *Results) Add(o *Results) bool {
	for i, c := range r.calls {
		if !arrow.TypeEqual(r.fields[i].Type, o.fields[i].Type) {
			return false
		}
		r.counts[i] += o.counts[i]
		switch {
		case c.Name == "count" || o.bounds[i] == nil:
		case r.bounds[i] == nil, less(o.bounds[i], r.bounds[i]) == (c.Name == "min"):
			r.bounds[i] = o.bounds[i]
		}
	}
	return true
}

// Batch is the row of the results.
func (r *Results) Batch() arrow.RecordBatch {
	columns := make([]arrow.Array, len(r.fields))
	for i := range r.fields {
		columns[i] = r.column(i)
	}
	return array.NewRecordBatch(arrow.NewSchema(r.fields, nil), columns, 1)
}

// less compares arrays of one value.
func less(a, b arrow.Array) bool {
	e, err := order.NewEncoder([]order.Key{{Type: a.DataType()}})
	return err == nil && bytes.Compare(e.Rows(a)(nil, 0), e.Rows(b)(nil, 0)) < 0
}

func (r *Results) column(i int) arrow.Array {
	switch {
	case r.calls[i].Name == "count":
		b := array.NewInt64Builder(memory.DefaultAllocator)
		b.Append(r.counts[i])
		return b.NewArray()
	case r.bounds[i] == nil:
		return arrowutil.Nulls(memory.DefaultAllocator, r.fields[i].Type, 1)
	}
	return r.bounds[i]
}
