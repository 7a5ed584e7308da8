package traceql

import (
	"context"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/table"
)

// Where is a source with only the spans for which a condition is true, such as those of a time window. Queries know nothing of the others: a
// root span may be missing, and a trace is as long as its spans that are left.
func Where(s Source, condition filter.Expr) Source {
	if condition.IsZero() {
		return s
	}
	return where{s, condition}
}

type where struct {
	source    Source
	condition filter.Expr
}

func (w where) Schema() *arrow.Schema { return w.source.Schema() }

func (w where) Scan(ctx context.Context, columns []string, f filter.Expr, rows []table.RowRange) iter.Seq2[Rows, error] {
	return w.source.Scan(ctx, columns, filter.And(w.condition, f), rows)
}

// ExplainScan implements [ExplainedSource], also of a source that does not tell.
func (w where) ExplainScan(ctx context.Context, columns []string, f filter.Expr) (fmt.Stringer, int64, error) {
	if e, ok := w.source.(ExplainedSource); ok {
		return e.ExplainScan(ctx, columns, filter.And(w.condition, f))
	}
	return nil, -1, nil
}
