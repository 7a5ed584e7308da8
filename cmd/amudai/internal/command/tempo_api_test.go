package command_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	resourcev1 "go.opentelemetry.io/proto/otlp/resource/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/command"
)

// tempo is a client that sends the requests of Grafana's data source for Tempo.
type tempo struct {
	t                *testing.T
	read, otlp, grpc string // addresses
	header           http.Header
	trusted          *tls.Config // nil without TLS
}

// startTempo runs serve until the test ends.
func startTempo(t *testing.T, dir string, flags ...string) *tempo {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	done := make(chan int, 1)
	args := append([]string{"serve", "--http", "127.0.0.1:0", "--otlp", "localhost:0", "--grpc", "127.0.0.1:0", "--age", "10ms", dir}, flags...)
	go func() { done <- command.Main(ctx, app.Env{Args: args, Stdout: io.Discard, Stderr: writer}) }()
	c := &tempo{t: t, header: http.Header{}}
	lines := bufio.NewScanner(reader)
	for lines.Scan() {
		_, address, _ := strings.Cut(lines.Text(), " at ")
		address, _, _ = strings.Cut(address, ",")
		switch {
		case strings.HasPrefix(address, "grpc://"):
			c.grpc = strings.TrimPrefix(address, "grpc://")
		case strings.HasSuffix(address, "/v1/traces"):
			c.otlp = address
		case strings.HasPrefix(address, "http"):
			c.read = address
		}
		if c.read != "" {
			break
		}
	}
	require.NotEmpty(t, c.read, "serve does not listen")
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	t.Cleanup(func() {
		cancel()
		require.Equal(t, app.ExitOK, <-done)
	})
	return c
}

func (c *tempo) do(method, address string, body []byte, header http.Header) (int, []byte, http.Header) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, address, bytes.NewReader(body))
	require.NoError(c.t, err)
	for _, h := range []http.Header{c.header, header} {
		for name, values := range h {
			r.Header[name] = values
		}
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	answer, err := (&http.Client{Transport: &http.Transport{TLSClientConfig: c.trusted, DisableKeepAlives: true}}).Do(r)
	require.NoError(c.t, err)
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	require.NoError(c.t, err)
	return answer.StatusCode, content, answer.Header
}

// get is the answer to a request with parameters: name, value, …
func (c *tempo) get(path string, params ...string) (int, string) {
	c.t.Helper()
	values := url.Values{}
	for i := 0; i < len(params); i += 2 {
		values.Set(params[i], params[i+1])
	}
	code, content, _ := c.do(http.MethodGet, c.read+path+"?"+values.Encode(), nil, nil)
	return code, string(content)
}

func (c *tempo) send(message []byte) {
	c.t.Helper()
	code, content, _ := c.do(http.MethodPost, c.otlp, message, http.Header{"Content-Type": {"application/x-protobuf"}})
	require.Equal(c.t, http.StatusOK, code, string(content))
}

// sendGRPC exports a message by OTLP over gRPC.
func (c *tempo) sendGRPC(message *tracev1.TracesData, headers ...string) error {
	c.t.Helper()
	transport := insecure.NewCredentials()
	if c.trusted != nil {
		transport = credentials.NewTLS(c.trusted)
	}
	options := []grpc.DialOption{grpc.WithTransportCredentials(transport)}
	if host := c.header.Get("Host"); host != "" {
		options = append(options, grpc.WithAuthority(host))
	}
	connection, err := grpc.NewClient(c.grpc, options...)
	require.NoError(c.t, err)
	defer connection.Close()
	ctx := metadata.AppendToOutgoingContext(c.t.Context(), headers...)
	return connection.Invoke(ctx, "/opentelemetry.proto.collector.trace.v1.TraceService/Export", message, &tracev1.TracesData{})
}

