package traceql

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/value"
)

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

type (
	jsonSeries struct {
		Labels    []jsonAttribute `json:"labels"`
		Samples   []jsonSample    `json:"samples"`
		Exemplars []jsonSample    `json:"exemplars,omitempty"`
	}
	jsonSample struct {
		Labels []jsonAttribute `json:"labels,omitempty"` // of an exemplar
		Time   string          `json:"timestampMs"`
		Value  any             `json:"value"`
	}
)

// MarshalJSON writes time series in the form of the metrics API of Tempo. The labels of an exemplar have the ids of its trace and span.
func (s TimeSeries) MarshalJSON() ([]byte, error) {
	out := jsonSeries{Labels: []jsonAttribute{}, Samples: []jsonSample{}}
	for _, l := range s.Labels {
		out.Labels = append(out.Labels, jsonAttribute{l.Name, jsonValue(l.Value)})
	}
	for _, x := range s.Samples {
		out.Samples = append(out.Samples, jsonSample{nil, strconv.FormatInt(x.Time.UnixMilli(), 10), jsonFloat(x.Value)})
	}
	for _, e := range s.Exemplars {
		labels := []jsonAttribute{}
		for _, id := range []Attribute{
			{"trace:id", value.OfString(hex.EncodeToString(e.TraceID))}, {"span:id", value.OfString(hex.EncodeToString(e.Span.ID))}, {"name", value.OfString(e.Span.Name)},
		} {
			labels = append(labels, jsonAttribute{id.Name, jsonValue(id.Value)})
		}
		for _, a := range e.Span.Attributes {
			labels = append(labels, jsonAttribute{a.Name, jsonValue(a.Value)})
		}
		out.Exemplars = append(out.Exemplars, jsonSample{labels, strconv.FormatInt(e.Time.UnixMilli(), 10), jsonFloat(e.Value)})
	}
	return json.Marshal(out)
}

// jsonFloat is a float as protobuf's JSON has it: a number, or a name of one that is not finite.
func jsonFloat(f float64) any {
	if f-f == 0 {
		return f
	}
	return strings.TrimPrefix(strings.Replace(value.FormatFloat(f), "Inf", "Infinity", 1), "+")
}

// jsonValue is a value as an AnyValue of OTLP/JSON.
func jsonValue(v Value) any {
	switch v.Kind() {
	case KindInt:
		return map[string]any{"intValue": strconv.FormatInt(v.Int64(), 10)}
	case KindFloat:
		return map[string]any{"doubleValue": jsonFloat(v.Float64())}
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
