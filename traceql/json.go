package traceql

import (
	"encoding/hex"
	"encoding/json"
	"strconv"

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
		js := jsonSpanset{Spans: []jsonSpan{}, Matched: set.Matched, Attributes: jsonAttributes(set.Attributes)}
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

func jsonAttributes(list []Attribute) []jsonAttribute {
	out := make([]jsonAttribute, len(list))
	for i, a := range list {
		out[i] = jsonAttribute{a.Name, value.JSON(a.Value)}
	}
	return out
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
		out.Attributes = append(out.Attributes, jsonAttribute{key, value.JSON(a.Value)})
	}
	return out
}

type (
	jsonSeries struct {
		Labels    []jsonAttribute `json:"labels"`
		Samples   []jsonSample    `json:"samples,omitzero"`
		Value     any             `json:"value,omitempty"` // of an instant
		Exemplars []jsonSample    `json:"exemplars,omitempty"`
	}
	jsonSample struct {
		Labels []jsonAttribute `json:"labels,omitempty"` // of an exemplar
		Time   string          `json:"timestampMs"`
		Value  any             `json:"value"`
	}
)

// MarshalJSON writes time series in the form of the metrics API of Tempo, where an instant has a value in place of samples. The labels of an exemplar have the ids of its trace and span.
func (s TimeSeries) MarshalJSON() ([]byte, error) {
	out := jsonSeries{Labels: jsonAttributes(s.Labels)}
	if !s.Instant {
		out.Samples = []jsonSample{}
	}
	for _, x := range s.Samples {
		if s.Instant {
			out.Value = value.JSONFloat(x.Value)
		} else {
			out.Samples = append(out.Samples, jsonSample{nil, strconv.FormatInt(x.Time.UnixMilli(), 10), value.JSONFloat(x.Value)})
		}
	}
	for _, e := range s.Exemplars {
		ids := []Attribute{
			{"trace:id", value.OfString(hex.EncodeToString(e.TraceID))}, {"span:id", value.OfString(hex.EncodeToString(e.Span.ID))}, {"name", value.OfString(e.Span.Name)},
		}
		labels := jsonAttributes(append(ids, e.Span.Attributes...))
		out.Exemplars = append(out.Exemplars, jsonSample{labels, strconv.FormatInt(e.Time.UnixMilli(), 10), value.JSONFloat(e.Value)})
	}
	return json.Marshal(out)
}
