package s3_test

import (
	"bytes"
	"encoding/pem"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/fakes3"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/s3"
	"github.com/amudai/amudai-go/storage/storetest"
)

// content takes three parts of 5 MiB.
var content = bytes.Repeat([]byte("0123456789abcdef"), 12<<20/16)

func store() *s3.Store { return s3.New(s3.Options{Backoff: 1, PartBytes: 5 << 20, Parallel: 2}) }

func TestStore(t *testing.T) {
	server := fakes3.New(t)
	storetest.TestStore(t, store(), "s3://bucket/50%25 off/ü/")
	require.Zero(t, server.Uploads())
	require.NoError(t, storetest.Write(t.Context(), store(), "s3://bucket/large", content, storage.CreateOptions{}))
	storetest.TestReader(t, store(), "s3://bucket/large", content)
	require.ErrorIs(t, storetest.Write(t.Context(), store(), "s3://bucket/large", content, storage.CreateOptions{}), fs.ErrExist)
}

func TestRequests(t *testing.T) {
	server := fakes3.New(t)
	s := store()
	ctx := t.Context()
	require.NoError(t, storetest.Write(ctx, s, "s3://bucket/a", content[:5<<20], storage.CreateOptions{}))
	requests := server.Requests()
	require.Equal(t, []string{"HEAD a", "PUT a"}, requests)
	r, err := s.Open(ctx, "s3://bucket/a")
	require.NoError(t, err)
	_, _, err = r.ReadSuffix(ctx, 1000)
	require.NoError(t, err)
	_, err = r.Version(ctx)
	require.NoError(t, err)
	require.NoError(t, r.ReadAt(ctx, make([]byte, 10), 5))
	requests = server.Requests()
	require.Equal(t, []string{"GET a bytes=-1000", "GET a bytes=5-14"}, requests)
	require.NoError(t, storetest.Write(ctx, s, "s3://bucket/b", content, storage.CreateOptions{Overwrite: true}))
	requests = server.Requests()
	require.Equal(t, []string{"POST b", "PUT b", "PUT b", "PUT b", "POST b"}, requests)
}

// The server copies by itself.
func TestCopy(t *testing.T) {
	server := fakes3.New(t)
	server.Put("a", content)
	require.NoError(t, store().Copy(t.Context(), "s3://bucket/a", "", "s3://bucket/b", storage.CreateOptions{}))
	require.Equal(t, []string{"HEAD a", "HEAD b", "POST b", "PUT b", "POST b"}, server.Requests())
	require.True(t, bytes.Equal(content, server.Object("b")))

	// The answer to any request may be lost.
	for k := 1; ; k++ {
		server := fakes3.New(t)
		server.Put("a", content)
		server.Lost = func(n int, _ *http.Request) bool { return n == k }
		require.NoError(t, store().Copy(t.Context(), "s3://bucket/a", "", "s3://bucket/b", storage.CreateOptions{}))
		require.True(t, bytes.Equal(content, server.Object("b")))
		if len(server.Requests()) < k {
			break
		}
	}
}

// Whatever request fails, before the server does it or after: the object is there and whole, or there is an error, and nothing is left.
func TestFaultsOfWrites(t *testing.T) {
	for name, fault := range map[string]func(w http.ResponseWriter) bool{
		"503":   func(w http.ResponseWriter) bool { fakes3.Fail(w, 503, "SlowDown"); return true },
		"500":   func(w http.ResponseWriter) bool { fakes3.Fail(w, 500, "InternalError"); return true },
		"429":   func(w http.ResponseWriter) bool { fakes3.Fail(w, 429, "TooManyRequests"); return true },
		"cut":   func(w http.ResponseWriter) bool { panic(http.ErrAbortHandler) },
		"lost":  nil,
		"403":   func(w http.ResponseWriter) bool { fakes3.Fail(w, 403, "AccessDenied"); return true },
		"final": func(w http.ResponseWriter) bool { fakes3.Fail(w, 400, "InvalidRequest"); return true },
	} {
		for _, size := range []int{1000, len(content)} {
			for k := 1; ; k++ {
				server := fakes3.New(t)
				if fault == nil {
					server.Lost = func(n int, _ *http.Request) bool { return n == k }
				} else {
					server.Fault = func(n int, w http.ResponseWriter, _ *http.Request) bool { return n == k && fault(w) }
				}
				err := storetest.Write(t.Context(), store(), "s3://bucket/a", content[:size], storage.CreateOptions{})
				requests := server.Requests()
				if err == nil {
					require.True(t, bytes.Equal(content[:size], server.Object("a")))
				} else {
					require.Contains(t, []string{"403", "final"}, name, "%v: request %d of %v", err, k, requests)
					require.Empty(t, server.Keys())
				}
				require.Zero(t, server.Uploads(), "%s: request %d of %v", name, k, requests)
				if len(requests) < k {
					break
				}
			}
		}
	}
}

