package otlp

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	resourcev1 "go.opentelemetry.io/proto/otlp/resource/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

var (
	someTrace = []byte("0123456789abcdef")
	someSpan  = []byte("01234567")
)

func textOf(key, v string) *commonv1.KeyValue {
	return &commonv1.KeyValue{Key: key, Value: &commonv1.AnyValue{Value: &commonv1.AnyValue_StringValue{StringValue: v}}}
}

func intOf(key string, v int64) *commonv1.KeyValue {
	return &commonv1.KeyValue{Key: key, Value: &commonv1.AnyValue{Value: &commonv1.AnyValue_IntValue{IntValue: v}}}
}

// message is spans of a resource, with ids if they have none.
func message(t testing.TB, list ...*tracev1.Span) []byte {
	t.Helper()
	for _, s := range list {
		if s.TraceId == nil {
			s.TraceId = someTrace
		}
		if s.SpanId == nil {
			s.SpanId = someSpan
		}
	}
	return marshal(t, &tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{{
		Resource:   &resourcev1.Resource{Attributes: []*commonv1.KeyValue{textOf("service.name", "shop")}},
		ScopeSpans: []*tracev1.ScopeSpans{{Scope: &commonv1.InstrumentationScope{Name: "lib"}, Spans: list}},
	}}})
}

func marshal(t testing.TB, td *tracev1.TracesData) []byte {
	t.Helper()
	m, err := proto.Marshal(td)
	require.NoError(t, err)
	return m
}

func names(b Block) (list []string) {
	for _, c := range b.Columns {
		list = append(list, fmt.Sprint(c.Name, " ", c.Type))
	}
	return list
}

func TestColumns(t *testing.T) {
	b := NewBuilder(Options{})
	require.NoError(t, b.AddTraces(message(t,
		&tracev1.Span{Name: "a", StartTimeUnixNano: 5, EndTimeUnixNano: 7, Kind: 2, Attributes: []*commonv1.KeyValue{
			intOf("code", 200), textOf("x", "1"), intOf("code", 500), textOf("code", "ok"), {Key: "none"},
		}},
		&tracev1.Span{EndTimeUnixNano: 1, StartTimeUnixNano: 2, Attributes: []*commonv1.KeyValue{textOf("code", "bad"), textOf("x", "1")}, Status: &tracev1.Status{}},
	)))
	require.Equal(t, 2, b.Rows())
	require.Positive(t, b.Bytes())
	got := b.Finish()
	require.Equal(t, []string{
		"resource.service.name String", "scope:name String", "span.code String", "span.code Int64", "span.x String", "span:attrs_ext Bytes",
		"span:duration Uint64", "span:end Uint64", "span:id Bytes", "span:kind Int64", "span:name String", "span:start Uint64",
		"span:status Int64", "trace:id Bytes",
	}, names(got))
	require.Equal(t, []uint64{2, 0}, got.Column(spans.Duration, column.Uint64).Values.Numbers)
	service := got.Column("resource.service.name", column.String)
	require.Equal(t, []uint32{0, 0}, service.Codes)
	require.Equal(t, "shop", string(service.Values.Data))
	status := got.Column(spans.Status, column.Int64)
	require.Equal(t, []byte{2}, status.Present)
	code := got.Column("span.code", column.Int64) // the first of a list; others of the key are among the attributes without a column
	require.Equal(t, []uint64{200}, code.Values.Numbers)
	require.Equal(t, []byte{1}, code.Present)
	ext := got.Column(spans.Attrs, column.Bytes)
	require.Equal(t, "bad", string(got.Column("span.code", column.String).Values.Data))
	require.Equal(t, 3, strings.Count(string(ext.Values.Data), "\x4a"))
	require.Zero(t, b.Rows())
	require.Empty(t, b.Finish().Columns)
}

