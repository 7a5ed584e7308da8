package blockpack_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/blockpack/internal/read"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/take"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/storage"
)

// spans is a file that the engine is asked about.
type spans struct{ *read.Table }

func openFile(t testing.TB, file []byte, o read.Options) spans {
	t.Helper()
	f, err := read.Open(t.Context(), storage.FromBytes("a.blockpack", file), o)
	require.NoError(t, err)
	return spans{f}
}

// scan gives the rows of a scan.
func (f spans) scan(ctx context.Context, o scan.Options) iter.Seq2[scan.Batch, error] {
	return func(yield func(scan.Batch, error) bool) {
		if err := f.Load(ctx); err != nil {
			yield(scan.Batch{}, err)
			return
		}
		scan.Scan(ctx, f.Table, o)(yield)
	}
}

// count counts the rows that meet a condition.
func (f spans) count(ctx context.Context, e filter.Expr) (int64, error) {
	if err := f.Load(ctx); err != nil {
		return 0, err
	}
	return scan.Count(ctx, f.Table, e.Node())
}

// take gives single rows.
func (f spans) take(ctx context.Context, rows []int64) (arrow.RecordBatch, error) {
	if err := f.Load(ctx); err != nil {
		return nil, err
	}
	return take.Rows(ctx, f.Table, rows, take.Options{})
}

// row is a span as text: the values of its columns, without those that are null, zero or empty, by name and type.
type row map[string]string

func (r row) put(name string, v any) {
	text := ""
	switch v := v.(type) {
	case string:
		text = fmt.Sprintf("string %q", v)
	case []byte:
		text = fmt.Sprintf("bytes %x", v)
	case int64:
		text = fmt.Sprintf("int64 %d", v)
	case uint64:
		text = fmt.Sprintf("uint64 %d", v)
	case float64:
		text = fmt.Sprintf("float64 %x", math.Float64bits(v))
	case bool:
		text = fmt.Sprintf("bool %v", v)
	}
	r[name+" "+strings.SplitN(text, " ", 2)[0]] = text
}

// String lists the columns by name.
func (r row) String() string {
	var list []string
	for k, v := range r {
		list = append(list, k+"="+v)
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// rowsOfBatch are the rows of a batch.
func rowsOfBatch(t testing.TB, b arrow.RecordBatch) []row {
	rows := make([]row, b.NumRows())
	for i := range rows {
		rows[i] = row{}
	}
	for k, f := range b.Schema().Fields() {
		name := f.Name
		if n, ok := f.Metadata.GetValue("blockpack.name"); ok {
			name = n
		}
		for i := range rows {
			if c := b.Column(k); c.IsValid(i) {
				if v := valueOf(t, c, i); v != nil {
					rows[i].put(name, v)
				}
			}
		}
	}
	return rows
}

func valueOf(t testing.TB, arr arrow.Array, i int) any {
	switch a := arr.(type) {
	case *array.String:
		return a.Value(i)
	case *array.Binary:
		return a.Value(i)
	case *array.FixedSizeBinary:
		return a.Value(i)
	case *array.Int64:
		return a.Value(i)
	case *array.Uint64:
		return a.Value(i)
	case *array.Float64:
		return a.Value(i)
	case *array.Boolean:
		return a.Value(i)
	case *array.Timestamp:
		return uint64(a.Value(i))
	case *array.Duration:
		return uint64(a.Value(i))
	case *array.Dictionary:
		return valueOf(t, a.Dictionary(), a.GetValueIndex(i))
	}
	t.Fatalf("array of type %s", arr.DataType())
	return nil
}

// expected are the rows of messages: the columns that the specification names.
func expected(messages []*tracev1.TracesData) (rows []row) {
	for _, m := range messages {
		for _, rs := range m.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					r := row{}
					r.putAttributes("resource.", rs.Resource.GetAttributes())
					r.putAttributes("scope.", ss.Scope.GetAttributes())
					r.putAttributes("span.", s.Attributes)
					r.putIntrinsics(s, rs.SchemaUrl, ss.SchemaUrl)
					rows = append(rows, r)
				}
			}
		}
	}
	return rows
}