// A bit that changes on its way is an error, in an object of one request and in one of several.
func TestFlippedBytes(t *testing.T) {
	for _, size := range []int{8000, len(content)} {
		server := fakes3.New(t)
		server.Flips = true
		require.ErrorContains(t, storetest.Write(t.Context(), store(), "s3://bucket/a", content[:size], storage.CreateOptions{}), "XAmzContentSHA256Mismatch")
		require.Empty(t, server.Keys())
	}
}

// Every k-th request fails for good while an object is read.
func TestFaultsOfReads(t *testing.T) {
	for _, every := range []int{2, 3, 5} {
		server := fakes3.New(t)
		server.Put("a", content[:1<<20])
		server.Fault = func(n int, w http.ResponseWriter, _ *http.Request) bool {
			switch {
			case n%every != 0:
				return false
			case n%2 == 0:
				panic(http.ErrAbortHandler)
			}
			fakes3.Fail(w, 500, "InternalError")
			return true
		}
		storetest.TestReader(t, store(), "s3://bucket/a", content[:1<<20])
	}
}

func TestChangedWhileRead(t *testing.T) {
	server := fakes3.New(t)
	server.Put("a", []byte("first"))
	r, err := store().Open(t.Context(), "s3://bucket/a")
	require.NoError(t, err)
	_, _, err = r.ReadSuffix(t.Context(), 2)
	require.NoError(t, err)
	server.Put("a", []byte("other"))
	require.ErrorIs(t, r.ReadAt(t.Context(), make([]byte, 2), 1), storage.ErrChanged)
}

// A bucket in another region than the configured one is found.
func TestOtherRegion(t *testing.T) {
	server := fakes3.New(t)
	server.Put("a", []byte("first"))
	regions := 0
	server.Fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
		if bytes.Contains([]byte(r.Header.Get("Authorization")), []byte("/eu-north-1/s3/")) {
			return false
		}
		regions++
		w.Header().Set("X-Amz-Bucket-Region", "eu-north-1")
		fakes3.Fail(w, 301, "PermanentRedirect")
		return true
	}
	storeOnce := store()
	for range 2 {
		r, err := storeOnce.Open(t.Context(), "s3://bucket/a")
		require.NoError(t, err)
		require.NoError(t, r.ReadAt(t.Context(), make([]byte, 2), 1))
	}
	require.Equal(t, 1, regions, "the region is remembered")
}

// Attempts and delays are those of the AWS configuration, unless the program says otherwise, and a server that asks to wait is
// obeyed.
func TestSlowDown(t *testing.T) {
	for attempts, want := range map[string]int{"1": 1, "2": 2} {
		server := fakes3.New(t)
		t.Setenv("AWS_MAX_ATTEMPTS", attempts)
		server.Fault = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Retry-After", "1")
			fakes3.Fail(w, 503, "SlowDown")
			return true
		}
		r, err := s3.New(s3.Options{}).Open(t.Context(), "s3://bucket/a")
		require.NoError(t, err)
		start := time.Now()
		_, _, err = r.ReadSuffix(t.Context(), 5)
		require.ErrorContains(t, err, "SlowDown")
		require.GreaterOrEqual(t, time.Since(start), time.Duration(want-1)*time.Second)
		requests := server.Requests()
		require.Len(t, requests, want)
	}
}

// A redirect is not followed: it would take the token of a session, and what is written, to another host.
func TestRedirect(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s %v", r.Method, r.Header) }))
	defer other.Close()
	for _, status := range []int{301, 302, 307, 308} {
		server := fakes3.New(t)
		t.Setenv("AWS_SESSION_TOKEN", "secret")
		server.Fault = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Location", strings.Replace(other.URL, "127.0.0.1", "localhost", 1))
			fakes3.Fail(w, status, "TemporaryRedirect")
			return true
		}
		r, err := store().Open(t.Context(), "s3://bucket/a")
		require.NoError(t, err)
		_, _, err = r.ReadSuffix(t.Context(), 5)
		require.ErrorContains(t, err, "TemporaryRedirect")
		require.Error(t, storetest.Write(t.Context(), store(), "s3://bucket/a", content[:5], storage.CreateOptions{}))
	}
}

