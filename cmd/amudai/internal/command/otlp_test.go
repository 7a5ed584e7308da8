package command_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	resourcev1 "go.opentelemetry.io/proto/otlp/resource/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// ids are the ids in OTLP/JSON, which are hexadecimal there. In the JSON of Protocol Buffers they would be in base 64.
var ids = regexp.MustCompile(`"(traceId|spanId|parentSpanId)":\s*"([0-9a-f]*)"`)

// tracesOf are the messages of a file, read by the library of Protocol Buffers.
func tracesOf(t *testing.T, name string) (list []*tracev1.TracesData) {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	if filepath.Ext(name) == ".otlp" {
		var messages [][]byte
		for len(b) > 0 {
			end := 4 + binary.LittleEndian.Uint32(b)
			messages = append(messages, b[4:end])
			b = b[end:]
		}
		return otlpgen.Parse(t, messages)
	}
	for line := range bytes.Lines(b) {
		line = ids.ReplaceAllFunc(line, func(field []byte) []byte {
			m := ids.FindSubmatch(field)
			id, err := hex.DecodeString(string(m[2]))
			require.NoError(t, err)
			return fmt.Appendf(nil, "%q:%q", m[1], base64.StdEncoding.EncodeToString(id))
		})
		traces := &tracev1.TracesData{}
		require.NoError(t, protojson.Unmarshal(line, traces))
		list = append(list, traces)
	}
	return list
}

// Ids that are keys of groups, and those of lists, are hexadecimal in texts, as those of rows are.
func TestGroupsOfIDs(t *testing.T) {
	shop := filepath.Join("..", "..", "..", "..", "testdata", "traces", "shop.otlp.jsonl")
	for _, format := range []string{"csv", "json", "table"} {
		require.Contains(t, ok(t, "agg", shop, "count() as n", "--by", `"trace:id" as id`, "--where", "\"span:name\" = 'POST /charge'", "--format", format), "4bf92f3577b34da6a3ce929d0e0e4736")
		require.Contains(t, ok(t, "agg", shop, `list(distinct "trace:id") as ids`, "--where", "\"span:name\" = 'POST /charge'", "--format", format), "4bf92f3577b34da6a3ce929d0e0e4736")
	}
}

// TestOTLP converts traces through all formats that keep their columns, and back: no span changes.
func TestOTLP(t *testing.T) {
	shop, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "testdata", "traces", "shop.otlp.jsonl"))
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("shop.otlp.jsonl", shop, 0o600))
	want := tracesOf(t, "shop.otlp.jsonl")
	require.Equal(t, 43, otlpgen.NumSpans(want))
	from := "shop.otlp.jsonl"
	for _, to := range []string{"a.otlp", "b.amudai.shard", "c.otlp.json", "d.blockpack", "e.parquet", "f.otlp", "g.arrow", "h.otlp.jsonl"} {
		ok(t, "convert", from, to)
		from = to
	}
	for _, name := range []string{"a.otlp", "c.otlp.json", "f.otlp", "h.otlp.jsonl"} {
		require.Empty(t, otlpgen.Diff(want, tracesOf(t, name)), name)
	}
	require.Contains(t, ok(t, "schema", "a.otlp"), "resource.service.name")
	require.Equal(t, "span:name\nauthorize\nauthorize\n",
		ok(t, "cat", "--columns", "span:name", "--where", `"span.payment.attempt" >= 1`, "--format", "csv", "a.otlp"))

	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("traces", z.EncodeAll(shop, nil), 0o600)) // found by the first bytes
	require.True(t, ok(t, "head", "shop.otlp.jsonl") == ok(t, "head", "traces"))
	require.Contains(t, run(t, "head", "--from", "otlp", "b.amudai.shard").errout, "neither OTLP messages nor OTLP/JSON")
	require.NoError(t, os.WriteFile("a.csv", []byte("a\n1\n"), 0o600))
	require.Contains(t, run(t, "convert", "a.csv", "x.otlp").errout, `column "a" is none of spans`)
}

// TestOTLPRandom converts random traces, with keys and values that other formats may take for something else.
func TestOTLPRandom(t *testing.T) {
	t.Chdir(t.TempDir())
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		td := otlpgen.Traces().Draw(rt, "traces")
		want := []*tracev1.TracesData{td}
		if n++; otlpgen.NumSpans(want) == 0 || n > sweep.Count(15, 1000) {
			return
		}
		m, err := proto.Marshal(td)
		require.NoError(rt, err)
		require.NoError(rt, os.WriteFile("a.otlp", m, 0o600))
		from := "a.otlp"
		for _, to := range []string{"b.amudai.shard", "c.blockpack", "d.parquet", "e.otlp.json", "f.arrow", "g.otlp"} {
			r := run(t, "convert", "--force", from, to)
			require.Equal(rt, app.ExitOK, r.code, r.errout)
			from = to
		}
		require.Empty(rt, otlpgen.Diff(want, tracesOf(t, "e.otlp.json")))
		require.Empty(rt, otlpgen.Diff(want, tracesOf(t, "g.otlp")))
	})
}

