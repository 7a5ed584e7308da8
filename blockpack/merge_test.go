package blockpack_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/blockpack/internal/otlp"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/leaktest"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/storage"
)

// open opens a file in memory.
func open(t testing.TB, data []byte) *blockpack.File {
	t.Helper()
	f, err := blockpack.OpenReaderAt(ctx, "x.blockpack", bytes.NewReader(data), int64(len(data)), blockpack.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

// spansOf reads the spans of a file.
func spansOf(t testing.TB, f *blockpack.File) []*tracev1.TracesData {
	t.Helper()
	var messages [][]byte
	for batch, err := range f.Scan(ctx, nil, filter.Expr{}) {
		require.NoError(t, err)
		wire, err := otlp.AppendTraces(nil, batch, nil)
		require.NoError(t, err)
		messages = append(messages, wire)
	}
	return otlpgen.Parse(t, messages)
}

// bytesOf are the bytes of a file in a store.
func bytesOf(t testing.TB, store storage.Store, location string) []byte {
	t.Helper()
	r, err := store.Open(ctx, location)
	require.NoError(t, err)
	defer r.Close()
	size, err := r.Size(ctx)
	require.NoError(t, err)
	data := make([]byte, size)
	require.NoError(t, r.ReadAt(ctx, data, 0))
	return data
}

// merge merges files in memory, and opens the result.
func merge(t testing.TB, files []*blockpack.File, o blockpack.MergeOptions) (*blockpack.File, blockpack.MergeStats) {
	t.Helper()
	store := storage.NewMemory()
	o.Writer.Store = store
	stats, err := blockpack.Merge(ctx, "mem:///out", files, o)
	require.NoError(t, err)
	f, err := blockpack.Open(ctx, "mem:///out", blockpack.Options{Store: store})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f, stats
}

// TestMerge merges files that have half of their spans in common.
func TestMerge(t *testing.T) {
	for _, name := range []string{"zipkin_lens.otlp", "hotrod.otlp.zst"} {
		messages := otlpgen.Corpus(t, name)
		messages = messages[:min(len(messages), 20)]
		n := len(messages)
		parts := [][][]byte{messages[:n/2], messages[n/4 : 3*n/4], messages[n/2:], messages[:0]}
		var files []*blockpack.File
		spans := 0
		for i, p := range parts {
			files = append(files, open(t, write(t, p, blockpack.WriterOptions{BlockSpans: 100 + 150*i})))
			spans += otlpgen.NumSpans(otlpgen.Parse(t, p))
		}
		want := otlpgen.Parse(t, messages)
		for _, memory := range []int64{0, int64(spans) * 20} { // in one pass, in five
			f, stats := merge(t, files, blockpack.MergeOptions{MemoryBytes: memory, Writer: blockpack.WriterOptions{BlockSpans: 300}})
			require.Empty(t, otlpgen.Diff(want, spansOf(t, f)))
			unique := otlpgen.NumSpans(want)
			stats.Conflicts = 0 // some spans of Zipkin share their ids
			require.Equal(t, blockpack.MergeStats{Spans: int64(unique), Duplicates: int64(spans - unique)}, stats)
		}
	}
}

// TestMergeConflicts keeps spans that share their ids, and counts those of one kind.
func TestMergeConflicts(t *testing.T) {
	span := func(id byte, kind tracev1.Span_SpanKind, name string) []byte {
		wire, err := proto.Marshal(&tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{{ScopeSpans: []*tracev1.ScopeSpans{{Spans: []*tracev1.Span{{
			TraceId: bytes.Repeat([]byte{id}, 16), SpanId: bytes.Repeat([]byte{id}, 8), Kind: kind, Name: name, StartTimeUnixNano: 1, EndTimeUnixNano: 2,
		}}}}}}})
		require.NoError(t, err)
		return wire
	}
	a := [][]byte{span(1, 1, "a"), span(2, 2, "a"), span(3, 1, "a"), span(3, 1, "a")}
	b := [][]byte{span(1, 1, "b"), span(2, 3, "a"), span(1, 1, "a"), span(1, 1, "c"), span(4, 1, "a")}
	files := []*blockpack.File{open(t, write(t, a, blockpack.WriterOptions{BlockSpans: 2})), open(t, write(t, b, blockpack.WriterOptions{BlockSpans: 1}))}
	f, stats := merge(t, files, blockpack.MergeOptions{})
	want := otlpgen.Parse(t, [][]byte{a[0], a[1], a[2], b[0], b[1], b[3], b[4]})
	require.Empty(t, otlpgen.Diff(want, spansOf(t, f)))
	require.Equal(t, blockpack.MergeStats{Spans: 7, Duplicates: 2, Conflicts: 2}, stats)
}

// TestDropTraces writes a file without some traces.
func TestDropTraces(t *testing.T) {
	for _, name := range []string{"zipkin_lens.otlp", "hotrod.otlp.zst"} {
		messages := otlpgen.Corpus(t, name)
		messages = messages[:min(len(messages), 20)]
		in := open(t, write(t, messages, blockpack.WriterOptions{BlockSpans: 10, Order: blockpack.OrderArrival}))
		all := otlpgen.Parse(t, messages)
		var ids [][16]byte
		for _, td := range all {
			for _, rs := range td.ResourceSpans {
				for _, ss := range rs.ScopeSpans {
					ids = append(ids, [16]byte(ss.Spans[0].TraceId))
				}
			}
		}
		slices.SortFunc(ids, func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
		ids = slices.Compact(ids)
		ids = append(ids[:4], [16]byte{1})
		store := storage.NewMemory()
		stats, err := blockpack.DropTraces(ctx, "mem:///out", in, ids, blockpack.WriterOptions{Store: store, BlockSpans: 10})
		require.NoError(t, err)
		out, err := blockpack.Open(ctx, "mem:///out", blockpack.Options{Store: store})
		require.NoError(t, err)
		defer out.Close()
		dropped := 0
		for _, td := range all {
			for _, rs := range td.ResourceSpans {
				for _, ss := range rs.ScopeSpans {
					ss.Spans = slices.DeleteFunc(ss.Spans, func(s *tracev1.Span) bool {
						if slices.Contains(ids, [16]byte(s.TraceId)) {
							dropped++
							return true
						}
						return false
					})
				}
			}
		}
		require.Empty(t, otlpgen.Diff(all, spansOf(t, out)))
		require.Empty(t, verifyBytes(t, bytesOf(t, store, "mem:///out")).Problems, "indexes have no more and no less than the blocks")
		require.Equal(t, int64(dropped), stats.Dropped)
		require.Equal(t, len(ids)-1, stats.Traces)
		require.Positive(t, stats.Copied)
		require.Equal(t, int64(otlpgen.NumSpans(all)), stats.Spans)
		for _, id := range ids {
			for range out.Scan(ctx, nil, ofTraces([][]byte{id[:]})) {
				t.Fatal("a dropped trace is found")
			}
		}
	}
}

// TestMergeFaults lets operations of the stores fail, and cancels: nothing is left.
func TestMergeFaults(t *testing.T) {
	messages := otlpgen.Corpus(t, "zipkin_lens.otlp")
	dir := t.TempDir()
	in := filepath.Join(dir, "in.blockpack")
	require.NoError(t, writeFile(ctx, in, messages, blockpack.WriterOptions{BlockSpans: 300}))
	id := [16]byte(otlpgen.Parse(t, messages)[0].ResourceSpans[0].ScopeSpans[0].Spans[0].TraceId)
	for name, do := range map[string]func(ctx context.Context, store storage.Store, out string) error{
		"merge": func(ctx context.Context, store storage.Store, out string) error {
			f, err := blockpack.Open(ctx, in, blockpack.Options{Store: store})
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = blockpack.Merge(ctx, out, []*blockpack.File{f, f}, blockpack.MergeOptions{Writer: blockpack.WriterOptions{Store: store}})
			return err
		},
		"drop": func(ctx context.Context, store storage.Store, out string) error {
			f, err := blockpack.Open(ctx, in, blockpack.Options{Store: store})
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = blockpack.DropTraces(ctx, out, f, [][16]byte{id}, blockpack.WriterOptions{Store: store})
			return err
		},
	} {
		for _, op := range []faultstore.Op{faultstore.Open, faultstore.Read, faultstore.Create, faultstore.Write, faultstore.Rename} {
			for k := 1; ; k += sweep.Step(11) {
				check, f := leaktest.Goroutines(t), faultstore.New()
				f.FailFrom(op, k)
				out := filepath.Join(dir, "out.blockpack")
				err := do(ctx, f.Local(), out)
				check()
				left, rerr := os.ReadDir(dir)
				require.NoError(t, rerr)
				if f.Count(op) < k {
					require.NoError(t, err, "%s, %v %d", name, op, k)
					require.NoError(t, os.Remove(out))
					break
				}
				require.ErrorIs(t, err, faultstore.Err, "%s, %v %d", name, op, k)
				require.Len(t, left, 1, "%s, %v %d", name, op, k)
			}
		}
		cancelled, cancel := context.WithCancel(ctx)
		f := faultstore.New()
		f.Before(func(_ faultstore.Op, n int) {
			if n == 5 {
				cancel()
			}
		})
		require.ErrorIs(t, do(cancelled, f.Local(), filepath.Join(dir, "out.blockpack")), context.Canceled)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, left, 1)
	}
}