func TestErrors(t *testing.T) {
	for code, want := range map[string]struct {
		status int
		text   string
		is     error
	}{
		"AccessDenied":          {403, "s3://bucket/a: access denied", fs.ErrPermission},
		"NoSuchBucket":          {404, "s3://bucket/a: there is no bucket bucket", nil},
		"InvalidAccessKeyId":    {403, "s3://bucket/a: the server does not know these credentials", fs.ErrPermission},
		"SignatureDoesNotMatch": {403, "s3://bucket/a: the secret key is wrong", fs.ErrPermission},
		"ExpiredToken":          {400, "s3://bucket/a: the credentials have expired", fs.ErrPermission},
		"RequestTimeTooSkewed":  {403, "s3://bucket/a: the clock of this machine is wrong", nil},
		"PermanentRedirect":     {301, "s3://bucket/a: the bucket bucket is in another region", nil},
	} {
		server := fakes3.New(t)
		server.Fault = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			fakes3.Fail(w, want.status, code)
			return true
		}
		r, err := store().Open(t.Context(), "s3://bucket/a")
		require.NoError(t, err)
		_, _, err = r.ReadSuffix(t.Context(), 5)
		require.EqualError(t, err, want.text)
		if want.is != nil {
			require.ErrorIs(t, err, want.is)
		}
		var hint interface{ Hint() string }
		require.ErrorAs(t, err, &hint)
		require.NotEmpty(t, hint.Hint())
		requests := server.Requests()
		require.Len(t, requests, 1)
	}
}

func TestNoCredentials(t *testing.T) {
	fakes3.New(t).Put("a", []byte("first"))
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	_, err := store().Open(t.Context(), "s3://bucket/a")
	require.EqualError(t, err, "s3://bucket/a: no AWS credentials")
	t.Setenv("AWS_NO_SIGN_REQUEST", "1")
	r, err := store().Open(t.Context(), "s3://bucket/a")
	require.NoError(t, err)
	require.NoError(t, r.ReadAt(t.Context(), make([]byte, 5), 0))
	t.Setenv("AWS_PROFILE", "nobody")
	_, err = store().Open(t.Context(), "s3://bucket/a")
	require.ErrorContains(t, err, "the AWS configuration cannot be read")
}

// sent is what a server has seen of the requests of one write: methods with the checksums in headers and trailers.
func sent(t *testing.T, server *fakes3.Server, s *s3.Store, size int) (seen []string) {
	var mu sync.Mutex
	server.Fault = func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		kind := r.Method
		for _, name := range []string{"X-Amz-Checksum-Algorithm", "X-Amz-Checksum-Type", "X-Amz-Trailer"} {
			if value := r.Header.Get(name); value != "" {
				kind += " " + value
			}
		}
		if r.Header.Get("X-Amz-Checksum-Crc64nvme") != "" {
			kind += " sum"
		}
		if seen = append(seen, kind); strings.Contains(strings.ToUpper(kind), "CRC32") {
			t.Error(kind)
		}
		return false
	}
	require.NoError(t, storetest.Write(t.Context(), s, "s3://bucket/a", content[:size], storage.CreateOptions{Overwrite: true}))
	require.True(t, bytes.Equal(content[:size], server.Object("a")))
	return seen
}

// Amazon gets the checksum that it keeps of objects, other servers get it if the configuration says so.
func TestChecksums(t *testing.T) {
	server := fakes3.New(t)
	address, err := url.Parse(server.URL)
	require.NoError(t, err)
	secure := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(address))
	defer secure.Close()
	certificate := t.TempDir() + "/ca.pem"
	require.NoError(t, os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600))
	profile := t.TempDir() + "/config"
	require.NoError(t, os.WriteFile(profile, []byte("[default]\nrequest_checksum_calculation = when_supported\n"), 0o600))
	const begun, trailer = "POST CRC64NVME FULL_OBJECT", "PUT x-amz-checksum-crc64nvme sum"
	for name, test := range map[string]struct {
		environment  map[string]string
		small, large []string
	}{
		"other":    {nil, []string{"PUT"}, []string{"POST", "PUT", "PUT", "POST"}},
		"variable": {map[string]string{"AWS_REQUEST_CHECKSUM_CALCULATION": "when_supported"}, []string{"PUT sum"}, []string{begun, "PUT sum", "PUT sum", "POST"}},
		"profile":  {map[string]string{"AWS_CONFIG_FILE": profile}, []string{"PUT sum"}, []string{begun, "PUT sum", "PUT sum", "POST"}},
		"secure": {
			map[string]string{"AWS_ENDPOINT_URL": secure.URL, "AWS_CA_BUNDLE": certificate, "AWS_REQUEST_CHECKSUM_CALCULATION": "when_supported"},
			[]string{trailer}, []string{begun, trailer, trailer, "POST"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for name, value := range test.environment {
				t.Setenv(name, value)
			}
			require.Equal(t, test.small, sent(t, server, store(), 8000))
			require.Equal(t, test.large, sent(t, server, store(), 6<<20))
			server.Fault, server.Flips = nil, true
			defer func() { server.Flips = false }()
			require.Error(t, storetest.Write(t.Context(), store(), "s3://bucket/b", content[:8000], storage.CreateOptions{}))
			require.Nil(t, server.Object("b"))
		})
	}
}