// TestAllOrNothing adds messages that fail at some place between others.
func TestAllOrNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := NewBuilder(Options{})
		var kept [][]byte
		for range 4 {
			m, err := proto.Marshal(otlpgen.Traces().Draw(t, "traces"))
			if err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "fails") {
				bad := append(bytes.Clone(m), "\x0a\x08\x12\x06\x12\x04\x0a\x02ab"...) // a span with an id of 2 bytes
				before := b.Stats()
				if err := b.AddTraces(bad); !errors.Is(err, fault.ErrCorrupt) {
					t.Fatal(err)
				}
				if b.Stats() != before {
					t.Fatal(b.Stats(), before)
				}
				continue
			}
			if err := b.AddTraces(m); err != nil {
				t.Fatal(err)
			}
			kept = append(kept, m)
		}
		block := b.Finish()
		for _, c := range block.Columns {
			if c.PresentCount() == 0 {
				t.Fatalf("%s has no values", c.Name)
			}
			used := make([]bool, c.Values.Len())
			for _, code := range c.Codes {
				used[code] = true
			}
			for k := range used {
				if !used[k] && c.Codes != nil {
					t.Fatalf("%s has a value that no row has", c.Name)
				}
			}
		}
		checkBlock(t, kept, []Block{block})
	})
}

// TestUnknownFields keeps the fields of newer versions of OTLP.
func TestUnknownFields(t *testing.T) {
	unknown := func(n uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, 777, protowire.VarintType), n)
	}
	td := &tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{{
		Resource: &resourcev1.Resource{},
		ScopeSpans: []*tracev1.ScopeSpans{{Scope: &commonv1.InstrumentationScope{}, Spans: []*tracev1.Span{{
			TraceId: someTrace, SpanId: someSpan, Status: &tracev1.Status{Code: 1},
			Events: []*tracev1.Span_Event{{Name: "e"}}, Attributes: []*commonv1.KeyValue{textOf("a", "b"), textOf("c", "d")},
		}}}},
	}}}
	rs := td.ResourceSpans[0]
	span := rs.ScopeSpans[0].Spans[0]
	for i, m := range []proto.Message{
		rs, rs.Resource, rs.ScopeSpans[0], rs.ScopeSpans[0].Scope, span, span.Status, span.Events[0], span.Attributes[0], span.Attributes[1].Value,
	} {
		m.ProtoReflect().SetUnknown(unknown(uint64(i)))
	}
	m := marshal(t, td)
	b := NewBuilder(Options{})
	require.NoError(t, b.AddTraces(append(m, unknown(1)...)))
	require.EqualValues(t, 1, b.Stats().UnknownFields)
	checkBlock(t, [][]byte{m}, []Block{b.Finish()}, arrowOptions...)
}

// TestMerged reads messages whose fields come in an unusual order, and in several parts.
func TestMerged(t *testing.T) {
	part := func(td *tracev1.ResourceSpans) []byte {
		m, err := proto.Marshal(td)
		require.NoError(t, err)
		return m
	}
	span := &tracev1.Span{TraceId: someTrace, SpanId: someSpan}
	rs := bytes.Join([][]byte{
		part(&tracev1.ResourceSpans{ScopeSpans: []*tracev1.ScopeSpans{{Spans: []*tracev1.Span{span}}}}),
		part(&tracev1.ResourceSpans{Resource: &resourcev1.Resource{Attributes: []*commonv1.KeyValue{textOf("a", "1")}}}),
		part(&tracev1.ResourceSpans{SchemaUrl: "old"}),
		part(&tracev1.ResourceSpans{Resource: &resourcev1.Resource{Attributes: []*commonv1.KeyValue{textOf("a", "2"), textOf("b", "3")}, DroppedAttributesCount: 7}}),
		part(&tracev1.ResourceSpans{SchemaUrl: "new"}),
	}, nil)
	m := protowire.AppendBytes([]byte{0x0a}, rs)
	b := NewBuilder(Options{})
	require.NoError(t, b.AddTraces(m))
	checkBlock(t, [][]byte{m}, []Block{b.Finish()}, arrowOptions...)
}

func TestStats(t *testing.T) {
	b := NewBuilder(Options{PadIDs: true})
	m := marshal(t, &tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{
		{Resource: &resourcev1.Resource{Attributes: []*commonv1.KeyValue{textOf("unused", "x")}}},
		{ScopeSpans: []*tracev1.ScopeSpans{{}, {Spans: []*tracev1.Span{{
			TraceId: []byte("01234567"), SpanId: []byte("0123"), Name: strings.Repeat("ä", 60),
			Events: []*tracev1.Span_Event{{Name: strings.Repeat("a", 50)}, {Name: strings.Repeat("b", 70)}},
		}}}}},
	}})
	require.NoError(t, b.AddTraces(m))
	require.Equal(t, Stats{Spans: 1, EmptyResources: 1, EmptyScopes: 1, Padded: 2}, b.Stats())
	got := b.Finish()
	require.Nil(t, got.Column("resource.unused", column.String))
	require.Equal(t, "\x00\x00\x00\x00\x00\x00\x00\x0001234567", string(got.Column(spans.TraceID, column.Bytes).Values.Data))
}