// TestAttributeTypes has an attribute for each pair of types: one in a first span, the other in a second one. Both come back from each format, from one file
// and from two, whose columns of one name have different types.
func TestAttributeTypes(t *testing.T) {
	t.Chdir(t.TempDir())
	one := &commonv1.AnyValue{Value: &commonv1.AnyValue_IntValue{IntValue: 7}}
	values := map[string]*commonv1.AnyValue{
		"string": {Value: &commonv1.AnyValue_StringValue{StringValue: "7"}}, "int": one,
		"double": {Value: &commonv1.AnyValue_DoubleValue{DoubleValue: 7}}, "bool": {Value: &commonv1.AnyValue_BoolValue{BoolValue: true}},
		"bytes": {Value: &commonv1.AnyValue_BytesValue{BytesValue: []byte("7")}},
		"array": {Value: &commonv1.AnyValue_ArrayValue{ArrayValue: &commonv1.ArrayValue{Values: []*commonv1.AnyValue{one}}}},
		"map":   {Value: &commonv1.AnyValue_KvlistValue{KvlistValue: &commonv1.KeyValueList{Values: []*commonv1.KeyValue{{Key: "k", Value: one}}}}},
		"empty": {},
	}
	var spans [2]*tracev1.TracesData
	for i := range spans {
		var list []*commonv1.KeyValue
		for _, a := range slices.Sorted(maps.Keys(values)) {
			for _, b := range slices.Sorted(maps.Keys(values)) {
				list = append(list, &commonv1.KeyValue{Key: a + "." + b, Value: values[[]string{a, b}[i]]})
			}
		}
		event, link := &tracev1.Span_Event{Attributes: list}, &tracev1.Span_Link{TraceId: make([]byte, 16), SpanId: make([]byte, 8), Attributes: list}
		span := &tracev1.Span{TraceId: fmt.Appendf(nil, "%016d", i), SpanId: []byte("12345678"), Attributes: list, Events: []*tracev1.Span_Event{event}, Links: []*tracev1.Span_Link{link}}
		spans[i] = &tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{{
			Resource:   &resourcev1.Resource{Attributes: list},
			ScopeSpans: []*tracev1.ScopeSpans{{Scope: &commonv1.InstrumentationScope{Attributes: list}, Spans: []*tracev1.Span{span}}},
		}}}
		require.NoError(t, os.WriteFile(fmt.Sprint(i, ".otlp"), encoded(t, spans[i]), 0o600))
	}
	want := spans[:]
	require.NoError(t, os.WriteFile("all.otlp", encoded(t, &tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{spans[0].ResourceSpans[0], spans[1].ResourceSpans[0]}}), 0o600))
	for _, format := range []string{"blockpack", "amudai.shard", "parquet", "arrow", "otlp.json"} {
		all, united := "all."+format, "united."+format
		ok(t, "convert", "-q", "all.otlp", all)
		ok(t, "convert", "-q", all, format+".otlp")
		require.Empty(t, otlpgen.Diff(want, tracesOf(t, format+".otlp")), format)
		for _, i := range []string{"0.", "1."} {
			ok(t, "convert", "-q", i+"otlp", i+format)
		}
		ok(t, "convert", "-q", "0."+format, "1."+format, united)
		ok(t, "convert", "-q", united, "united."+format+".otlp")
		require.Empty(t, otlpgen.Diff(want, tracesOf(t, "united."+format+".otlp")), format)
	}
	ok(t, "blockpack", "merge", "0.blockpack", "1.blockpack", "merged.blockpack")
	ok(t, "convert", "-q", "merged.blockpack", "merged.otlp")
	require.Empty(t, otlpgen.Diff(want, tracesOf(t, "merged.otlp")))
	ok(t, "merge", "-q", "0.amudai.shard", "1.amudai.shard", "all.amudai.shard", "-o", "merged.amudai.shard")
	ok(t, "convert", "-q", "merged.amudai.shard", "merged2.otlp")
	require.Empty(t, otlpgen.Diff(append(want, want...), tracesOf(t, "merged2.otlp")))

	// Conditions know the columns apart, and a type that is asked for makes them one.
	require.Equal(t, "1\n", ok(t, "count", "0.blockpack", "1.amudai.shard", "--where", `"span.string.int" = '7'`))
	require.Equal(t, "1\n", ok(t, "count", "0.blockpack", "1.amudai.shard", "--where", `"span.string.int#int64" = 7`))
	require.Equal(t, "2\n", ok(t, "count", "0.blockpack", "1.amudai.shard", "--schema", "span.string.int:utf8", "--where", `"span.string.int" = '7'`))
	require.Contains(t, ok(t, "agg", "0.blockpack", "1.amudai.shard", `sum("span.int.double"), sum("span.int.double#float64")`), "\n7,7.0\n")
}