func (r row) putIntrinsics(s *tracev1.Span, resourceURL, scopeURL string) {
	duration := uint64(0)
	if s.EndTimeUnixNano > s.StartTimeUnixNano {
		duration = s.EndTimeUnixNano - s.StartTimeUnixNano
	}
	for name, v := range map[string]any{
		"trace:id": s.TraceId, "trace:state": s.TraceState, "span:id": s.SpanId, "span:parent_id": s.ParentSpanId, "span:name": s.Name,
		"span:kind": int64(s.Kind), "span:start": s.StartTimeUnixNano, "span:end": s.EndTimeUnixNano, "span:duration": duration,
		"span:status": int64(s.Status.GetCode()), "span:status_message": s.Status.GetMessage(),
		"span:dropped_attrs": uint64(s.DroppedAttributesCount), "span:dropped_events": uint64(s.DroppedEventsCount),
		"span:dropped_links": uint64(s.DroppedLinksCount), "resource:schema_url": resourceURL, "scope:schema_url": scopeURL,
	} {
		r.put(name, v)
	}
}

// putAttributes puts attributes of scalar types. Of several with one key the first counts.
func (r row) putAttributes(prefix string, list []*commonv1.KeyValue) {
	seen := map[string]bool{}
	for _, kv := range list {
		if seen[kv.Key] {
			continue
		}
		seen[kv.Key] = true
		switch v := kv.Value.GetValue().(type) {
		case *commonv1.AnyValue_StringValue:
			r.put(prefix+kv.Key, v.StringValue)
		case *commonv1.AnyValue_IntValue:
			r.put(prefix+kv.Key, v.IntValue)
		case *commonv1.AnyValue_DoubleValue:
			r.put(prefix+kv.Key, v.DoubleValue)
		case *commonv1.AnyValue_BoolValue:
			r.put(prefix+kv.Key, v.BoolValue)
		case *commonv1.AnyValue_BytesValue:
			r.put(prefix+kv.Key, v.BytesValue)
		}
	}
}

// comparable drops what a file need not have: zeros of fields, extension columns.
func comparable(r row) string {
	out := row{}
	for k, v := range r {
		name := strings.Fields(k)[0]
		intrinsic := !strings.HasPrefix(name, "span.") && !strings.HasPrefix(name, "resource.") && !strings.HasPrefix(name, "scope.")
		if intrinsic && (strings.HasSuffix(v, " 0") || strings.HasSuffix(v, ` ""`) || v == "bytes " || extensions[name]) {
			continue
		}
		out[k] = v
	}
	return out.String()
}

var extensions = map[string]bool{}

func init() {
	for _, name := range strings.Fields(`span:flags span:events span:links span:attrs_ext span:unknown resource:dropped_attrs resource:entity_refs
		resource:attrs_ext resource:unknown scope:name scope:version scope:dropped_attrs scope:attrs_ext scope:unknown`) {
		extensions[name] = true
	}
}

func sorted(rows []row) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = comparable(r)
	}
	slices.Sort(out)
	return out
}

func scanRows(t testing.TB, f spans, o scan.Options) (rows []row) {
	t.Helper()
	for b, err := range f.scan(t.Context(), o) {
		require.NoError(t, err)
		rows = append(rows, rowsOfBatch(t, b)...)
	}
	return rows
}

// All values of a file of the reference implementation are those that it was made of.
func TestReferenceValues(t *testing.T) {
	var m tracev1.TracesData
	require.NoError(t, proto.Unmarshal(golden(t, "ref_kinds.otlp.pb"), &m))
	f := openFile(t, golden(t, "ref_kinds.blockpack"), read.Options{})
	rows := scanRows(t, f, scan.Options{})
	require.Len(t, rows, 300)
	require.Equal(t, sorted(expected([]*tracev1.TracesData{&m})), sorted(rows))
}

