package traceql

import (
	"context"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
)

// Where is a source with only the spans for which a condition is true, such as those of a time window. Queries know nothing of the others: a
// root span may be missing, and a trace is as long as its spans that are left.
func Where(s Source, condition filter.Expr) Source {
	if condition.IsZero() {
		return s
	}
	w := where{s, condition}
	if e, ok := s.(ExplainedSource); ok {
		return explainedWhere{w, e}
	}
	return w
}

type where struct {
	source    Source
	condition filter.Expr
}

func (w where) Schema() *arrow.Schema { return w.source.Schema() }

func (w where) Scan(ctx context.Context, columns []string, f filter.Expr) iter.Seq2[arrow.RecordBatch, error] {
	return w.source.Scan(ctx, columns, filter.And(w.condition, f))
}

type explainedWhere struct {
	where
	explained ExplainedSource
}

func (w explainedWhere) ExplainScan(ctx context.Context, columns []string, f filter.Expr) (fmt.Stringer, int64, error) {
	return w.explained.ExplainScan(ctx, columns, filter.And(w.condition, f))
}