// eventually asks until an answer has a text.
func (c *tempo) eventually(want, path string, params ...string) string {
	c.t.Helper()
	for range 500 {
		if code, content := c.get(path, params...); code == http.StatusOK && strings.Contains(content, want) {
			return content
		}
		time.Sleep(20 * time.Millisecond)
	}
	code, content := c.get(path, params...)
	require.Fail(c.t, "not found", "%s: %d %s", want, code, content)
	return ""
}

func payment(trace string, start time.Time, service string) *tracev1.TracesData {
	id, _ := hex.DecodeString(trace)
	text := func(s string) *commonv1.AnyValue {
		return &commonv1.AnyValue{Value: &commonv1.AnyValue_StringValue{StringValue: s}}
	}
	span := &tracev1.Span{TraceId: id, SpanId: []byte("12345678"), Name: "pay", Kind: tracev1.Span_SPAN_KIND_SERVER,
		StartTimeUnixNano: uint64(start.UnixNano()), EndTimeUnixNano: uint64(start.Add(250 * time.Millisecond).UnixNano()),
		Status: &tracev1.Status{Code: tracev1.Status_STATUS_CODE_ERROR}, Attributes: []*commonv1.KeyValue{{Key: "http.route", Value: text("/pay")}}}
	return &tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{{
		Resource:   &resourcev1.Resource{Attributes: []*commonv1.KeyValue{{Key: "service.name", Value: text(service)}}},
		ScopeSpans: []*tracev1.ScopeSpans{{Spans: []*tracev1.Span{span}}},
	}}}
}

func encoded(t *testing.T, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	require.NoError(t, err)
	return b
}

// Ids of traces that tests send.
const (
	byHTTP = "0123456789abcdef0123456789abcdef"
	byGRPC = "fedcba9876543210fedcba9876543210"
)

