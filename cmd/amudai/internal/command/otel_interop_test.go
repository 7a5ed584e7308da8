package command_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/internal/testing/otlpgen"
)

// TestInteropOpenTelemetry has the SDK for Python send spans by HTTP and gRPC, with and without TLS and a token. They are found as they were sent: attributes of all
// types, events, links, what was dropped. AMUDAI_PYTHON is a Python that has the SDK and its exporters.
func TestInteropOpenTelemetry(t *testing.T) {
	program := python(t)
	if exec.CommandContext(t.Context(), program, "-c", "import opentelemetry.exporter.otlp.proto.grpc, opentelemetry.exporter.otlp.proto.http").Run() != nil {
		t.Skip("AMUDAI_PYTHON has no exporters of OpenTelemetry: make interop-formats PYTHON=...")
	}
	cert, key, trusted := certificate(t, "localhost")
	tokens := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(tokens, []byte("secret\n"), 0o600))
	for _, secure := range []bool{false, true} {
		var flags, access []string
		if secure {
			flags = []string{"--tls-cert", cert, "--tls-key", key, "--token", tokens}
			access = []string{cert, "secret"}
		}
		c := startTempo(t, t.TempDir(), flags...)
		if secure {
			c.trusted, c.header = trusted, http.Header{"Authorization": {"Bearer secret"}}
		}
		for _, sent := range []struct{ protocol, endpoint, id string }{{"http", c.otlp, byHTTP}, {"grpc", c.grpc, byGRPC}} {
			file := filepath.Join(t.TempDir(), "want")
			out, err := exec.CommandContext(t.Context(), program, append([]string{filepath.Join("testdata", "otel.py"), sent.protocol, sent.endpoint, sent.id, file}, access...)...).CombinedOutput()
			require.NoError(t, err, "%s: %s", sent.protocol, out)
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			want := &tracev1.TracesData{}
			require.NoError(t, proto.Unmarshal(content, want))
			require.Equal(t, 7, otlpgen.NumSpans([]*tracev1.TracesData{want}))
			require.Contains(t, want.String(), "bytes_value", "the SDK sends bytes")
			c.eventually("step 4", "/api/traces/"+sent.id)
			_, wire, _ := c.do(http.MethodGet, c.read+"/api/traces/"+sent.id, nil, http.Header{"Accept": {"application/protobuf"}})
			got := &tracev1.TracesData{}
			require.NoError(t, proto.Unmarshal(wire, got))
			require.Empty(t, otlpgen.Diff([]*tracev1.TracesData{want}, []*tracev1.TracesData{got}), sent.protocol)
			if sent.protocol != "http" {
				continue
			}
			_, text := c.get("/api/v2/search/tag/span.http.status_code/values")
			require.Equal(t, 1, strings.Count(text, `{"type":"string","value":"200"}`), text)
			require.Equal(t, 1, strings.Count(text, `{"type":"int","value":"200"}`), text)
		}
	}
}
