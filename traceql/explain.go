package traceql

import (
	"context"
	"errors"
	"fmt"

	"github.com/amudai/amudai-go/filter"
)

// Explanation describes how a search finds its traces. Its String method is a page of text.
type Explanation struct {
	Query   string
	Filters []FilterExplanation // in the order in which they are evaluated
	Run     *RunExplanation     // nil after Explain
}

// FilterExplanation describes a condition that finds candidates.
type FilterExplanation struct {
	Condition string // of the query
	Sources   []ScanExplanation
}

// ScanExplanation describes the scan of a source for a condition.
type ScanExplanation struct {
	Source int         // index in the sources of the search
	Filter filter.Expr // what the source evaluates; empty for all rows
	Exact  bool        // the filter is the condition; otherwise it only excludes spans, and the others are examined one by one
	Plan   fmt.Stringer
}

// RunExplanation counts the work of a search.
type RunExplanation struct {
	Candidates int64 // traces that may match
	Fetched    int64 // traces whose spans were read
	Spans      int64 // their spans
	Evaluated  int64 // spans on which conditions were evaluated one by one, because their source cannot
	Traces     int64 // of the result
}

// Explain describes a search without running it.
func Explain(ctx context.Context, q *Query, sources []Source, o Options) (*Explanation, error) {
	return nil, errors.ErrUnsupported
}

// Analyze runs a search and describes it, with its work in Explanation.Run.
func Analyze(ctx context.Context, q *Query, sources []Source, o Options) (*Explanation, error) {
	return nil, errors.ErrUnsupported
}

// String describes the search as text of several lines.
func (e *Explanation) String() string { return e.Query }