func TestTempoAPI(t *testing.T) {
	dir := t.TempDir()
	shopFile, err := filepath.Abs(filepath.Join("..", "..", "..", "..", "testdata", "traces", "shop.otlp.jsonl"))
	require.NoError(t, err)
	ok(t, "convert", "-q", shopFile, filepath.Join(dir, "old.parquet"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("no spans\n"), 0o600))
	c := startTempo(t, dir)

	code, text := c.get("/api/echo")
	require.Equal(t, "200 echo", fmt.Sprint(code, " ", text))
	_, text = c.get("/api/status/buildinfo")
	require.Contains(t, text, `"version":"`+app.Version)

	start := time.Now().Add(-time.Minute)
	from, to := fmt.Sprint(start.Unix()-3600), fmt.Sprint(start.Unix()+3600)
	c.send(encoded(t, payment(byHTTP, start, "bank")))
	require.NoError(t, c.sendGRPC(payment(byGRPC, start, "mint")))
	text = c.eventually(byHTTP, "/api/search", "q", `{ resource.service.name = "bank" }`, "limit", "20", "spss", "10", "start", from, "end", to)
	var found struct {
		Traces []struct {
			TraceID, RootServiceName, RootTraceName string
			DurationMs                              int
			SpanSets                                []struct{ Matched int }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &found))
	require.Len(t, found.Traces, 1)
	require.Equal(t, "bank pay 250", fmt.Sprint(found.Traces[0].RootServiceName, " ", found.Traces[0].RootTraceName, " ", found.Traces[0].DurationMs))
	require.Equal(t, 1, found.Traces[0].SpanSets[0].Matched)
	c.eventually(byGRPC, "/api/search", "q", `{ status = error }`, "start", from, "end", to)

	for _, q := range []struct {
		path   string
		params []string
		want   string
	}{
		{"/api/search", []string{"tags", `service.name=BAN http.route="/p"`, "minDuration", "200ms", "maxDuration", "1s"}, byHTTP},
		{"/api/search", []string{"q", "{ status = error }", "start", "1767607200", "end", "1767607300"}, checkout},
		{"/api/search", []string{"q", `{ name = "pay" }`, "start", "1767607200", "end", "1767607300"}, `"traces":[]`},
		{"/api/search/tags", nil, `"service.name"`},
		{"/api/search/tags", []string{"scope", "intrinsic"}, `"span:name"`},
		{"/api/v2/search/tags", []string{"start", from, "end", to}, `{"name":"resource","tags":["`},
		{"/api/v2/search/tags", []string{"scope", "span", "limit", "1"}, `"scopes":[{"name":"span","tags":["db.collection.name"]}]`},
		{"/api/search/tag/service.name/values", nil, `"bank"`},
		{"/api/search/tag/name/values", nil, `"pay"`},
		{"/api/search/tag/name/values", []string{"start", from, "end", to}, `"tagValues":["pay"]}`},
		{"/api/v2/search/tag/name/values", []string{"start", from, "end", to}, `"tagValues":[{"type":"string","value":"pay"}]}`},
		{"/api/v2/search/tag/name/values", []string{"start", "5", "end", "6"}, `"tagValues":[]}`},
		{"/api/v2/search/tags", []string{"start", from, "end", to, "scope", "span"}, `{"name":"span","tags":["http.route"]}]`},
		{"/api/search/tags", []string{"start", "5", "end", "6"}, `"tagNames":[]}`},
		{"/api/v2/search/tag/resource.service.name/values", []string{"q", `{ span.http.route = "/pay" && resource.x = }`}, `[{"type":"string","value":"bank"},{"type":"string","value":"mint"}]`},
		{"/api/v2/search/tag/.service.name/values", []string{"q", `{ }`}, `"frontend"`},
		{"/api/v2/search/tag/status/values", nil, `{"type":"keyword","value":"error"}`},
		{"/api/v2/search/tag/span%2Ehttp.route/values", nil, `"/pay"`},
		{"/api/traces/" + byHTTP, nil, `{"batches":[{"resource"`},
		{"/api/v2/traces/" + byHTTP, []string{"start", from, "end", to}, `{"trace":{"resourceSpans":[{"resource"`},
		{"/api/v2/traces/" + checkout, nil, `"traceId":"` + checkout + `"`},
		{"/api/metrics/query_range", []string{"q", `{ name = "pay" } | count_over_time() by(resource.service.name)`, "start", from, "end", to, "step", "1h", "exemplars", "5"}, `{"key":"trace:id","value":{"stringValue":"` + byHTTP},
		{"/api/metrics/query_range", []string{"query", `{ } | rate()`, "since", "1h", "step", "60"}, `"__name__"`},
		{"/api/metrics/query", []string{"q", `{ name = "pay" } | count_over_time()`, "since", "1h"}, `{"labels":[{"key":"__name__","value":{"stringValue":"count_over_time"}}],"value":2}`},
	} {
		code, text := c.get(q.path, q.params...)
		require.Equal(t, http.StatusOK, code, "%s: %s", q.path, text)
		require.Contains(t, text, q.want, q.path)
	}

	// As Grafana asks for a trace.
	code, content, header := c.do(http.MethodGet, c.read+"/api/v2/traces/"+byHTTP, nil, http.Header{"Accept": {"application/protobuf"}})
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "application/protobuf", header.Get("Content-Type"))
	field, _, n := protowire.ConsumeTag(content)
	require.Equal(t, protowire.Number(1), field)
	trace, _ := protowire.ConsumeBytes(content[n:])
	data := &tracev1.TracesData{}
	require.NoError(t, proto.Unmarshal(trace, data))
	require.True(t, proto.Equal(payment(byHTTP, start, "bank"), data), data)

	for _, q := range []struct {
		path   string
		params []string
		code   int
		want   string
	}{
		{"/api/search", []string{"q", "{ nmae = 1 }"}, 400, "is name meant?"},
		{"/api/search", []string{"limit", "-1"}, 400, "limit=-1"},
		{"/api/search", []string{"start", "x"}, 400, "start=x is no time"},
		{"/api/search", []string{"start", "5", "end", "4"}, 400, "end is before start"},
		{"/api/search", []string{"minDuration", "x"}, 400, "minDuration"},
		{"/api/search", []string{"q", "{ } | rate()"}, 400, "time series"},
		{"/api/v2/search/tags", []string{"scope", "x"}, 400, "no such scope"},
		{"/api/v2/search/tag/x/values", nil, 400, "no intrinsic"},
		{"/api/traces/xyz", nil, 400, "is no id"},
		{"/api/traces/1", nil, 404, "trace not found"},
		{"/api/metrics/query_range", []string{"q", "{ }"}, 400, "finds traces"},
		{"/api/metrics/query_range", []string{"q", "{ } | rate()", "step", "0"}, 400, "step=0"},
		{"/api/metrics/query_range", []string{"q", "{ } | rate()", "step", "1ns"}, 422, "samples"},
		{"/api/metrics/query", []string{"q", "{ } | rate()", "start", "5", "end", "5"}, 400, "end is not after start"},
		{"/api/nothing", nil, 404, ""},
	} {
		code, text := c.get(q.path, q.params...)
		require.Equal(t, q.code, code, "%s %v: %s", q.path, q.params, text)
		require.Contains(t, text, q.want, q.path)
	}
	code, _, _ = c.do(http.MethodGet, c.read+"/api/echo", nil, http.Header{"Host": {"evil.example"}})
	require.Equal(t, http.StatusMisdirectedRequest, code)
	code, _, _ = c.do(http.MethodPost, c.read+"/api/search", nil, nil)
	require.Equal(t, http.StatusMethodNotAllowed, code)
	require.Equal(t, codes.InvalidArgument, status.Code(c.sendGRPC(&tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{{
		ScopeSpans: []*tracev1.ScopeSpans{{Spans: []*tracev1.Span{{TraceId: []byte("short")}}}}}}})))
}

