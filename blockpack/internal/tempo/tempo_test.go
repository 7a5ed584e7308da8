package tempo

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	resourcev1 "go.opentelemetry.io/proto/otlp/resource/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/table/provider"
)

// read returns the traces of a block.
func read(t testing.TB, data []byte, meta string, notice func(string)) ([]*tracev1.TracesData, error) {
	t.Helper()
	ctx := context.Background()
	var text []byte
	if meta != "" {
		text = []byte(meta)
	}
	if notice == nil {
		notice = func(string) {}
	}
	names, err := parseMeta(text, notice)
	if err != nil {
		return nil, err
	}
	in := bytes.NewReader(data)
	r, err := Open(ctx, provider.Input{Name: "block", Reader: in, At: in, Size: in.Size()}, names, nil)
	if err != nil {
		return nil, err
	}
	defer func() { require.NoError(t, r.Close()) }()
	var out []*tracev1.TracesData
	for {
		message, ok, err := r.Next(ctx)
		if err != nil {
			return nil, err
		}
		if !ok {
			return out, nil
		}
		td := &tracev1.TracesData{}
		if err := proto.Unmarshal(message, td); err != nil {
			return nil, err
		}
		sortAttributes(td)
		out = append(out, td)
	}
}

// sortAttributes sorts the attributes of events and links, whose order counts for otlpgen.Diff.
func sortAttributes(td *tracev1.TracesData) {
	byKey := func(a, b *commonv1.KeyValue) int { return strings.Compare(a.Key, b.Key) }
	for _, r := range td.ResourceSpans {
		for _, s := range r.ScopeSpans {
			for _, p := range s.Spans {
				for _, e := range p.Events {
					slices.SortStableFunc(e.Attributes, byKey)
				}
				for _, l := range p.Links {
					slices.SortStableFunc(l.Attributes, byKey)
				}
			}
		}
	}
}

// stored is a trace without what blocks do not store.
func stored(td *tracev1.TracesData) *tracev1.TracesData {
	td = proto.CloneOf(td)
	td.ProtoReflect().SetUnknown(nil)
	id := []byte("0123456789abcdef")
	for _, r := range td.ResourceSpans {
		r.SchemaUrl = ""
		r.ProtoReflect().SetUnknown(nil)
		if r.Resource == nil {
			r.Resource = &resourcev1.Resource{}
		}
		r.Resource.EntityRefs = nil
		r.Resource.Attributes = storedAttributes(r.Resource.Attributes)
		for _, s := range r.ScopeSpans {
			s.SchemaUrl = ""
			s.ProtoReflect().SetUnknown(nil)
			if s.Scope != nil {
				s.Scope.Attributes = storedAttributes(s.Scope.Attributes)
			}
			for _, p := range s.Spans {
				p.TraceId, p.Flags = id, 0
				p.ProtoReflect().SetUnknown(nil)
				p.Attributes = storedAttributes(p.Attributes)
				if p.Status != nil && p.Status.Code == 0 && p.Status.Message == "" {
					p.Status = nil
				}
				for _, e := range p.Events {
					e.Attributes = storedAttributes(e.Attributes)
				}
				for _, l := range p.Links {
					l.Flags, l.Attributes = 0, storedAttributes(l.Attributes)
				}
			}
		}
	}
	sortAttributes(td)
	return td
}

// storedAttributes keeps one attribute of a key: blocks keep no order of those with and without columns of their own.
func storedAttributes(attrs []*commonv1.KeyValue) (out []*commonv1.KeyValue) {
	seen := map[string]bool{}
	for _, kv := range attrs {
		if !seen[kv.Key] {
			seen[kv.Key] = true
			if kv.Value == nil {
				kv.Value = &commonv1.AnyValue{}
			}
			out = append(out, kv)
		}
	}
	return out
}

// TestMain draws fewer random cases than rapid by default, unless a sweep or -rapid.checks asks for more.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", strconv.Itoa(sweep.Count(25, 100))); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestRandomTraces writes random traces in all versions of the schema, and reads them back.
func TestRandomTraces(t *testing.T) {
	for _, v := range []version{v4early, v4, v5lists, v5} {
		t.Run(v.String(), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				var want []*tracev1.TracesData
				var rows []row
				for _, td := range rapid.SliceOfN(otlpgen.Traces(), 1, 5).Draw(rt, "traces") {
					td = stored(td)
					want, rows = append(want, td), append(rows, v.row(td))
				}
				got, err := read(t, v.write(t, rows), metaJSON, func(s string) { rt.Error(s) })
				if err != nil {
					rt.Fatal(err)
				}
				if d := otlpgen.Diff(want, got); d != "" {
					rt.Fatal(d)
				}
			})
		})
	}
}

func attribute(key string, v *commonv1.AnyValue) *commonv1.KeyValue {
	return &commonv1.KeyValue{Key: key, Value: v}
}

func textValue(s string) *commonv1.AnyValue {
	return &commonv1.AnyValue{Value: &commonv1.AnyValue_StringValue{StringValue: s}}
}

