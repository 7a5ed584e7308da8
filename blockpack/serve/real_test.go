package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/blockpack/internal/otlp"
	"github.com/amudai/amudai-go/blockpack/internal/wire"
	"github.com/amudai/amudai-go/blockpack/serve"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/leaktest"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
)

var ctx = context.Background()

// stored are the spans of all files in a folder.
func stored(t testing.TB, dir string) (all []*tracev1.TracesData) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.blockpack"))
	require.NoError(t, err)
	for _, name := range names {
		f, err := blockpack.Open(ctx, name, blockpack.Options{})
		require.NoError(t, err)
		for batch, err := range f.Scan(ctx, nil, filter.Expr{}) {
			require.NoError(t, err)
			message, err := otlp.AppendTraces(nil, batch, nil)
			require.NoError(t, err)
			all = append(all, otlpgen.Parse(t, [][]byte{message})...)
		}
		require.NoError(t, f.Close())
	}
	return all
}

// TestRealTraces sends real traces in all forms over a connection. The files have the same spans.
func TestRealTraces(t *testing.T) {
	messages := otlpgen.Corpus(t, "zipkin_lens.otlp")
	defer leaktest.Goroutines(t)()
	dir := t.TempDir()
	s, err := serve.Open(ctx, dir, serve.Options{FileBytes: 1 << 10, Writer: blockpack.WriterOptions{BlockSpans: 50}})
	require.NoError(t, err)
	server := httptest.NewServer(s)
	var wait sync.WaitGroup
	for i, message := range messages {
		wait.Go(func() {
			contentType, body := "application/x-protobuf", message
			if i%3 == 1 {
				contentType = "application/json"
				var err error
				if body, err = new(wire.JSON).Append(nil, message, wire.TracesData); err != nil {
					t.Error(err)
					return
				}
			}
			r, err := http.NewRequest(http.MethodPost, server.URL+serve.Path, nil)
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Content-Type", contentType)
			if i%2 == 1 {
				var zipped bytes.Buffer
				w := gzip.NewWriter(&zipped)
				_, _ = w.Write(body)
				_ = w.Close()
				body = zipped.Bytes()
				r.Header.Set("Content-Encoding", "gzip")
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			response, err := server.Client().Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer response.Body.Close()
			if answer, _ := io.ReadAll(response.Body); response.StatusCode != 200 || response.Header.Get("Content-Type") != contentType || strings.Trim(string(answer), "{}") != "" {
				t.Errorf("status %d: %q", response.StatusCode, answer)
			}
		})
	}
	wait.Wait()
	server.Close()
	require.NoError(t, s.Close(ctx))
	require.Empty(t, otlpgen.Diff(otlpgen.Parse(t, messages), stored(t, dir)))
	require.Equal(t, int64(1118), s.Stats().Spans)
}

// TestBadIDs stores the spans of a message whose ids have the right lengths.
func TestBadIDs(t *testing.T) {
	dir := t.TempDir()
	s, err := serve.Open(ctx, dir, serve.Options{})
	require.NoError(t, err)
	td := numbered(0, 4)
	td.ResourceSpans[0].ScopeSpans[0].Spans[1].TraceId = []byte("short")
	b, err := proto.Marshal(td)
	require.NoError(t, err)
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, serve.Path, bytes.NewReader(b))
	r.Header.Set("Content-Type", "application/x-protobuf")
	s.ServeHTTP(w, r)
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Body.String(), "trace:id")
	require.NoError(t, s.Close(ctx))
	require.Equal(t, 3, otlpgen.NumSpans(stored(t, dir)))
	require.Equal(t, int64(1), s.Stats().Rejected)
}

// numbered is a message with n spans, whose names have the number of the message.
func numbered(message int64, n int) *tracev1.TracesData {
	ss := &tracev1.ScopeSpans{}
	for i := range n {
		ss.Spans = append(ss.Spans, &tracev1.Span{
			TraceId: fmt.Appendf(nil, "%016d", message), SpanId: fmt.Appendf(nil, "%08d", i), Name: fmt.Sprintf("%d.%d", message, i),
			StartTimeUnixNano: uint64(message), EndTimeUnixNano: uint64(message) + 5,
		})
	}
	return &tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{{ScopeSpans: []*tracev1.ScopeSpans{ss}}}}
}

// TestKill kills a receiver while it stores spans and publishes files. The next one has all spans that were acknowledged, once.
func TestKill(t *testing.T) {
	if dir := os.Getenv("AMUDAI_TEST_RECEIVER"); dir != "" {
		receiveForever(dir)
		return
	}
	dir := t.TempDir()
	acknowledged := map[string]bool{}
	var next atomic.Int64
	for round := range 4 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKill$")
		cmd.Env = append(os.Environ(), "AMUDAI_TEST_RECEIVER="+dir)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		address, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)

		// Several clients send until one request more was answered than this round waits for, and the process is killed.
		var mu sync.Mutex
		var wait sync.WaitGroup
		enough := make(chan struct{})
		answered := 0
		for range 4 {
			wait.Go(func() {
				for {
					n := next.Add(1)
					if !send("http://"+strings.TrimSpace(address)+serve.Path, numbered(n, 10)) {
						return
					}
					mu.Lock()
					acknowledged[fmt.Sprint(n)] = true
					if answered++; answered == 30+60*round {
						close(enough)
					}
					mu.Unlock()
				}
			})
		}
		<-enough
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		wait.Wait()
	}
	s, err := serve.Open(ctx, dir, serve.Options{})
	require.NoError(t, err)
	require.NoError(t, s.Close(ctx))
	found := map[string]int{}
	for _, td := range stored(t, dir) {
		for _, rs := range td.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, span := range ss.Spans {
					message, _, _ := strings.Cut(span.Name, ".")
					found[message]++
				}
			}
		}
	}
	for message := range acknowledged {
		require.Equal(t, 10, found[message], "spans of message %s, which was acknowledged", message)
	}
	for message, n := range found {
		require.Equal(t, 10, n, "spans of message %s", message)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range left {
		require.True(t, e.Name() == "wal" || strings.HasSuffix(e.Name(), ".blockpack"), e.Name())
	}
}

func send(url string, td *tracev1.TracesData) bool {
	b, err := proto.Marshal(td)
	if err != nil {
		return false
	}
	response, err := http.Post(url, "application/x-protobuf", bytes.NewReader(b))
	if err != nil {
		return false
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err == nil && response.StatusCode == http.StatusOK
}

// receiveForever receives traces until the process is killed. It prints its address.
func receiveForever(dir string) {
	s, err := serve.Open(ctx, dir, serve.Options{FileBytes: 1, LogBytes: 20 << 10, Writer: blockpack.WriterOptions{BlockSpans: 100}})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(l.Addr())
	fmt.Println(s.Serve(ctx, l))
}
