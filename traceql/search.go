package traceql

import (
	"context"
	"errors"
	"iter"
)

// Order is the order of the traces of a search.
type Order uint8

const (
	// AsStored is the order of the first spans that may match, source by source. A search with a limit ends early.
	AsStored Order = iota
	// MostRecent begins with the latest start. All traces that may match are examined. Traces with equal starts are ordered by id. A query
	// with the hint most_recent=true has this order, too.
	MostRecent
)

// Options are the options of [Search]. The zero value is the default.
type Options struct {
	// Limit is the maximum number of traces, by default all.
	Limit int
	// Spans is the maximum number of spans of each spanset in the result, the first ones by start; by default all. Spanset.Matched counts all.
	Spans int
	// Order is the order of the traces.
	Order Order
	// MaxTraces bounds the number of traces that are candidates, by default 1,000,000: their ids are in memory. More are an error.
	MaxTraces int
	// MaxBytes bounds the memory of the spans of a trace that is examined, by default 256 MiB. Smaller traces are examined many at
	// a time. A larger trace is an error.
	MaxBytes int64
}

// Search returns the traces that match a query. An error ends the loop. A loop that is left early frees its memory.
//
// Errors because of Options.MaxTraces and MaxBytes, and those of sources, wrap those of the package of the source; nothing is left out without
// one.
func Search(ctx context.Context, q *Query, sources []Source, o Options) iter.Seq2[*Trace, error] {
	return func(yield func(*Trace, error) bool) { yield(nil, errors.ErrUnsupported) }
}
