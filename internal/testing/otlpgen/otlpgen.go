// Package otlpgen draws OTLP traces for tests, compares sets of spans, and reads the corpus of real traces.
package otlpgen

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	resourcev1 "go.opentelemetry.io/proto/otlp/resource/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/internal/testing/tracegen"
)

// Traces draws traces that encode without error and have ids of the right lengths. All else is as odd as OTLP permits:
// keys that look like column names, duplicate keys, empty, nested and missing values, NaN, -0, empty strings.
func Traces() *rapid.Generator[*tracev1.TracesData] {
	return rapid.Custom(func(t *rapid.T) *tracev1.TracesData {
		return &tracev1.TracesData{ResourceSpans: rapid.SliceOfN(rapid.Custom(resourceSpans), 0, 4).Draw(t, "resources")}
	})
}

func resourceSpans(t *rapid.T) *tracev1.ResourceSpans {
	r := &tracev1.ResourceSpans{
		ScopeSpans: rapid.SliceOfN(rapid.Custom(scopeSpans), 0, 3).Draw(t, "scopes"),
		SchemaUrl:  text.Draw(t, "schema"),
	}
	if rapid.Bool().Draw(t, "has resource") {
		r.Resource = &resourcev1.Resource{
			Attributes:             attributes(t),
			DroppedAttributesCount: count.Draw(t, "dropped"),
			EntityRefs:             rapid.SliceOfN(rapid.Custom(entityRef), 0, 2).Draw(t, "entities"),
		}
	}
	return r
}

func entityRef(t *rapid.T) *commonv1.EntityRef {
	return &commonv1.EntityRef{
		SchemaUrl: text.Draw(t, "schema"), Type: text.Draw(t, "type"),
		IdKeys: rapid.SliceOfN(text, 0, 2).Draw(t, "ids"), DescriptionKeys: rapid.SliceOfN(text, 0, 2).Draw(t, "descriptions"),
	}
}

func scopeSpans(t *rapid.T) *tracev1.ScopeSpans {
	s := &tracev1.ScopeSpans{
		Spans:     rapid.SliceOfN(rapid.Custom(span), 0, 6).Draw(t, "spans"),
		SchemaUrl: text.Draw(t, "schema"),
	}
	if rapid.Bool().Draw(t, "has scope") {
		s.Scope = &commonv1.InstrumentationScope{
			Name: text.Draw(t, "name"), Version: text.Draw(t, "version"), Attributes: attributes(t),
			DroppedAttributesCount: count.Draw(t, "dropped"),
		}
	}
	return s
}

func span(t *rapid.T) *tracev1.Span {
	s := &tracev1.Span{
		TraceId: id(t, 16), SpanId: id(t, 8), TraceState: text.Draw(t, "state"), Flags: count.Draw(t, "flags"),
		Name: text.Draw(t, "name"), Kind: tracev1.Span_SpanKind(enum.Draw(t, "kind")),
		StartTimeUnixNano: nanos.Draw(t, "start"), EndTimeUnixNano: nanos.Draw(t, "end"),
		Attributes: attributes(t), DroppedAttributesCount: count.Draw(t, "dropped attributes"),
		Events:             rapid.SliceOfN(rapid.Custom(event), 0, 3).Draw(t, "events"),
		DroppedEventsCount: count.Draw(t, "dropped events"),
		Links:              rapid.SliceOfN(rapid.Custom(link), 0, 3).Draw(t, "links"),
		DroppedLinksCount:  count.Draw(t, "dropped links"),
	}
	if rapid.Bool().Draw(t, "has parent") {
		s.ParentSpanId = id(t, 8)
	}
	if rapid.Bool().Draw(t, "has status") {
		s.Status = &tracev1.Status{Message: text.Draw(t, "message"), Code: tracev1.Status_StatusCode(enum.Draw(t, "code"))}
	}
	return s
}

func event(t *rapid.T) *tracev1.Span_Event {
	return &tracev1.Span_Event{
		TimeUnixNano: nanos.Draw(t, "time"), Name: text.Draw(t, "name"), Attributes: attributes(t),
		DroppedAttributesCount: count.Draw(t, "dropped"),
	}
}

func link(t *rapid.T) *tracev1.Span_Link {
	return &tracev1.Span_Link{
		TraceId: id(t, 16), SpanId: id(t, 8), TraceState: text.Draw(t, "state"), Attributes: attributes(t),
		DroppedAttributesCount: count.Draw(t, "dropped"), Flags: count.Draw(t, "flags"),
	}
}