// The other files of the reference implementation, whose defects are known.
func TestReferenceProbe(t *testing.T) {
	f := openFile(t, golden(t, "ref_probe.blockpack"), read.Options{})
	rows := scanRows(t, f, scan.Options{})
	require.Len(t, rows, 40)
	for _, r := range rows {
		require.Regexp(t, `^string "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"$`, r["span.request.id string"], "UUIDs are packed into 16 bytes")
	}
	empty := openFile(t, golden(t, "ref_empty.blockpack"), read.Options{})
	require.Empty(t, scanRows(t, empty, scan.Options{}))
}

// All values of files written here are those that they were made of, and in all layouts of batches.
func TestWrittenValues(t *testing.T) {
	for _, corpus := range []string{"hotrod.otlp.zst", "zipkin_lens.otlp"} {
		t.Run(corpus, func(t *testing.T) {
			messages := otlpgen.Corpus(t, corpus)
			messages = messages[:min(len(messages), sweep.Count(4, 40))]
			want := sorted(expected(otlpgen.Parse(t, messages)))
			for _, o := range []blockpack.WriterOptions{{}, {BlockSpans: 300}} {
				file := write(t, messages, o)
				f := openFile(t, file, read.Options{})
				for _, so := range []scan.Options{{}, {BatchRows: 17}, {AsReady: true, BatchRows: 100}} {
					require.Equal(t, want, sorted(scanRows(t, f, so)))
				}
				for _, ro := range []read.Options{{RawTimes: true}, {Distrust: true}} {
					require.Equal(t, want, sorted(scanRows(t, openFile(t, file, ro), scan.Options{BatchRows: 1000})))
				}
			}
		})
	}
}

// Take gives the rows of a scan, in any order.
func TestTake(t *testing.T) {
	messages := otlpgen.Corpus(t, "zipkin_lens.otlp")
	f := openFile(t, write(t, messages, blockpack.WriterOptions{BlockSpans: 100}), read.Options{})
	all := scanRows(t, f, scan.Options{})
	var numbers []int64
	for i := range 300 {
		numbers = append(numbers, int64((i*7919+13)%len(all)))
	}
	b, err := f.take(t.Context(), numbers)
	require.NoError(t, err)
	defer b.Release()
	for i, r := range rowsOfBatch(t, b) {
		require.Equal(t, all[numbers[i]].String(), r.String())
	}
	_, err = f.take(t.Context(), []int64{int64(len(all))})
	require.Error(t, err)
}

// A scan, a take and a search for a trace give the same arrays, in all types that columns may have.
func TestTypes(t *testing.T) {
	file := write(t, otlpgen.Corpus(t, "hotrod.otlp.zst")[:1], blockpack.WriterOptions{BlockSpans: 100})
	for _, o := range []read.Options{{}, {Events: true}, {Binary: true, RawTimes: true}} {
		f := openFile(t, file, o)
		require.NoError(t, f.Load(t.Context()))
		schema := f.ArrowSchema()
		taken := whole(t, f)
		require.True(t, taken.Schema().Equal(schema))
		row := 0
		var id []byte
		for b, err := range f.scan(t.Context(), scan.Options{BatchRows: 33}) {
			require.NoError(t, err)
			require.True(t, b.Schema().Equal(schema))
			for i := range int(b.NumRows()) {
				requireSameRow(t, taken, row, b, i)
				row++
			}
			id = slices.Clone(valueOf(t, b.Column(0), 0).([]byte))
		}
		require.EqualValues(t, taken.NumRows(), row)
		for b, err := range f.scan(t.Context(), scan.Options{Filter: ofTraces([][]byte{id}).Node()}) {
			require.NoError(t, err)
			for i := range int(b.NumRows()) {
				span := valueOf(t, b.Column(1), i)
				for k := range int(taken.NumRows()) {
					if bytes.Equal(valueOf(t, taken.Column(1), k).([]byte), span.([]byte)) {
						requireSameRow(t, taken, k, b, i)
					}
				}
			}
		}
	}
}

func requireSameRow(t testing.TB, a arrow.RecordBatch, i int, b arrow.RecordBatch, k int) {
	t.Helper()
	for c := range a.Columns() {
		require.Equal(t, a.Column(c).ValueStr(i), b.Column(c).ValueStr(k), a.ColumnName(c))
	}
}
