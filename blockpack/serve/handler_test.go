package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/internal/base/sys"
	"github.com/amudai/amudai-go/internal/testing/leaktest"
)

func zipped(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(b)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

// fakeServer is a server with fake files that ends with the test.
func fakeServer(t testing.TB, o Options) (*Server, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := open(ctx, dir, o, fakes(sys.OS{}, newClock(), nil))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, s.Close(ctx))
		requireIdle(t, s)
	})
	return s, dir
}

// fields are the fields of an encoded message.
func fields(t testing.TB, b []byte) (numbers map[protowire.Number]uint64, texts map[protowire.Number]string) {
	t.Helper()
	numbers, texts = map[protowire.Number]uint64{}, map[protowire.Number]string{}
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		require.Positive(t, n)
		switch b = b[n:]; kind {
		case protowire.VarintType:
			numbers[field], n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			texts[field], n = protowire.ConsumeString(b)
		default:
			t.Fatalf("field %d of kind %d", field, kind)
		}
		require.GreaterOrEqual(t, n, 0)
		b = b[n:]
	}
	return numbers, texts
}

// TestRefusals sends what must be refused, as protobuf and as JSON. The body of each answer is a google.rpc.Status.
func TestRefusals(t *testing.T) {
	s, dir := fakeServer(t, Options{MaxRequestBytes: 1000, MaxMessageBytes: 2000})
	good := encode(t, traces("good"))
	for _, c := range []struct {
		name    string
		body    []byte
		headers []string
		status  int
		text    string
	}{
		{"no protobuf", []byte("xyz"), nil, 400, ""},
		{"a span without end", good[:len(good)-3], nil, 400, ""},
		{"too large", make([]byte, 1001), nil, 413, "at most 1000 bytes"},
		{"a bomb", zipped(t, make([]byte, 100_000)), []string{"Content-Encoding", "gzip"}, 413, "2000 after decompression"},
		{"no gzip", good, []string{"Content-Encoding", "gzip"}, 400, "gzip"},
		{"half a gzip", zipped(t, good)[:30], []string{"Content-Encoding", "gzip"}, 400, ""},
		{"another encoding", good, []string{"Content-Encoding", "br"}, 415, "encoding"},
		{"another type", good, []string{"Content-Type", "text/plain"}, 415, "content type"},
		{"a bad type", good, []string{"Content-Type", ";;"}, 415, "content type"},
		{"no span can be stored", encode(t, traces("refuse", "refuse")), nil, 400, "its name is refuse"},
		{"no JSON", []byte(`{"resourceSpans":[}`), []string{"Content-Type", "application/json"}, 400, ""},
		{"deep JSON", []byte(strings.Repeat("[", 900)), []string{"Content-Type", "application/json; charset=utf-8"}, 400, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := post(s, c.body, c.headers...)
			require.Equal(t, c.status, r.StatusCode)
			require.Empty(t, r.Header.Get("Retry-After"))
			var st struct {
				Code    uint64
				Message string
			}
			if r.Header.Get("Content-Type") == "application/json" {
				require.NoError(t, json.NewDecoder(r.Body).Decode(&st))
			} else {
				numbers, texts := fields(t, bodyOf(t, r))
				st.Code, st.Message = numbers[1], texts[2]
			}
			require.Equal(t, uint64(3), st.Code)
			require.Contains(t, st.Message, c.text)
		})
	}
	for _, c := range []struct {
		method, path string
		status       int
	}{{"GET", Path, 405}, {"POST", "/", 404}, {"POST", "/v1/metrics", 404}} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		require.Equal(t, c.status, w.Code)
	}
	require.Equal(t, 200, post(s, good).StatusCode)
	require.Equal(t, 200, post(s, nil).StatusCode) // a message without spans
	require.Equal(t, 200, post(s, zipped(t, good), "Content-Encoding", "gzip").StatusCode)
	require.NoError(t, s.Close(ctx))
	require.Equal(t, map[string]int{"good": 2}, counts(fakeSpans(t, dir)))
	require.Equal(t, int64(15), s.Stats().Invalid)
}

// TestPartialSuccess stores the spans of a message that can be stored, and tells how many cannot.
func TestPartialSuccess(t *testing.T) {
	s, dir := fakeServer(t, Options{})
	m := traces("a", "refuse", "b")
	m.ResourceSpans = append(m.ResourceSpans, traces("c").ResourceSpans[0], traces("refuse", "refuse").ResourceSpans[0])
	m.ResourceSpans[0].ScopeSpans = append(m.ResourceSpans[0].ScopeSpans, traces("d").ResourceSpans[0].ScopeSpans[0])
	m.ResourceSpans[0].SchemaUrl = "https://example.org"
	_, response := fields(t, bodyOf(t, post(s, encode(t, m))))
	numbers, texts := fields(t, []byte(response[1]))
	require.Equal(t, uint64(3), numbers[1])
	require.Contains(t, texts[2], "its name is refuse")
	require.NoError(t, s.Close(ctx))
	all := fakeSpans(t, dir)
	require.Equal(t, map[string]int{"a": 1, "b": 1, "c": 1, "d": 1}, counts(all))
	require.Equal(t, int64(4), s.Stats().Spans)
	require.Equal(t, int64(3), s.Stats().Rejected)
	for _, td := range all {
		if td.ResourceSpans[0].ScopeSpans[0].Spans[0].Name != "c" {
			require.Equal(t, "https://example.org", td.ResourceSpans[0].SchemaUrl)
		}
		require.Equal(t, "tests", td.ResourceSpans[0].ScopeSpans[0].Scope.Name)
	}
}

