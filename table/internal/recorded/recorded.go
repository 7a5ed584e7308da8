// Package recorded has what files record: results of aggregates, such as numbers of rows and bounds of columns, and the stored sizes and encodings of fields.
package recorded

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

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

// Stored is what inputs store, by fields. Package table, which has aliases of these types, tells more.
type Stored struct {
	Bytes  int64
	Fields []Field // each before the fields below it
}

// Field is what inputs store of a field.
type Field struct {
	Path      string
	Bytes     int64 // those of the fields below it included
	Encodings []provider.Fact
}

// In is what an input stores, or nil if it does not tell.
func In(ctx context.Context, in provider.Input, f provider.Format) (*Stored, error) {
	if in.Location == "" {
		return nil, nil // compressed
	}
	out := &Stored{Bytes: max(in.Size, 0)}
	if f.Inspect != nil {
		o, err := f.Inspect(ctx, in, provider.InspectOptions{Stats: true})
		if err != nil {
			return nil, err
		}
		if n := integer(o.Fact("bytes")); n > 0 { // of several files
			out.Bytes = n
		}
		for _, l := range o.Lists {
			if out.Fields = fieldsOf(l); out.Fields != nil {
				return out, nil
			}
		}
	}
	if f.Statistics == nil {
		return nil, nil
	}
	s, err := f.Statistics(ctx, in, nil)
	if s == nil || err != nil {
		return nil, err
	}
	for _, c := range s.Columns {
		if c.Bytes < 0 {
			return nil, nil
		}
		out.Fields = append(out.Fields, Field{Path: c.Path, Bytes: c.Bytes})
	}
	return out, nil
}

// fieldsOf are the fields in a list of all nodes of a schema, each before those below it, or nil for another list.
func fieldsOf(l provider.List) (fields []Field) {
	bytes, encodings := slices.Index(l.Columns, "bytes"), slices.Index(l.Columns, "encodings")
	if bytes < 0 || l.Columns[0] != "column" && l.Columns[0] != "field" {
		return nil
	}
	var above []int // fields that the next one may be below
	for _, row := range l.Rows {
		f := Field{Bytes: integer(row[bytes])}
		f.Path, _ = row[0].(string)
		if encodings >= 0 {
			f.Encodings, _ = row[encodings].([]provider.Fact)
		}
		for len(above) > 0 && !strings.HasPrefix(f.Path, fields[above[len(above)-1]].Path+".") {
			above = above[:len(above)-1]
		}
		for _, i := range above {
			fields[i].Bytes += f.Bytes
		}
		above = append(above, len(fields))
		fields = append(fields, f)
	}
	return fields
}

// Add adds what another input stores.
func (s *Stored) Add(o *Stored) {
	s.Bytes += o.Bytes
	at := map[string]int{}
	for i, f := range s.Fields {
		at[f.Path] = i
	}
	for _, f := range o.Fields {
		i, known := at[f.Path]
		if !known {
			s.Fields = append(s.Fields, Field{Path: f.Path})
			i = len(s.Fields) - 1
		}
		sum := &s.Fields[i]
		sum.Bytes += f.Bytes
		sum.Encodings = addEncodings(sum.Encodings, f.Encodings)
	}
}

func addEncodings(all, more []provider.Fact) []provider.Fact {
	for _, e := range more {
		i := slices.IndexFunc(all, func(x provider.Fact) bool { return x.Name == e.Name })
		if i < 0 {
			all = append(all, e)
			continue
		}
		all[i].Value = integer(all[i].Value) + integer(e.Value)
	}
	slices.SortStableFunc(all, func(a, b provider.Fact) int { return cmp.Compare(integer(b.Value), integer(a.Value)) })
	return all
}

// integer is the number of a fact.
func integer(v any) int64 {
	if n, ok := v.(uint64); ok {
		return int64(n)
	}
	n, _ := v.(int64)
	return n
}

// Pairs are what two tables store, by fields.
type Pairs struct {
	Old, New int64
	Fields   []Pair
}

// Pair is what two tables store of a field. One of them is nil if the table lacks it.
type Pair struct{ Old, New *Field }

// Compare pairs the fields of two tables: those of the old one, then those that are only in the new one.
func Compare(old, new *Stored) *Pairs {
	out := &Pairs{Old: old.Bytes, New: new.Bytes}
	at := map[string]int{}
	for i := range old.Fields {
		f := &old.Fields[i]
		at[f.Path] = len(out.Fields)
		out.Fields = append(out.Fields, Pair{Old: f})
	}
	for i := range new.Fields {
		f := &new.Fields[i]
		if k, ok := at[f.Path]; ok {
			out.Fields[k].New = f
		} else {
			out.Fields = append(out.Fields, Pair{New: f})
		}
	}
	return out
}
