package traceql

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/traceql/internal/eval"
	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/spans"
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

func bytesText(s *eval.Span) string { return strings.Clone(s.Batch.Text(spans.Name, s.Row)) }

// resultField is a field of the spans of a result.
type resultField struct {
	name  string
	field *lang.Field
}

// resultFields are the fields of conditions and select(), besides those that each span or trace of a result has.
func resultFields(s lang.Stage) (list []resultField) {
	always := []lang.Intrinsic{
		lang.SpanID, lang.SpanName, lang.SpanDuration, lang.TraceID, lang.TraceDuration, lang.TraceRootName, lang.TraceRootService, lang.HasParent,
	}
	lang.Expressions(s, func(e *lang.Expr) {
		if e.Op != lang.FieldOf || !e.Field.Parent && slices.Contains(always, e.Field.Intrinsic) {
			return
		}
		name := e.Field.String()
		if !slices.ContainsFunc(list, func(f resultField) bool { return f.name == name }) {
			list = append(list, resultField{name, e.Field})
		}
	})
	return list
}

// The parts of the search API of Tempo.
type (
	jsonTrace struct {
		TraceID  string        `json:"traceID"`
		Service  string        `json:"rootServiceName"`
		Name     string        `json:"rootTraceName"`
		Start    string        `json:"startTimeUnixNano"`
		Millis   int64         `json:"durationMs"`
		SpanSet  *jsonSpanset  `json:"spanSet,omitempty"` // the first one, for old clients
		SpanSets []jsonSpanset `json:"spanSets"`
	}
	jsonSpanset struct {
		Spans      []jsonSpan      `json:"spans"`
		Matched    int             `json:"matched"`
		Attributes []jsonAttribute `json:"attributes,omitempty"`
	}
	jsonSpan struct {
		SpanID     string          `json:"spanID"`
		Name       string          `json:"name,omitempty"`
		Start      string          `json:"startTimeUnixNano"`
		Nanos      string          `json:"durationNanos"`
		Attributes []jsonAttribute `json:"attributes,omitempty"`
	}
	jsonAttribute struct {
		Key   string `json:"key"`
		Value any    `json:"value"`
	}
)

// MarshalJSON writes a trace in the form of the search API of Tempo: ids in hexadecimal digits, attributes as OTLP/JSON writes them. The key
// of an attribute has no scope.
func (t *Trace) MarshalJSON() ([]byte, error) {
	out := jsonTrace{
		TraceID: hex.EncodeToString(t.ID), Service: t.RootService, Name: t.RootName, Start: strconv.FormatInt(t.Start.UnixNano(), 10),
		Millis: t.Duration.Milliseconds(), SpanSets: []jsonSpanset{},
	}
	if out.Service == "" && out.Name == "" {
		out.Service = "<root span not yet received>"
	}
	for _, set := range t.Sets {
		js := jsonSpanset{Spans: []jsonSpan{}, Matched: set.Matched}
		for _, a := range set.Attributes {
			js.Attributes = append(js.Attributes, jsonAttribute{a.Name, jsonValue(a.Value)})
		}
		for _, s := range set.Spans {
			js.Spans = append(js.Spans, s.json())
		}
		out.SpanSets = append(out.SpanSets, js)
	}
	if len(out.SpanSets) > 0 {
		out.SpanSet = &out.SpanSets[0]
	}
	return json.Marshal(out)
}

func (s *Span) json() jsonSpan {
	out := jsonSpan{
		SpanID: hex.EncodeToString(s.ID), Name: s.Name, Start: strconv.FormatInt(s.Start.UnixNano(), 10), Nanos: strconv.FormatInt(int64(s.Duration), 10),
	}
	for _, a := range s.Attributes {
		key := a.Name
		if f, err := lang.ParseField(key); err == nil && f.Intrinsic == lang.NoIntrinsic && !f.Parent {
			key = f.Name
		}
		out.Attributes = append(out.Attributes, jsonAttribute{key, jsonValue(a.Value)})
	}
	return out
}

// jsonValue is a value as an AnyValue of OTLP/JSON.
func jsonValue(v Value) any {
	switch v.Kind() {
	case KindInt:
		return map[string]any{"intValue": strconv.FormatInt(v.Int64(), 10)}
	case KindFloat:
		if f := v.Float64(); f-f == 0 { // finite
			return map[string]any{"doubleValue": f}
		}
		return map[string]any{"doubleValue": strings.TrimPrefix(strings.Replace(v.Plain(), "Inf", "Infinity", 1), "+")}
	case KindBool:
		return map[string]any{"boolValue": v.Bool()}
	case KindArray, KindAny:
		values := []any{}
		for _, e := range v.List() {
			values = append(values, jsonValue(e))
		}
		return map[string]any{"arrayValue": map[string]any{"values": values}}
	}
	return map[string]any{"stringValue": v.Plain()}
}