// id draws one of a few ids, so that spans share traces and have parents.
func id(t *rapid.T, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7)
	}
	b[n-1] = rapid.SampledFrom([]byte{0, 1, 2, 3, 0xff}).Draw(t, "id")
	return b
}

var (
	// Keys that look like columns, Arrow fields or numbers of columns, and some that real spans have.
	keys = []string{
		"", "a", "a:b", "a.b", ".", ":", "span.x", "resource.service.name", "trace:id", "span:name", "name", "a#int64", "a#2", "#",
		"service.name", "http.method", "http.status_code", "ключ", "\x00", strings.Repeat("k", 300),
	}
	texts = []string{"", "a", "GET", "/api/v1", "frontend", "späte Größe", "\x00\n\"\\", "NaN", "1", "true", "[1,2]", strings.Repeat("long ", 60)}
	text  = rapid.OneOf(rapid.SampledFrom(texts), rapid.StringN(0, 8, 32))
	key   = rapid.OneOf(rapid.SampledFrom(keys), rapid.StringN(0, 3, 12))
	count = rapid.OneOf(rapid.Just(uint32(0)), rapid.Uint32())
	enum  = rapid.SampledFrom([]int32{0, 1, 2, 3, 4, 5, 7, -1, math.MaxInt32})
	nanos = rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64Range(1_700_000_000_000_000_000, 1_700_000_001_000_000_000),
		rapid.SampledFrom([]uint64{1, math.MaxInt64, 1 << 63, math.MaxUint64}))
	floats = rapid.OneOf(rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, 5e-324}), rapid.Float64())
)

func attributes(t *rapid.T) []*commonv1.KeyValue {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) *commonv1.KeyValue { return keyValue(t, 3) }), 0, 5).Draw(t, "attributes")
}

func keyValue(t *rapid.T, depth int) *commonv1.KeyValue {
	kv := &commonv1.KeyValue{Key: key.Draw(t, "key")}
	if rapid.IntRange(0, 19).Draw(t, "has value") > 0 {
		kv.Value = anyValue(t, depth)
	}
	return kv
}

func anyValue(t *rapid.T, depth int) *commonv1.AnyValue {
	kinds := 8
	if depth == 0 {
		kinds = 6
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind of value") {
	case 0:
		return &commonv1.AnyValue{Value: &commonv1.AnyValue_StringValue{StringValue: text.Draw(t, "string")}}
	case 1:
		return &commonv1.AnyValue{Value: &commonv1.AnyValue_IntValue{IntValue: rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, 600)).Draw(t, "int")}}
	case 2:
		return &commonv1.AnyValue{Value: &commonv1.AnyValue_DoubleValue{DoubleValue: floats.Draw(t, "double")}}
	case 3:
		return &commonv1.AnyValue{Value: &commonv1.AnyValue_BoolValue{BoolValue: rapid.Bool().Draw(t, "bool")}}
	case 4:
		return &commonv1.AnyValue{Value: &commonv1.AnyValue_BytesValue{BytesValue: rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "bytes")}}
	case 5:
		return &commonv1.AnyValue{}
	case 6:
		n := rapid.IntRange(0, 3).Draw(t, "length")
		list := &commonv1.ArrayValue{}
		for range n {
			list.Values = append(list.Values, anyValue(t, depth-1))
		}
		return &commonv1.AnyValue{Value: &commonv1.AnyValue_ArrayValue{ArrayValue: list}}
	}
	n := rapid.IntRange(0, 3).Draw(t, "length")
	list := &commonv1.KeyValueList{}
	for range n {
		list.Values = append(list.Values, keyValue(t, depth-1))
	}
	return &commonv1.AnyValue{Value: &commonv1.AnyValue_KvlistValue{KvlistValue: list}}
}

// Corpus are the encoded messages of a file of real traces in the folder corpus/traces of the shared test data: "hotrod.otlp.zst",
// 148,770 spans, or "zipkin_lens.otlp", 1,118 spans.
// The test is skipped without this folder.
func Corpus(t testing.TB, name string) [][]byte {
	t.Helper()
	messages, err := tracegen.Load(filepath.Join(testdata.Shared(t), "corpus", "traces", name))
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

// Parse decodes messages.
func Parse(t testing.TB, messages [][]byte) []*tracev1.TracesData {
	t.Helper()
	out := make([]*tracev1.TracesData, len(messages))
	for i, m := range messages {
		out[i] = &tracev1.TracesData{}
		if err := proto.Unmarshal(m, out[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
