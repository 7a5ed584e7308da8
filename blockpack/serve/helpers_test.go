package serve

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/sys"
	"github.com/amudai/amudai-go/storage"
)

// fakeFile is a file that has the messages as they are: lengths of 4 bytes, and bytes. It refuses spans with the name "refuse".
type fakeFile struct {
	out   storage.Writer
	stats blockpack.WriterStats
	full  int64         // ErrTooManyBlocks after so many spans; 0: never
	hold  chan struct{} // WriteOTLP waits until it is closed; nil: it does not
}

func (f *fakeFile) WriteOTLP(ctx context.Context, message []byte) error {
	if f.hold != nil {
		<-f.hold
	}
	var td tracev1.TracesData
	if err := proto.Unmarshal(message, &td); err != nil {
		return fmt.Errorf("%w: %w", blockpack.ErrRefused, fault.Corruptf("%w", err))
	}
	spans := int64(0)
	for s := range spansOf(&td) {
		if s.Name == "refuse" {
			return fmt.Errorf("%w: its name is refuse", blockpack.ErrRefused)
		}
		spans++
	}
	if f.full > 0 && f.stats.Spans+spans > f.full {
		return blockpack.ErrTooManyBlocks
	}
	frame := append(binary.LittleEndian.AppendUint32(nil, uint32(len(message))), message...)
	if err := f.out.Write(ctx, frame); err != nil {
		return err
	}
	f.stats.Spans += spans
	f.stats.Bytes += int64(len(frame))
	return nil
}

func (f *fakeFile) Stats() blockpack.WriterStats    { return f.stats }
func (f *fakeFile) Close(ctx context.Context) error { return f.out.Publish(ctx) }
func (f *fakeFile) Abort(ctx context.Context) error { return f.out.Abort(ctx) }

// fakes are the parts of a server whose files are fake.
func fakes(fs sys.FS, clock clock, change func(f *fakeFile)) parts {
	return parts{fs: fs, clock: clock, create: func(ctx context.Context, location string) (spanWriter, error) {
		out, err := storage.NewLocal(fs).Create(ctx, location, storage.CreateOptions{})
		if err != nil {
			return nil, err
		}
		f := &fakeFile{out: out}
		if change != nil {
			change(f)
		}
		return f, nil
	}}
}

func spansOf(td *tracev1.TracesData) func(yield func(s *tracev1.Span) bool) {
	return func(yield func(s *tracev1.Span) bool) {
		for _, rs := range td.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					if !yield(s) {
						return
					}
				}
			}
		}
	}
}

// fakeSpans are the messages in the published fake files of a folder.
func fakeSpans(t testing.TB, dir string) (all []*tracev1.TracesData) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"+fileSuffix))
	require.NoError(t, err)
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		for len(data) > 0 {
			n := binary.LittleEndian.Uint32(data)
			td := &tracev1.TracesData{}
			require.NoError(t, proto.Unmarshal(data[4:4+n], td))
			all, data = append(all, td), data[4+n:]
		}
	}
	return all
}

// counts are how often each name of a span is stored.
func counts(all []*tracev1.TracesData) map[string]int {
	n := map[string]int{}
	for _, td := range all {
		for s := range spansOf(td) {
			n[s.Name]++
		}
	}
	return n
}

// traces is a message with a span of each name.
func traces(names ...string) *tracev1.TracesData {
	ss := &tracev1.ScopeSpans{Scope: &commonv1.InstrumentationScope{Name: "tests"}}
	for i, name := range names {
		ss.Spans = append(ss.Spans, &tracev1.Span{
			TraceId: []byte("0123456789abcdef"), SpanId: fmt.Appendf(nil, "%08d", i), Name: name, StartTimeUnixNano: 1, EndTimeUnixNano: 2,
		})
	}
	return &tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{{ScopeSpans: []*tracev1.ScopeSpans{ss}}}}
}

func encode(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	require.NoError(t, err)
	return b
}

// manualClock stands still until a test moves it.
type manualClock struct {
	mu     sync.Mutex
	now    time.Time
	timers map[chan time.Time]time.Time
}

func newClock() *manualClock {
	return &manualClock{now: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), timers: map[chan time.Time]time.Time{}}
}

func (c *manualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *manualClock) After(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ready := make(chan time.Time, 1)
	c.timers[ready] = c.now.Add(d)
	c.fire()
	return ready, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.timers, ready)
	}
}

func (c *manualClock) fire() {
	for ready, at := range c.timers {
		if !at.After(c.now) {
			ready <- c.now
			delete(c.timers, ready)
		}
	}
}

func (c *manualClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.fire()
}

// post sends a body as protobuf to a handler, and returns the response.
func post(h http.Handler, body []byte, headers ...string) *http.Response {
	r := httptest.NewRequest(http.MethodPost, Path, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/x-protobuf")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func bodyOf(t testing.TB, r *http.Response) []byte {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return b
}

// requireIdle checks that no request has memory any more.
func requireIdle(t testing.TB, s *Server) {
	t.Helper()
	require.True(t, s.budget.TryAcquire(s.o.QueueBytes), "all memory is given back")
	s.budget.Release(s.o.QueueBytes)
}

// logs are the names in the folder of logs.
func logs(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, LogFolder))
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(t, err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