func TestQueryTimeout(t *testing.T) {
	c := startTempo(t, t.TempDir(), "--query-timeout", "1ns")
	code, text := c.get("/api/search")
	require.Equal(t, http.StatusGatewayTimeout, code, text)
}

// Tenants see their own spans only, and nobody anything without a token.
func TestTenantsAndTokens(t *testing.T) {
	dir := t.TempDir()
	tokens := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(tokens, []byte("secret\nother\n"), 0o600))
	c := startTempo(t, dir, "--tenants", "--token", tokens, "--host", "traces.example")
	code, _ := c.get("/api/echo")
	require.Equal(t, http.StatusUnauthorized, code)
	require.Equal(t, codes.Unauthenticated, status.Code(c.sendGRPC(payment(byGRPC, time.Now(), "mint"), "x-scope-orgid", "b")))
	c.header = http.Header{"Authorization": {"Bearer other"}, "Host": {"traces.example"}}
	code, text := c.get("/api/search")
	require.Equal(t, http.StatusBadRequest, code, text)
	for _, name := range []string{"..", "a/b", "wal", ""} {
		c.header.Set("X-Scope-OrgID", name)
		code, text = c.get("/api/search")
		require.Equal(t, http.StatusBadRequest, code, text)
	}
	start := time.Now()
	c.header.Set("X-Scope-OrgID", "a")
	code, text = c.get("/api/search") // nothing was sent yet
	require.Equal(t, http.StatusOK, code, text)
	require.NoDirExists(t, filepath.Join(dir, "a"))
	c.send(encoded(t, payment(byHTTP, start, "bank")))
	require.NoError(t, c.sendGRPC(payment(byGRPC, start, "mint"), "authorization", "Bearer secret", "x-scope-orgid", "b"))
	text = c.eventually(byHTTP, "/api/search", "q", "{ }")
	require.NotContains(t, text, byGRPC)
	c.header.Set("X-Scope-OrgID", "b")
	text = c.eventually(byGRPC, "/api/search", "q", "{ }")
	require.NotContains(t, text, byHTTP)
}

