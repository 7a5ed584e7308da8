package blockpack_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/leaktest"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/internal/testing/tracegen"
	"github.com/amudai/amudai-go/storage"
)

var ctx = context.Background()

// write writes messages to a file in memory.
func write(t testing.TB, messages [][]byte, o blockpack.WriterOptions) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := blockpack.NewWriter(ctx, &out, o)
	require.NoError(t, err)
	for _, m := range messages {
		require.NoError(t, w.WriteOTLP(ctx, m))
	}
	require.NoError(t, w.Close(ctx))
	require.EqualValues(t, out.Len(), w.Stats().Bytes)
	return out.Bytes()
}

// TestSizes bounds the bytes of a span in files of real traces.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		corpus string
		spans  int
		limit  float64 // bytes of a span
	}{{"hotrod.otlp.zst", 148770, 56}, {"zipkin_lens.otlp", 1118, 75}} {
		all := float64(len(write(t, otlpgen.Corpus(t, c.corpus), blockpack.WriterOptions{}))) / float64(c.spans)
		t.Logf("%s: %.1f bytes a span", c.corpus, all)
		require.Less(t, all, c.limit)
	}
}

// split gives each span a message of its own.
func split(t testing.TB, messages [][]byte) (out [][]byte) {
	for _, td := range otlpgen.Parse(t, messages) {
		for _, rs := range td.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					one := &tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{{Resource: rs.Resource, SchemaUrl: rs.SchemaUrl, ScopeSpans: []*tracev1.ScopeSpans{
						{Scope: ss.Scope, SchemaUrl: ss.SchemaUrl, Spans: []*tracev1.Span{s}},
					}}}}
					out = append(out, marshal(t, one))
				}
			}
		}
	}
	return out
}

func marshal(t testing.TB, m proto.Message) []byte {
	wire, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	require.NoError(t, err)
	return wire
}

// TestBytesDependOnSpansOnly writes the same spans in one message, in several, and in one for each span, with and without goroutines.
func TestBytesDependOnSpansOnly(t *testing.T) {
	for _, c := range []struct {
		corpus string
		part   int // of the messages
	}{{"zipkin_lens.otlp", 1}, {"hotrod.otlp.zst", 50}} {
		messages := otlpgen.Corpus(t, c.corpus)
		messages = messages[:(len(messages)+c.part-1)/c.part]
		for i, m := range otlpgen.Parse(t, messages) { // events are stored as they come, so that the order of their fields counts
			messages[i] = marshal(t, m)
		}
		for _, o := range []blockpack.WriterOptions{{}, {BlockSpans: 100}, {BlockBytes: 100_000}, {BlockSpans: 777, Order: blockpack.OrderTrace}} {
			o.Parallelism = 1
			want := write(t, messages, o)
			for _, again := range [][][]byte{messages, {bytes.Join(messages, nil)}, split(t, messages)} {
				o.Parallelism = 3
				require.True(t, bytes.Equal(want, write(t, again, o)), "%s, %+v, %d messages", c.corpus, o, len(again))
			}
		}
	}
}

// TestFaults lets every operation of the store fail. Nothing is left then, neither a file nor a goroutine.
func TestFaults(t *testing.T) {
	messages := otlpgen.Corpus(t, "zipkin_lens.otlp")
	for _, op := range []faultstore.Op{faultstore.Create, faultstore.Write, faultstore.Sync, faultstore.Rename} {
		for k := 1; ; k += sweep.Step(3) {
			dir, check := t.TempDir(), leaktest.Goroutines(t)
			f := faultstore.New()
			f.FailFrom(op, k)
			path := filepath.Join(dir, "x.blockpack")
			err := writeFile(ctx, path, messages, blockpack.WriterOptions{Store: f.Local(), BlockSpans: 100, Parallelism: 2})
			check()
			if f.Count(op) < k {
				require.NoError(t, err)
				break
			}
			require.ErrorIs(t, err, faultstore.Err, "%v %d", op, k)
			if _, err := os.Stat(path); op != faultstore.Sync { // the folder is made durable behind the rename
				require.ErrorIs(t, err, fs.ErrNotExist, "%v %d", op, k)
				left, err := os.ReadDir(dir)
				require.NoError(t, err)
				require.Empty(t, left, "%v %d", op, k)
			}
		}
	}
}

