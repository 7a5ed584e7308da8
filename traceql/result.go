package traceql

import (
	"bytes"
	"strings"
	"time"

	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/traceql/internal/eval"
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
//	func (Value) Kind() Kind        // KindString, KindInt, …
//	func (Value) Text() string      // of a string
//	func (Value) Int64() int64      // of an integer, a Boolean, a status or kind, or a duration in nanoseconds
//	func (Value) Float64() float64  // of a number
//	func (Value) Bool() bool
//	func (Value) List() []Value     // of an array, or of the values in several events or links
//	func (Value) String() string    // as a literal of the language
//	func (Value) Plain() string     // the same without quotation marks
type Value = value.Value

// Kind is the type of a [Value].
type Kind = value.Kind

// The kinds of values.
const (
	KindNil      = value.Nil
	KindString   = value.String
	KindInt      = value.Int
	KindFloat    = value.Float
	KindDuration = value.Duration
	KindBool     = value.Bool
	KindStatus   = value.Status
	KindSpanKind = value.SpanKind
	KindArray    = value.Array // the elements of an array
	KindAny      = value.Any   // the values of an attribute in several events or links
	KindOther    = value.Other // bytes or a map, which queries do not compare
)

func unixNano(n int64) time.Time { return time.Unix(0, n).UTC() }

func unescaped(path string) string { return schema.SplitPath(path)[0] }

// attributesOf copies the attributes of a set.
func attributesOf(list []eval.Attribute) (out []Attribute) {
	for _, a := range list {
		out = append(out, Attribute{a.Name, a.Value.Clone()})
	}
	return out
}

// text is a string without quotes, "" for nil.
func text(v value.Value) string {
	if v.IsNil() {
		return ""
	}
	return v.Clone().Plain()
}

// result copies what the result has of a trace.
func (s *search) result(m match) (*Trace, error) {
	start, d := m.trace.Times()
	service, err := m.trace.RootService()
	if err != nil {
		return nil, err
	}
	t := &Trace{
		ID: []byte(m.id), RootService: text(service), RootName: text(m.trace.RootName()),
		Start: unixNano(start), Duration: d, Spans: m.trace.Len(),
	}
	for _, set := range m.sets {
		out := Spanset{Matched: len(set.Spans), Attributes: attributesOf(set.Attributes)}
		for _, i := range s.shown(m.trace, set) {
			span, err := s.span(m.trace, i)
			if err != nil {
				return nil, err
			}
			out.Spans = append(out.Spans, span)
		}
		t.Sets = append(t.Sets, out)
	}
	return t, nil
}

func (s *search) span(t *eval.Trace, i int) (Span, error) {
	from := &t.Spans[i]
	out := Span{ID: bytes.Clone(from.ID()), Name: strings.Clone(t.Name(i)), Start: unixNano(from.Start), Duration: t.Duration(i)}
	for _, f := range s.fields {
		v, err := t.Value(f.Field, i)
		if err != nil {
			return out, err
		}
		if !v.IsNil() {
			out.Attributes = append(out.Attributes, Attribute{f.Name, v.Clone()})
		}
	}
	return out, nil
}