// hosted sends the requests to names of a domain to a server, with the first part of the name as bucket in the path.
type hosted struct {
	server, domain string
	hosts          chan string
}

func (h hosted) Do(r *http.Request) (*http.Response, error) {
	bucket, _ := strings.CutSuffix(r.URL.Host, "."+h.domain)
	h.hosts <- r.URL.Host
	to := r.Clone(r.Context())
	to.URL.Scheme, to.URL.Host = "http", strings.TrimPrefix(h.server, "http://")
	if bucket != r.URL.Host {
		to.URL.Path, to.URL.RawPath = "/"+bucket+to.URL.Path, ""
	}
	return http.DefaultClient.Do(to)
}

// The bucket is in the host name for Amazon, else in the path unless the program says otherwise. Amazon's requests have checksums unless the
// configuration says otherwise.
func TestAddressing(t *testing.T) {
	const amazon = "s3.us-east-1.amazonaws.com"
	for _, test := range []struct {
		endpoint, calculation, domain, host string
		virtual                             bool
		requests                            []string
	}{
		{"", "", amazon, "bucket." + amazon, false, []string{"PUT x-amz-checksum-crc64nvme sum"}},
		{"", "when_required", amazon, "bucket." + amazon, false, []string{"PUT"}},
		{"http://store.example", "", "store.example", "store.example", false, []string{"PUT"}},
		{"http://store.example", "", "store.example", "bucket.store.example", true, []string{"PUT"}},
	} {
		server := fakes3.New(t)
		t.Setenv("AWS_ENDPOINT_URL", test.endpoint)
		t.Setenv("AWS_REQUEST_CHECKSUM_CALCULATION", test.calculation)
		to := hosted{server.URL, test.domain, make(chan string, 9)}
		cfg, err := config.LoadDefaultConfig(t.Context(), config.WithHTTPClient(to))
		require.NoError(t, err)
		require.Equal(t, test.requests, sent(t, server, s3.New(s3.Options{Config: &cfg, VirtualHosted: test.virtual}), 8000))
		require.Equal(t, test.host, <-to.hosts)
	}
}

// All requests of who pays say so, and those that make an object have its encryption, in one request and in parts.
func TestPayerAndEncryption(t *testing.T) {
	server := fakes3.New(t)
	t.Setenv("AWS_REQUEST_PAYER", "requester")
	t.Setenv("AWS_SSE_KMS_KEY_ID", "key")
	var mu sync.Mutex
	made := 0
	server.Fault = func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if r.Header.Get("X-Amz-Request-Payer") != "requester" || !strings.Contains(r.Header.Get("Authorization"), "x-amz-request-payer") {
			t.Errorf("%s %s does not sign who pays", r.Method, r.URL)
		}
		if r.Header.Get("X-Amz-Server-Side-Encryption") == "aws:kms" && r.Header.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id") == "key" {
			made++
		}
		return false
	}
	for i, size := range []int{5, 6 << 20} {
		require.NoError(t, storetest.Write(t.Context(), s3.New(s3.Options{PartBytes: 5 << 20}), "s3://bucket/a"+strconv.Itoa(i), make([]byte, size), storage.CreateOptions{}))
	}
	require.Equal(t, 2, made)
	r, err := store().Open(t.Context(), "s3://bucket/a0")
	require.NoError(t, err)
	require.NoError(t, r.ReadAt(t.Context(), make([]byte, 5), 0))
	require.NoError(t, store().Remove(t.Context(), "s3://bucket/a0"))
}

// What a writer holds does not grow with the object: 20 MiB for two parts that are sent, and one that fills.
func TestMemory(t *testing.T) {
	server := fakes3.New(t)
	server.Fault = func(_ int, w http.ResponseWriter, r *http.Request) bool { // the server keeps nothing
		switch {
		case r.Method == "PUT":
			w.Header().Set("ETag", `"part"`)
		case r.URL.Query().Has("uploads"):
			_, _ = w.Write([]byte("<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>"))
		default:
			_, _ = w.Write([]byte("<CompleteMultipartUploadResult><Key>a</Key></CompleteMultipartUploadResult>"))
		}
		return true
	}
	w, err := store().Create(t.Context(), "s3://bucket/a", storage.CreateOptions{Overwrite: true})
	require.NoError(t, err)
	var before, after runtime.MemStats
	var most uint64
	runtime.GC()
	runtime.ReadMemStats(&before)
	piece := content[:1<<20]
	for i := range 150 {
		require.NoError(t, w.Write(t.Context(), piece))
		if i%10 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&after)
			most = max(most, after.HeapAlloc-min(before.HeapAlloc, after.HeapAlloc))
		}
	}
	require.NoError(t, w.Publish(t.Context()))
	t.Logf("%d MiB", most>>20)
	require.Less(t, most, uint64(60<<20), "the parts, and those that the server has read into memory")
}