func writeFile(ctx context.Context, path string, messages [][]byte, o blockpack.WriterOptions) error {
	w, err := blockpack.Create(ctx, path, o)
	if err != nil {
		return err
	}
	for _, m := range messages {
		if err := w.WriteOTLP(ctx, m); err != nil {
			return errors.Join(err, w.Abort(context.WithoutCancel(ctx)))
		}
	}
	return w.Close(ctx)
}

// TestCancel ends the context at each operation of the store.
func TestCancel(t *testing.T) {
	messages := otlpgen.Corpus(t, "zipkin_lens.otlp")
	for at := 1; ; at += sweep.Step(3) {
		ctx, cancel := context.WithCancel(ctx)
		dir, check := t.TempDir(), leaktest.Goroutines(t)
		f := faultstore.New()
		f.Before(func(_ faultstore.Op, n int) {
			if n == at {
				cancel()
			}
		})
		err := writeFile(ctx, filepath.Join(dir, "x.blockpack"), messages, blockpack.WriterOptions{Store: f.Local(), BlockSpans: 100, Parallelism: 2})
		cancel()
		check()
		left, rerr := os.ReadDir(dir)
		require.NoError(t, rerr)
		if err == nil {
			require.Len(t, left, 1)
			if f.Total() < at {
				break
			}
			continue // it was published already
		}
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, left)
	}
}

// TestRefused goes on behind messages that cannot be stored.
func TestRefused(t *testing.T) {
	messages := otlpgen.Corpus(t, "zipkin_lens.otlp")
	want := write(t, messages, blockpack.WriterOptions{})
	var out bytes.Buffer
	w, err := blockpack.NewWriter(ctx, &out, blockpack.WriterOptions{})
	require.NoError(t, err)
	for _, m := range messages {
		require.ErrorIs(t, w.WriteOTLP(ctx, m[:len(m)-1]), blockpack.ErrRefused)
		require.NoError(t, w.WriteOTLP(ctx, m))
		require.ErrorIs(t, w.WriteOTLP(ctx, append([]byte{0x0b}, m...)), blockpack.ErrRefused)
	}
	require.NoError(t, w.Close(ctx))
	require.True(t, bytes.Equal(want, out.Bytes()))
}

// TestEnd ends writers twice.
func TestEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.blockpack")
	w, err := blockpack.Create(ctx, path, blockpack.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Abort(ctx))
	require.NoError(t, w.Abort(ctx))
	require.Error(t, w.WriteOTLP(ctx, nil))
	require.Error(t, w.Flush(ctx))
	require.Error(t, w.Close(ctx))
	w, err = blockpack.Create(ctx, path, blockpack.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Close(ctx))
	require.NoError(t, w.Abort(ctx))
	_, err = blockpack.Create(ctx, path, blockpack.WriterOptions{})
	require.ErrorIs(t, err, fs.ErrExist)
	require.NoError(t, writeFile(ctx, path, nil, blockpack.WriterOptions{Overwrite: true}))
}

// TestOptions refuses options out of range.
func TestOptions(t *testing.T) {
	for _, o := range []blockpack.WriterOptions{
		{BlockSpans: -1}, {BlockSpans: blockpack.MaxBlockSpans + 1}, {BlockBytes: -1}, {Parallelism: -1}, {Order: 4},
		{Store: storage.NewMemory()},
	} {
		_, err := blockpack.NewWriter(ctx, io.Discard, o)
		require.Error(t, err, "%+v", o)
	}
}

