package command

import (
	"bytes"
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/aggregate"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/table"
)

// needValues are flags with which recorded statistics are no answer: they choose rows, or change values.
func needValues(cmd *cobra.Command) (need bool) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "sort", "limit", "format", "output", "force", "memory", "explain":
		default:
			need = true
		}
	})
	return need
}

// isRecorded reports whether a file may record the result of a call: the number of rows or values, or a bound.
func isRecorded(c ast.Call) bool {
	if c.Where != nil || c.Distinct || len(c.Args) > 1 || len(c.Args) == 1 && c.Args[0].Op != ast.OpColumn {
		return false
	}
	return c.Name == "count" || len(c.Args) == 1 && (c.Name == "min" || c.Name == "max")
}

// fromStatistics returns the results of a query without keys if the inputs record them, else nil.
func (a *app) fromStatistics(ctx context.Context, q aggQuery, f *aggFlags) (arrow.RecordBatch, error) {
	if len(q.keys) > 0 {
		return nil, nil
	}
	for _, c := range q.calls {
		if !isRecorded(c) {
			return nil, nil
		}
	}
	if _, err := a.opener.Use(ctx, &f.Read); err != nil {
		return nil, err
	}
	locations, err := a.opener.Inputs(ctx, q.locations, &f.Read)
	if err != nil {
		return nil, nil // what is wrong with them is told when they are opened
	}
	var all *recorded
	for _, l := range locations {
		s := a.statisticsOf(ctx, l, aggregate.Columns(nil, q.calls))
		if s == nil {
			return nil, nil
		}
		next, err := newRecorded(s, q.calls)
		if next == nil || err != nil {
			return nil, err
		}
		if all == nil {
			all = next
		} else if !all.add(next) {
			return nil, nil
		}
	}
	if all == nil {
		return nil, nil
	}
	columns := make([]arrow.Array, len(all.fields))
	for i := range all.fields {
		columns[i] = all.column(i)
	}
	return array.NewRecordBatch(arrow.NewSchema(all.fields, nil), columns, 1), nil
}

// statisticsOf returns what an input records, or nil.
func (a *app) statisticsOf(ctx context.Context, location string, paths []string) *table.Statistics {
	if location == "-" {
		return nil
	}
	in, f, err := a.opener.Input(ctx, location, "")
	if err != nil {
		return nil
	}
	var s *table.Statistics
	if f.Statistics != nil {
		s, err = f.Statistics(ctx, in, paths)
	}
	if errors.Join(err, in.Close()) != nil {
		return nil
	}
	return s
}

// recorded are results that files record, one for each call.
type recorded struct {
	calls  []ast.Call
	fields []arrow.Field
	counts []int64       // of counts
	bounds []arrow.Array // of minima and maxima: one value, or nil for null
}

// newRecorded finds the results in the statistics of a file. It returns nil if some are missing.
func newRecorded(s *table.Statistics, calls []ast.Call) (*recorded, error) {
	r := &recorded{calls: calls, counts: make([]int64, len(calls)), bounds: make([]arrow.Array, len(calls))}
	var fields []arrow.Field
	columns := map[string]*table.ColumnStatistics{}
	for i := range s.Columns {
		columns[s.Columns[i].Path] = &s.Columns[i]
		fields = append(fields, arrow.Field{Name: s.Columns[i].Path, Type: s.Columns[i].Type, Nullable: true})
	}
	q, err := aggregate.Bind(nil, calls, arrow.NewSchema(fields, nil))
	if err != nil {
		return nil, nil // a nested column, for example
	}
	r.fields = q.Schema().Fields()
	for i, c := range calls {
		if len(c.Args) == 0 {
			r.counts[i] = s.Rows
			continue
		}
		col := columns[c.Args[0].Path]
		if col == nil || col.Nulls < 0 {
			return nil, nil
		}
		if r.counts[i] = s.Rows - col.Nulls; c.Name == "count" || r.counts[i] == 0 {
			continue
		}
		if r.bounds[i] = col.Min; c.Name == "max" {
			r.bounds[i] = col.Max
		}
		if b := r.bounds[i]; b == nil || !col.Exact || col.NaNs != 0 || order.Check(b.DataType()) != nil || !arrow.TypeEqual(b.DataType(), r.fields[i].Type) {
			return nil, nil
		}
	}
	return r, nil
}

// add adds the results of another file. It reports false if its columns have other types.
func (r *recorded) add(o *recorded) bool {
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

// less compares arrays of one value.
func less(a, b arrow.Array) bool {
	e, err := order.NewEncoder([]order.Key{{Type: a.DataType()}})
	return err == nil && bytes.Compare(e.Rows(a)(nil, 0), e.Rows(b)(nil, 0)) < 0
}

func (r *recorded) column(i int) arrow.Array {
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