// certificate writes a certificate for names and its key to files, and returns what trusts it.
func certificate(t *testing.T, names ...string) (cert, key string, trusted *tls.Config) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &secret.PublicKey, secret)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	require.NoError(t, err)
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	require.NoError(t, os.WriteFile(cert, public, 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	trusted = &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	require.True(t, trusted.RootCAs.AppendCertsFromPEM(public))
	return cert, key, trusted
}

// With TLS all listeners are encrypted, and a token and the host of a request count as without.
func TestTLS(t *testing.T) {
	cert, key, trusted := certificate(t, "localhost", "traces.example", "evil.example")
	tokens := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(tokens, []byte("secret\n"), 0o600))
	c := startTempo(t, t.TempDir(), "--tls-cert", cert, "--tls-key", key, "--token", tokens, "--host", "traces.example")
	for _, address := range []string{c.read, c.otlp} {
		require.True(t, strings.HasPrefix(address, "https://"), address)
		_, err := http.Get(address)
		require.ErrorAs(t, err, new(*tls.CertificateVerificationError))
		plain, err := http.Get(strings.Replace(address, "https", "http", 1))
		require.NoError(t, err)
		require.NoError(t, plain.Body.Close())
		require.Equal(t, http.StatusBadRequest, plain.StatusCode, "a request without TLS")
	}
	start := time.Now()
	require.Equal(t, codes.Unavailable, status.Code(c.sendGRPC(payment(byGRPC, start, "mint"), "authorization", "Bearer secret")), "a call without TLS")
	c.trusted = &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	require.Equal(t, codes.Unavailable, status.Code(c.sendGRPC(payment(byGRPC, start, "mint"), "authorization", "Bearer secret")), "a certificate that is not trusted")
	c.trusted = trusted
	for _, wrong := range []struct {
		host, token string
		http        int
		grpc        codes.Code
	}{
		{"", "", http.StatusUnauthorized, codes.Unauthenticated},
		{"", "Bearer secre", http.StatusUnauthorized, codes.Unauthenticated},
		{"", "secret", http.StatusUnauthorized, codes.Unauthenticated},
		{"evil.example", "Bearer secret", http.StatusMisdirectedRequest, codes.PermissionDenied},
	} {
		c.header = http.Header{"Authorization": {wrong.token}, "Host": {wrong.host}}
		code, text := c.get("/api/echo")
		require.Equal(t, wrong.http, code, text)
		code, _, _ = c.do(http.MethodPost, c.otlp, encoded(t, payment(byHTTP, start, "bank")), http.Header{"Content-Type": {"application/x-protobuf"}})
		require.Equal(t, wrong.http, code)
		require.Equal(t, wrong.grpc, status.Code(c.sendGRPC(payment(byGRPC, start, "mint"), "authorization", wrong.token)))
	}
	c.header = http.Header{"Authorization": {"Bearer secret"}, "Host": {"traces.example"}}
	_, text := c.get("/api/search", "q", "{ }")
	require.Contains(t, text, `"traces":[]`)
	c.send(encoded(t, payment(byHTTP, start, "bank")))
	require.NoError(t, c.sendGRPC(payment(byGRPC, start, "mint"), "authorization", "Bearer secret"))
	c.eventually(byHTTP, "/api/traces/"+byHTTP)
	c.eventually(`"rootServiceName":"mint"`, "/api/search", "q", "{ }")
}

// Small files are merged, and queries find all spans meanwhile.
func TestMergedFiles(t *testing.T) {
	dir := t.TempDir()
	c := startTempo(t, dir)
	ids := map[string]bool{}
	for i := range 20 {
		id := fmt.Sprintf("%032x", i+1)
		ids[id] = true
		c.send(encoded(t, payment(id, time.Now(), "bank")))
		c.eventually(id, "/api/search", "q", fmt.Sprintf(`{ trace:id = "%s" }`, id))
	}
	for merged := false; !merged; {
		files, err := filepath.Glob(filepath.Join(dir, "*.blockpack"))
		require.NoError(t, err)
		_, err = os.Stat(filepath.Join(dir, "wal", "merge"))
		merged = len(files) < 10 && errors.Is(err, fs.ErrNotExist)
		_, text := c.get("/api/search", "limit", "100")
		for id := range ids {
			require.Contains(t, text, id)
		}
	}
}
