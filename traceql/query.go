package traceql

import "errors"

// Query is a TraceQL query that was parsed and checked. It is immutable, and may be used by many goroutines at once.
type Query struct{}

// Parse parses a query. The error is an [*Error] with a position.
func Parse(text string) (*Query, error) { return nil, errors.ErrUnsupported }

// String is the query as text, which Parse turns into an equal one.
func (q *Query) String() string { return "" }

// Error is a mistake in a query.
type Error struct {
	Text    string // given to Parse
	Pos     int    // byte offset in Text, or -1 if it is not known
	Message string // the mistake, and often its correction
}

// Error has the position and the part of the text there.
func (e *Error) Error() string { return e.Message }
