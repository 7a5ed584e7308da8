package command_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/command"
	"github.com/amudai/amudai-go/table"
)

// receiving is the line that tells where serve listens.
func receiving(t *testing.T, r io.Reader) (url string) {
	t.Helper()
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if _, after, ok := strings.Cut(lines.Text(), "receiving traces at "); ok {
			url, _, _ = strings.Cut(after, ",")
			go func() { _, _ = io.Copy(io.Discard, r) }()
			return url
		}
	}
	require.Fail(t, "serve does not listen")
	return ""
}

func sendSpan(t *testing.T, url string, n int) {
	t.Helper()
	span := &tracev1.Span{TraceId: fmt.Appendf(nil, "%016d", n), SpanId: []byte("12345678"), Name: "pay", StartTimeUnixNano: 1, EndTimeUnixNano: 2}
	body, err := proto.Marshal(&tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{{ScopeSpans: []*tracev1.ScopeSpans{{Spans: []*tracev1.Span{span}}}}}})
	require.NoError(t, err)
	r, err := http.Post(url, "application/x-protobuf", bytes.NewReader(body))
	require.NoError(t, err)
	defer r.Body.Close()
	require.Equal(t, http.StatusOK, r.StatusCode)
}

// TestServe kills a receiver, and interrupts the next one. No span is lost.
func TestServe(t *testing.T) {
	if dir := os.Getenv("AMUDAI_TEST_SERVE"); dir != "" {
		os.Exit(command.Main(context.Background(), app.Env{Args: []string{"serve", "--http", "", "--grpc", "", "--otlp", "127.0.0.1:0", dir}, Stdout: os.Stdout, Stderr: os.Stderr}))
	}
	dir := filepath.Join(t.TempDir(), "new", "traces")
	process := exec.Command(os.Args[0], "-test.run=^TestServe$")
	process.Env = append(os.Environ(), "AMUDAI_TEST_SERVE="+dir)
	stderr, err := process.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	url := receiving(t, stderr)
	for n := range 5 {
		sendSpan(t, url, n)
	}
	require.Equal(t, app.ExitFailure, run(t, "serve", "--http", "", "--grpc", "", "--otlp", "127.0.0.1:0", dir).code) // it is in use
	require.NoError(t, process.Process.Kill())
	_ = process.Wait()

	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	var text bytes.Buffer
	code := make(chan int)
	go func() {
		code <- command.Main(ctx, app.Env{Args: []string{"serve", "--http", "", "--grpc", "", "--otlp", "127.0.0.1:0", dir}, Stdout: io.Discard, Stderr: io.MultiWriter(&text, writer)})
	}()
	sendSpan(t, receiving(t, reader), 5)
	cancel()
	require.Equal(t, app.ExitOK, <-code)
	require.Contains(t, text.String(), "is written anew from its log: 5 spans")
	require.Contains(t, text.String(), "1 span acknowledged; 2 files published")
	require.Contains(t, text.String(), "1 request answered, 1 acknowledged")

	names, err := filepath.Glob(filepath.Join(dir, "*.blockpack"))
	require.NoError(t, err)
	received, err := table.Open(t.Context(), names...)
	require.NoError(t, err)
	defer received.Close()
	spans, err := received.Count(t.Context(), table.ScanOptions{})
	require.NoError(t, err)
	require.Equal(t, int64(6), spans)
}

func TestServeUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		args string
		code int
		text string
	}{
		{"serve", app.ExitUsage, "the folder"},
		{"serve --size x d", app.ExitUsage, "--size"},
		{"serve --queue 0 d", app.ExitUsage, `--queue: "0" is not a size`},
		{"serve --queue 1MiB d", app.ExitUsage, "--queue 1MiB is too small for --max-request 16MiB"},
		{"serve --age -1s d", app.ExitUsage, "--age -1s is not more than 0"},
		{"serve --otlp nonsense d", app.ExitFailure, "--otlp localhost:4319"},
	} {
		r := run(t, strings.Fields(c.args)...)
		require.Equal(t, c.code, r.code, c.args)
		require.Contains(t, r.errout, c.text, c.args)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	r := run(t, "serve", "--otlp", l.Addr().String(), "d")
	require.Equal(t, app.ExitFailure, r.code)
	require.Contains(t, r.errout, "in use")
	require.NoDirExists(t, "d")
}