// TestSplitBounds bounds the work for a message whose spans share much, and of which none can be stored.
func TestSplitBounds(t *testing.T) {
	m := traces(strings.Split(strings.Repeat("refuse ", 2000), " ")[:2000]...)
	m.ResourceSpans[0].SchemaUrl = strings.Repeat("x", 1<<20)
	tried := 0
	s := splitter{put: func([]byte) error {
		tried++
		return fmt.Errorf("%w: always", blockpack.ErrRefused)
	}}
	require.NoError(t, s.add(encode(t, m), 0, func(part []byte) []byte { return part }))
	require.Equal(t, int64(2000), s.rejected)
	require.Less(t, tried, 100)
}

// TestSuccessAsJSON checks the answers to JSON.
func TestSuccessAsJSON(t *testing.T) {
	w := httptest.NewRecorder()
	writeSuccess(w, true, answer{})
	require.JSONEq(t, `{}`, w.Body.String())
	w = httptest.NewRecorder()
	writeSuccess(w, true, answer{rejected: 3, reason: fmt.Errorf("bad \xff")})
	require.JSONEq(t, `{"partialSuccess":{"rejectedSpans":"3","errorMessage":"bad �"}}`, w.Body.String())
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))
}

// TestBomb decompresses much more than is accepted, and takes no memory for it.
func TestBomb(t *testing.T) {
	s, _ := fakeServer(t, Options{MaxMessageBytes: 1 << 20})
	body := zipped(t, make([]byte, 256<<20))
	before := leaktest.Allocated()
	require.Equal(t, 413, post(s, body, "Content-Encoding", "gzip").StatusCode)
	require.Less(t, leaktest.Allocated()-before, uint64(8<<20))
}

// TestSlowClients drops clients that do not send what they announce, or never end their headers.
func TestSlowClients(t *testing.T) {
	defer leaktest.Goroutines(t)()
	dir := t.TempDir()
	s, err := open(ctx, dir, Options{ReadTimeout: 20 * time.Millisecond}, fakes(sys.OS{}, newClock(), nil))
	require.NoError(t, err)
	server := httptest.NewServer(s)
	for _, request := range []struct {
		path, body string
		status     int
	}{{Path, "", 408}, {Path, "half", 408}, {Path, strings.Repeat("x", 20_000), 408}, {"/other", "half", 404}} {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		require.NoError(t, err)
		_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\nContent-Length: 30000\r\n\r\n%s", request.path, request.body)
		require.NoError(t, err)
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		require.Equal(t, request.status, r.StatusCode)
		require.NoError(t, c.Close())
	}
	// A client that leaves.
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\nContent-Length: 30000\r\n\r\nhalf", Path)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	server.Close()
	require.NoError(t, s.Close(ctx))
	requireIdle(t, s)
	require.Empty(t, fakeSpans(t, dir))
}

// TestKeepAlive sends several requests over one connection, also one that waits for 100 Continue after the deadlines of others.
func TestKeepAlive(t *testing.T) {
	s, dir := fakeServer(t, Options{})
	server := httptest.NewServer(s)
	defer server.Close()
	for i := range 3 {
		r, err := http.NewRequest(http.MethodPost, server.URL+Path, bytes.NewReader(encode(t, traces(fmt.Sprint(i)))))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-protobuf")
		r.Header.Set("Expect", "100-continue")
		response, err := server.Client().Do(r)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, 200, response.StatusCode)
	}
	require.NoError(t, s.Close(ctx))
	require.Len(t, counts(fakeSpans(t, dir)), 3)
}

func FuzzHandler(f *testing.F) {
	f.Add([]byte("\x0a\x00"), false, false)
	f.Add([]byte(`{"resourceSpans":[]}`), true, false)
	s, _ := fakeServer(f, Options{})
	f.Fuzz(func(t *testing.T, body []byte, asJSON, zip bool) {
		var headers []string
		if asJSON {
			headers = append(headers, "Content-Type", "application/json")
		}
		if zip {
			headers = append(headers, "Content-Encoding", "gzip")
		}
		if r := post(s, body, headers...); r.StatusCode != 200 && r.StatusCode != 400 {
			t.Fatalf("status %d", r.StatusCode)
		}
	})
}