// TestPeakMemory writes a million spans; a fifth of them without AMUDAI_SWEEP.
func TestPeakMemory(t *testing.T) {
	messages := otlpgen.Corpus(t, "hotrod.otlp.zst")
	messages = slices.Clone(messages[:len(messages)/7])
	for i, m := range messages {
		messages[i] = bytes.Clone(m) // not the whole corpus
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // as most programs
	debug.FreeOSMemory()
	repeats := sweep.Count(10, 50)
	var spans int64
	peak, err := measure.Peak(func() error {
		w, err := blockpack.NewWriter(ctx, io.Discard, blockpack.WriterOptions{Parallelism: 2})
		if err != nil {
			return err
		}
		for m := range tracegen.Repeat(messages, repeats) {
			if err := w.WriteOTLP(ctx, m); err != nil {
				return err
			}
		}
		defer func() { spans = w.Stats().Spans }()
		return w.Close(ctx)
	})
	require.NoError(t, err)
	t.Logf("%d spans, %.0f MiB", spans, peak)
	require.Less(t, peak, 256.0)
	require.Greater(t, spans, int64(20_000*repeats))
}

// TestLongValues ends blocks by the bytes of their spans, so that memory is bounded.
func TestLongValues(t *testing.T) {
	value := strings.Repeat("x", 1<<20)
	one := &tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{{ScopeSpans: []*tracev1.ScopeSpans{{Spans: []*tracev1.Span{{
		TraceId: make([]byte, 16), SpanId: make([]byte, 8), Name: value, StartTimeUnixNano: 1, EndTimeUnixNano: 2,
	}}}}}}}
	message := marshal(t, one)
	w, err := blockpack.NewWriter(ctx, io.Discard, blockpack.WriterOptions{BlockBytes: 10 << 20})
	require.NoError(t, err)
	for range 100 {
		require.NoError(t, w.WriteOTLP(ctx, message))
	}
	require.NoError(t, w.Close(ctx))
	require.Equal(t, 10, w.Stats().Blocks)
}

// TestManyAttributes writes more attributes than a block has room for: a message is never refused because of those before it.
func TestManyAttributes(t *testing.T) {
	var messages [][]byte
	for i := range 4 {
		s := &tracev1.Span{TraceId: make([]byte, 16), SpanId: make([]byte, 8), Name: "a"}
		for k := range 4000 {
			s.Attributes = append(s.Attributes, &commonv1.KeyValue{Key: fmt.Sprint(i, k), Value: &commonv1.AnyValue{Value: &commonv1.AnyValue_IntValue{IntValue: 1}}})
		}
		messages = append(messages, marshal(t, &tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{{ScopeSpans: []*tracev1.ScopeSpans{{Spans: []*tracev1.Span{s}}}}}}))
	}
	file := write(t, messages, blockpack.WriterOptions{})
	f := open(t, file)
	require.EqualValues(t, 2, inspected(t, file).Fact("blocks"))
	require.Empty(t, otlpgen.Diff(otlpgen.Parse(t, messages), spansOf(t, f)))
	w, err := blockpack.NewWriter(ctx, io.Discard, blockpack.WriterOptions{})
	require.NoError(t, err)
	require.ErrorIs(t, w.WriteOTLP(ctx, bytes.Join(messages, nil)), blockpack.ErrRefused, "one message of 16,000 attributes")
	require.NoError(t, w.Close(ctx))
}

// TestFullFile fills all blocks of a file. The message that does not fit is refused, and the file is complete without it.
func TestFullFile(t *testing.T) {
	if !sweep.All() {
		t.Skip("it writes 64,000 blocks")
	}
	message := split(t, otlpgen.Corpus(t, "zipkin_lens.otlp")[:1])[0]
	var out bytes.Buffer
	w, err := blockpack.NewWriter(ctx, &out, blockpack.WriterOptions{BlockSpans: 1})
	require.NoError(t, err)
	for err == nil {
		err = w.WriteOTLP(ctx, message)
	}
	require.ErrorIs(t, err, blockpack.ErrTooManyBlocks)
	require.NoError(t, w.Close(ctx))
	require.Equal(t, w.Stats().Spans, inspected(t, out.Bytes()).Fact("spans"))
}