func TestRefused(t *testing.T) {
	long := strings.Repeat("x", 2000)
	for _, c := range []struct {
		o    Options
		span *tracev1.Span
		want string
	}{
		{Options{}, &tracev1.Span{TraceId: []byte("01234567")}, `id of 8 bytes, not 16 (column "trace:id"/ResourceSpans 0/ScopeSpans 0/Span 0`},
		{Options{}, &tracev1.Span{TraceId: []byte{}}, "id of 0 bytes"},
		{Options{PadIDs: true}, &tracev1.Span{TraceId: []byte{}}, "id of 0 bytes"},
		{Options{PadIDs: true}, &tracev1.Span{SpanId: []byte("012345678")}, "id of 9 bytes, not 8"},
		{Options{}, &tracev1.Span{ParentSpanId: []byte("1")}, `column "span:parent_id"`},
		{Options{MaxValueLen: 1000}, &tracev1.Span{Name: long}, `value of 2000 bytes in column "span:name": the format allows 1000`},
		{Options{MaxValueLen: 1000}, &tracev1.Span{Attributes: []*commonv1.KeyValue{textOf("a", long)}}, `column "span.a"`},
		{Options{MaxValueLen: 1000}, &tracev1.Span{Events: []*tracev1.Span_Event{{Name: long}}}, `column "span:events"`},
		{Options{MaxColumns: 10}, &tracev1.Span{Attributes: []*commonv1.KeyValue{textOf("a", "b"), textOf("b", "c")}}, "too many columns"},
		{Options{}, &tracev1.Span{Attributes: []*commonv1.KeyValue{nested(60)}}, "nested deeper than 100"},
	} {
		b := NewBuilder(c.o)
		require.ErrorContains(t, b.AddTraces(message(t, c.span)), c.want)
		require.Zero(t, b.Rows())
	}
	b := NewBuilder(Options{})
	m := message(t, &tracev1.Span{Attributes: []*commonv1.KeyValue{textOf(long, "a"), nested(40)}})
	require.NoError(t, b.AddTraces(m)) // a name that is too long is kept among the attributes without a column
	checkBlock(t, [][]byte{m}, []Block{b.Finish()})
	var tooLong *ValueTooLongError
	require.ErrorAs(t, NewBuilder(Options{MaxValueLen: 1}).AddTraces(message(t, &tracev1.Span{Name: "ab"})), &tooLong)
}

func nested(n int) *commonv1.KeyValue {
	v := &commonv1.AnyValue{}
	for range n {
		v = &commonv1.AnyValue{Value: &commonv1.AnyValue_ArrayValue{ArrayValue: &commonv1.ArrayValue{Values: []*commonv1.AnyValue{v}}}}
	}
	return &commonv1.KeyValue{Key: "deep", Value: v}
}

// TestManyKeys forgets the keys of earlier blocks.
func TestManyKeys(t *testing.T) {
	b := NewBuilder(Options{})
	for block := range 5 {
		var want [][]byte
		for i := range 20 {
			m := message(t, &tracev1.Span{Attributes: []*commonv1.KeyValue{textOf(fmt.Sprintf("k%d.%d", block, i), "a")}})
			require.NoError(t, b.AddTraces(m))
			want = append(want, m)
		}
		if block%2 == 0 {
			checkBlock(t, want, []Block{taken(t, b, 19), b.Finish()})
		} else {
			first := taken(t, b, 19)
			require.Len(t, b.attrs[ofSpan].keys, 1)
			checkBlock(t, want, []Block{first, b.Finish()})
		}
		require.Empty(t, b.attrs[ofSpan].keys)
		bad := append(message(t, &tracev1.Span{Attributes: []*commonv1.KeyValue{textOf("bad", "a")}}), 0)
		require.Error(t, b.AddTraces(bad))
		require.Empty(t, b.attrs[ofSpan].keys)
	}
}

