package traceql

import (
	"context"
	"errors"
)

// Scope says where an attribute is: "span", "resource", "instrumentation", "event", "link", or "intrinsic" for the fields of spans.
type Scope string

// TagNames are the names in a scope.
type TagNames struct {
	Scope Scope
	Names []string // sorted, as queries write them after the scope
}

// Names returns the names of attributes and intrinsics of sources, by scope; "" stands for all scopes. Those of events, links and arrays are
// read from their spans, the others from schemas.
func Names(ctx context.Context, sources []Source, scope Scope) ([]TagNames, error) {
	return nil, errors.ErrUnsupported
}

// ValuesOptions are the options of [Values].
type ValuesOptions struct {
	// Filter is a query of one spanset filter. Only the values of spans that match it are returned. nil stands for all spans.
	Filter *Query
	// Limit is the maximum number of values, by default 1,000. Values says whether there are more.
	Limit int
}

// Values returns the distinct values of an attribute or intrinsic, written as in queries: "resource.service.name", ".foo", "name".
// They are sorted by kind and value. more is true if there are others.
func Values(ctx context.Context, sources []Source, attribute string, o ValuesOptions) (values []Value, more bool, err error) {
	return nil, false, errors.ErrUnsupported
}