// sample is a trace with dedicated attributes of all scopes.
func sample() *tracev1.TracesData {
	return stored(&tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{{
		Resource: &resourcev1.Resource{Attributes: []*commonv1.KeyValue{attribute("service.name", textValue("shop")), attribute("ip", textValue("10.0.0.1"))}},
		ScopeSpans: []*tracev1.ScopeSpans{{Spans: []*tracev1.Span{{
			SpanId: []byte("12345678"), Name: "pay", StartTimeUnixNano: 100, EndTimeUnixNano: 50, // ends before it starts
			Attributes: []*commonv1.KeyValue{attribute("region", textValue("")), attribute("http.method", textValue("GET"))},
			Events:     []*tracev1.Span_Event{{TimeUnixNano: 70, Name: "e", Attributes: []*commonv1.KeyValue{attribute("exception.type", textValue("X"))}}},
		}}}},
	}}})
}

func TestDedicatedWithoutMeta(t *testing.T) {
	var notices []string
	got, err := read(t, v5.write(t, []row{v5.row(sample())}), "", func(s string) { notices = append(notices, s) })
	require.NoError(t, err)
	require.Len(t, notices, 3)
	require.Contains(t, notices[0], "the dedicated column String01 of resources has values, but there is no meta.json; its attribute is called DedicatedAttributes.String01")
	span := got[0].ResourceSpans[0].ScopeSpans[0].Spans[0]
	require.Equal(t, "DedicatedAttributes.String01", span.Attributes[1].Key)
	require.Equal(t, uint64(50), span.EndTimeUnixNano)
	require.Equal(t, uint64(70), span.Events[0].TimeUnixNano)
}

// TestManyBatches reads more traces than a batch has.
func TestManyBatches(t *testing.T) {
	rows := make([]row, 3*maxBatchRows+1)
	for i := range rows {
		rows[i] = v4.row(sample())
	}
	data := v4.write(t, rows)
	got, err := read(t, data, metaJSON, nil)
	require.NoError(t, err)
	require.Len(t, got, len(rows))
}

func TestErrors(t *testing.T) {
	sampleRow := func() row { return v4.row(sample()) }
	spans := func(r row) row {
		return r["rs"].([]any)[0].(row)["ss"].([]any)[0].(row)["Spans"].([]any)[0].(row)
	}
	broken := sampleRow()
	spans(broken)["Attrs"] = []any{row{"Key": "k", "ValueUnsupported": `{"kvlistValue"`}}
	for _, c := range []struct {
		data []byte
		meta string
		want string
	}{
		{v4.write(t, []row{sampleRow()}), `{"dedicatedColumns":3}`, "meta.json"},
		{v4.write(t, []row{sampleRow(), broken}), "{}", `trace 1/JSON, offset 14, in block`},
		{v4.write(t, []row{sampleRow()}), `{"format":"vParquet3"}`, `only vParquet4 and vParquet5`},
		{v4.write(t, []row{sampleRow()}), `{"format":"vParquet6"}`, `only vParquet4 and vParquet5`},
		{v4.write(t, []row{broken}), "{}", `rs.ss.Spans.Attrs.ValueUnsupported`},
		{[]byte("PAR1 is no Parquet file PAR1"), "{}", "cannot read a block of Tempo: "},
		{nil, "{}", "cannot read a block of Tempo: "},
	} {
		_, err := read(t, c.data, c.meta, nil)
		require.ErrorContains(t, err, c.want)
	}
}

// TestDamaged changes each byte of a block: the reader must not panic.
func TestDamaged(t *testing.T) {
	data := v5.write(t, []row{v5.row(sample())})
	for i := 0; i < len(data); i += sweep.Step(37) {
		b := bytes.Clone(data)
		b[i] ^= 0x41
		_, _ = read(t, b, "", func(string) {})
	}
}

func FuzzMeta(f *testing.F) {
	f.Add([]byte(metaJSON))
	f.Fuzz(func(t *testing.T, text []byte) {
		if names, err := parseMeta(text, func(string) {}); err == nil {
			names.name(ofSpan, "String01")
		}
	})
}

// TestTempoFiles reads the blocks in the repository of Tempo, whose folder is AMUDAI_TEMPO: Tempo has written the same traces as
// vParquet4 and as vParquet5.
func TestTempoFiles(t *testing.T) {
	folder := os.Getenv("AMUDAI_TEMPO")
	if folder == "" {
		t.Skip("AMUDAI_TEMPO is not set to the folder of Tempo's repository: blocks that Tempo wrote are NOT TESTED")
	}
	var versions []map[string]*tracev1.TracesData
	for _, v := range []string{"vparquet4", "vparquet5"} {
		found, err := filepath.Glob(filepath.Join(folder, "tempodb", "encoding", v, "test-data", "*", "*", DataFile))
		require.NoError(t, err)
		require.NotEmpty(t, found)
		data, err := os.ReadFile(found[0])
		require.NoError(t, err)
		meta, err := os.ReadFile(filepath.Join(filepath.Dir(found[0]), MetaFile))
		require.NoError(t, err)
		got, err := read(t, data, string(meta), func(s string) { t.Error(s) })
		require.NoError(t, err)
		byID := map[string]*tracev1.TracesData{}
		for _, td := range got {
			id := string(td.ResourceSpans[0].ScopeSpans[0].Spans[0].TraceId)
			require.Len(t, id, 16)
			byID[id] = td
		}
		versions = append(versions, byID)
		t.Logf("%s: %d traces, %d spans", v, len(got), otlpgen.NumSpans(got))
	}
	same := 0
	for id, td := range versions[0] {
		if other := versions[1][id]; other != nil {
			require.Empty(t, otlpgen.Diff([]*tracev1.TracesData{td}, []*tracev1.TracesData{other}))
			same++
		}
	}
	require.Greater(t, same, 100)
}
