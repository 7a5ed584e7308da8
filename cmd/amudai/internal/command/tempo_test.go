package command_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/provider"
)

// writeBlock writes a block of Tempo with a trace of two spans.
func writeBlock(t *testing.T, dir string) {
	t.Helper()
	field := func(name string, of arrow.DataType) arrow.Field { return arrow.Field{Name: name, Type: of} }
	text, number, id := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Uint64, arrow.BinaryTypes.Binary
	dedicated := field("DedicatedAttributes", arrow.StructOf(arrow.Field{Name: "String01", Type: text, Nullable: true}))
	span := arrow.StructOf(field("SpanID", id), field("ParentSpanID", id), field("Name", text), field("StartTimeUnixNano", number),
		field("DurationNano", number), dedicated)
	ss := arrow.StructOf(field("Scope", arrow.StructOf(field("Name", text))), field("Spans", arrow.ListOf(span)))
	rs := arrow.StructOf(field("Resource", arrow.StructOf(field("ServiceName", text))), field("ss", arrow.ListOf(ss)))
	schema := arrow.NewSchema([]arrow.Field{field("TraceID", id), field("rs", arrow.ListOf(rs))}, nil)
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(`[{"TraceID":"MDEyMzQ1Njc4OWFiY2RlZg==","rs":[
		{"Resource":{"ServiceName":"shop"},"ss":[{"Scope":{"Name":"s"},"Spans":[
			{"SpanID":"MDAwMDAwMDE=","ParentSpanID":"","Name":"pay","StartTimeUnixNano":1000,"DurationNano":500,"DedicatedAttributes":{"String01":"eu"}},
			{"SpanID":"MDAwMDAwMDI=","ParentSpanID":"MDAwMDAwMDE=","Name":"send","StartTimeUnixNano":1100,"DurationNano":100,"DedicatedAttributes":{"String01":null}}]}]}]}]`))
	require.NoError(t, err)
	defer batch.Release()
	ctx := t.Context()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	out, err := storage.Local{}.Create(ctx, filepath.Join(dir, "data.parquet"), storage.CreateOptions{})
	require.NoError(t, err)
	sink, err := parquet.New(parquet.Options{}).Create(ctx, out, schema, provider.WriteOptions{})
	require.NoError(t, err)
	require.NoError(t, sink.Write(ctx, batch))
	require.NoError(t, sink.Close(ctx))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "meta.json"), []byte(`{"format":"vParquet4","dedicatedColumns":[{"n":"region"}]}`), 0o600))
}

// TestTempoBlocks converts blocks of Tempo: folders, their data files, and such files alone.
func TestTempoBlocks(t *testing.T) {
	t.Chdir(t.TempDir())
	writeBlock(t, "block")
	ok(t, "convert", "block", "a.blockpack")
	require.Contains(t, ok(t, "verify", "a.blockpack"), "sound")
	want := ok(t, "cat", "--format", "jsonl", "block")
	require.Contains(t, want, `"span.region":"eu"`)
	require.Contains(t, want, `"resource.service.name":"shop"`)
	require.Equal(t, 2, strings.Count(want, "\n"))
	lines := strings.Split(want, "\n")
	require.ElementsMatch(t, lines, strings.Split(ok(t, "cat", "--format", "jsonl", "a.blockpack"), "\n"))
	require.Equal(t, want, ok(t, "cat", "--format", "jsonl", "block/")) // as a shell completes it
	require.Equal(t, want, ok(t, "cat", "--format", "jsonl", "--from", "tempo", "block/data.parquet"))

	r := run(t, "cat", "--format", "jsonl", "block/data.parquet")
	require.Equal(t, want, r.out)
	require.Contains(t, r.errout, "--from parquet reads its columns")
	require.Contains(t, ok(t, "schema", "--from", "parquet", "block/data.parquet"), "TraceID")

	require.NoError(t, os.Rename("block/data.parquet", "alone.parquet"))
	r = run(t, "cat", "--format", "jsonl", "alone.parquet")
	require.Contains(t, r.out, `"span.DedicatedAttributes.String01":"eu"`)
	require.Contains(t, r.errout, "there is no meta.json")
	require.Equal(t, 1, strings.Count(r.errout, "there is no meta.json"), "the file is read twice")
	block, err := os.ReadFile("alone.parquet")
	require.NoError(t, err)
	piped := runContext(t.Context(), app.Env{Args: []string{"cat", "--format", "jsonl", "--from", "tempo", "-"}, Stdin: bytes.NewReader(block)})
	require.Equal(t, r.out, piped.out)
	r = run(t, "convert", "alone.parquet", "a.tempo", "--to", "tempo")
	require.NotZero(t, r.code)
}
