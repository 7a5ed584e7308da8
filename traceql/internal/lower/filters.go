package lower

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/spans"
)

// Filters are the conditions of the spanset filters of a query, for batches of a schema.
type Filters struct {
	schema *arrow.Schema
	list   []boundFilter
}

type boundFilter struct {
	cond  Cond
	bound *filter.Bound // nil if the filter excludes all spans, or none
}

// BindFilters makes Filters for batches with columns of a table, which a schema lists under the names of their paths.
func BindFilters(s *spans.Schema, columns *arrow.Schema, filters []*lang.SpansetFilter) (Filters, error) {
	out := Filters{columns, make([]boundFilter, len(filters))}
	for i, f := range filters {
		own := &out.list[i]
		own.cond = Lower(s, f.Cond, true)
		if own.cond.All() || own.cond.None() {
			continue
		}
		var err error
		if own.bound, err = filter.Bind(own.cond.Filter(), columns); err != nil {
			return out, fmt.Errorf("%s: %w", lang.Text(f), err)
		}
	}
	return out, nil
}

// Cond is the condition of filter i.
func (f Filters) Cond(i int) Cond { return f.list[i].cond }

// Verdicts evaluates the filters on a batch.
func (f Filters) Verdicts(ctx context.Context, rec arrow.RecordBatch) ([]spans.Verdict, error) {
	list := make([]spans.Verdict, len(f.list))
	renamed := array.NewRecordBatch(f.schema, rec.Columns(), rec.NumRows())
	defer renamed.Release()
	for i, own := range f.list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		list[i].Exact = own.cond.Exact()
		switch {
		case own.cond.None():
			list[i].Bits = make([]byte, (rec.NumRows()+7)/8)
		case own.bound != nil:
			bits, err := own.bound.Select(renamed)
			if err != nil {
				return nil, err
			}
			list[i].Bits = bits
		}
	}
	return list, nil
}