// TestHostileBytes flips and cuts real messages. What is accepted is what Protocol Buffers reads.
func TestHostileBytes(t *testing.T) {
	messages := otlpgen.Corpus(t, "zipkin_lens.otlp")
	m := messages[1][:min(len(messages[1]), 3000)]
	var td tracev1.TracesData
	for n := range messages {
		if len(messages[n]) < 4000 {
			m = messages[n]
		}
	}
	require.NoError(t, proto.Unmarshal(m, &td))
	check := func(bad []byte) {
		checkAgainstProto(t, bad)
	}
	for n := 0; n < len(m); n += sweep.Step(3) {
		check(m[:n])
	}
	bad := bytes.Clone(m)
	for i := 0; i < 8*len(m); i += sweep.Step(11) {
		bad[i/8] ^= 1 << (i % 8)
		check(bad)
		bad[i/8] ^= 1 << (i % 8)
	}
}

// checkAgainstProto adds bytes to a builder. If it accepts them, Protocol Buffers reads the same spans.
func checkAgainstProto(t testing.TB, msg []byte) {
	b := NewBuilder(Options{})
	if err := b.AddTraces(msg); err != nil {
		require.Zero(t, b.Rows())
		return
	}
	var td tracev1.TracesData
	if err := proto.Unmarshal(msg, &td); err != nil {
		if !strings.Contains(err.Error(), "UTF-8") {
			t.Fatalf("accepted what Protocol Buffers refuses: %v", err)
		}
		return
	}
	block := b.Finish()
	again, err := newEncoder(block.Columns, block.Rows).Append(nil, nil)
	require.NoError(t, err)
	same(t, [][]byte{msg}, [][]byte{again})
}

func FuzzAddTraces(f *testing.F) {
	f.Add([]byte("\x0a\x02\x12\x00"))
	f.Add(message(f, &tracev1.Span{Attributes: []*commonv1.KeyValue{textOf("a", "b"), nested(2)}, Events: []*tracev1.Span_Event{{Name: "e"}}, Status: &tracev1.Status{Code: 2}}))
	f.Fuzz(func(t *testing.T, msg []byte) { checkAgainstProto(t, msg) })
}

// TestHostileFields puts bytes into columns that keep encoded fields. What comes of it is a message, or an error.
func TestHostileFields(t *testing.T) {
	td := &tracev1.TracesData{}
	rapid.Check(t, func(t *rapid.T) {
		columns := []*column.Column{
			{Name: spans.TraceID, Type: column.Bytes, Rows: 1, Values: column.Values{Offsets: []uint32{0, 16}, Data: someTrace}},
			{Name: spans.SpanID, Type: column.Bytes, Rows: 1, Values: column.Values{Offsets: []uint32{0, 8}, Data: someSpan}},
		}
		for _, f := range spans.Intrinsics {
			if f.Type != column.Bytes || strings.HasSuffix(f.Name, "id") || rapid.Bool().Draw(t, "absent") {
				continue
			}
			v := rapid.OneOf(
				rapid.SliceOfN(rapid.Byte(), 0, 12),
				rapid.SliceOfN(rapid.SampledFrom([]byte("\x0a\x12\x1a\x4a\x5a\x6a\x00\x01\x02\x03\x04")), 0, 12),
			).Draw(t, f.Name)
			columns = append(columns, &column.Column{Name: f.Name, Type: f.Type, Rows: 1, Values: column.Values{Offsets: []uint32{0, uint32(len(v))}, Data: v}})
		}
		msg, err := newEncoder(columns, 1).Append([]byte{}, nil)
		if err != nil {
			if len(msg) != 0 {
				t.Fatal("something is left of a failure")
			}
			return
		}
		if err := proto.Unmarshal(msg, td); err != nil && !strings.Contains(err.Error(), "UTF-8") {
			t.Fatalf("%v\n%q", err, msg)
		}
	})
}

func taken(t require.TestingT, b *Builder, n int) Block {
	block, err := b.Take(n)
	require.NoError(t, err)
	return block
}

// TestFieldsHaveColumns finds each column of a field in one message, but for the duration, which no message has.
func TestFieldsHaveColumns(t *testing.T) {
	found := map[int]bool{none: true, durationColumn: true}
	for _, m := range []*messageType{resourceSpansMessage, scopeSpansMessage, spanMessage} {
		require.NotEqual(t, none, m.unknown)
		found[m.unknown] = true
		for _, m := range []*messageType{m, m.inner} {
			for _, i := range m.columns {
				found[i] = true
			}
		}
	}
	require.Len(t, found, len(spans.Intrinsics)+1)
}
