package gs_test

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/gs"
	"github.com/amudai/amudai-go/storage/storetest"
)

// content takes three requests, the last of them no multiple of 256 KiB.
var content = bytes.Repeat([]byte("0123456789abcdef"), 2<<20/16+1000)

func store() *gs.Store { return gs.New(gs.Options{Backoff: 1, PartBytes: 1 << 20}) }

func TestStore(t *testing.T) {
	server := newServer(t)
	storetest.TestStore(t, store(), "gs://bucket/50%25 off/ü/")
	require.Zero(t, server.Uploads())
	for _, size := range []int{1 << 20, 2 << 20, len(content)} {
		require.NoError(t, storetest.Write(t.Context(), store(), "gs://bucket/large", content[:size], storage.CreateOptions{Overwrite: true}))
		storetest.TestReader(t, store(), "gs://bucket/large", content[:size])
	}
	require.ErrorIs(t, storetest.Write(t.Context(), store(), "gs://bucket/large", content, storage.CreateOptions{}), fs.ErrExist)
}

func TestRequests(t *testing.T) {
	server := newServer(t)
	s := store()
	ctx := t.Context()
	require.NoError(t, storetest.Write(ctx, s, "gs://bucket/a/b", content[:1<<20], storage.CreateOptions{}))
	require.Equal(t, []string{"GET a/b", "POST"}, server.Requests())
	r, err := s.Open(ctx, "gs://bucket/a/b")
	require.NoError(t, err)
	_, _, err = r.ReadSuffix(ctx, 1000)
	require.NoError(t, err)
	_, err = r.Version(ctx)
	require.NoError(t, err)
	require.NoError(t, r.ReadAt(ctx, make([]byte, 10), 5))
	require.Equal(t, []string{"GET a/b bytes=-1000", "GET a/b bytes=5-14"}, server.Requests())
	require.NoError(t, storetest.Write(ctx, s, "gs://bucket/b", content, storage.CreateOptions{Overwrite: true}))
	require.Equal(t, []string{"POST", "PUT  bytes 0-1048575/*", "PUT  bytes 1048576-2097151/*", "PUT  bytes 2097152-2113151/2113152"}, server.Requests())
}

// The server copies by itself.
func TestCopy(t *testing.T) {
	server := newServer(t)
	server.Put("a", content)
	require.NoError(t, store().Copy(t.Context(), "gs://bucket/a", "", "gs://bucket/b", storage.CreateOptions{}))
	require.Equal(t, []string{"GET a", "GET b", "POST a/rewriteTo/b/bucket/o/b", "POST a/rewriteTo/b/bucket/o/b"}, server.Requests())
	require.True(t, bytes.Equal(content, server.Object("b")))

	// The answer to any request may be lost.
	for k := 1; ; k++ {
		server := newServer(t)
		server.Put("a", content)
		server.Lost = func(n int, _ *http.Request) bool { return n == k }
		require.NoError(t, store().Copy(t.Context(), "gs://bucket/a", "", "gs://bucket/b", storage.CreateOptions{}))
		require.True(t, bytes.Equal(content, server.Object("b")))
		if len(server.Requests()) < k {
			break
		}
	}
}

// Whatever request fails, before the server does it or after: the object is there and whole, or there is an error, and nothing is left.
func TestFaultsOfWrites(t *testing.T) {
	for name, fault := range map[string]func(w http.ResponseWriter) bool{
		"503":   func(w http.ResponseWriter) bool { fail(w, 503, "backend"); return true },
		"429":   func(w http.ResponseWriter) bool { fail(w, 429, "slow down"); return true },
		"cut":   func(w http.ResponseWriter) bool { panic(http.ErrAbortHandler) },
		"lost":  nil,
		"403":   func(w http.ResponseWriter) bool { fail(w, 403, "forbidden"); return true },
		"final": func(w http.ResponseWriter) bool { fail(w, 400, "bad"); return true },
	} {
		for _, size := range []int{1000, len(content)} {
			for _, keeps := range []int{0, 256 << 10} {
				for k := 1; ; k++ {
					server := newServer(t)
					server.Keeps = keeps
					if fault == nil {
						server.Lost = func(n int, _ *http.Request) bool { return n == k }
					} else {
						server.Fault = func(n int, w http.ResponseWriter, _ *http.Request) bool { return n == k && fault(w) }
					}
					err := storetest.Write(t.Context(), store(), "gs://bucket/a", content[:size], storage.CreateOptions{})
					requests := server.Requests()
					if err == nil {
						require.True(t, bytes.Equal(content[:size], server.Object("a")))
					} else {
						require.Contains(t, []string{"403", "final"}, name, "%v: request %d of %v", err, k, requests)
						require.Empty(t, server.Keys())
					}
					if name != "lost" || k != 2 { // nobody learns the address of that upload
						require.Zero(t, server.Uploads(), "%s: request %d of %v", name, k, requests)
					}
					if len(requests) < k {
						break
					}
				}
			}
		}
	}
}

// A bit that changes on its way is an error, in an object of one request and in one of several.
func TestFlippedBytes(t *testing.T) {
	for _, size := range []int{8000, len(content)} {
		server := newServer(t)
		server.Flips = true
		require.ErrorContains(t, storetest.Write(t.Context(), store(), "gs://bucket/a", content[:size], storage.CreateOptions{}), "CRC32C")
		require.Empty(t, server.Keys())
	}
}

func TestFaultsOfReads(t *testing.T) {
	for _, every := range []int{2, 3, 5} {
		server := newServer(t)
		server.Put("a", content)
		server.Fault = func(n int, w http.ResponseWriter, _ *http.Request) bool {
			switch {
			case n%every != 0:
				return false
			case n%2 == 0:
				panic(http.ErrAbortHandler)
			}
			fail(w, 500, "backend")
			return true
		}
		storetest.TestReader(t, store(), "gs://bucket/a", content)
	}
}

func TestChangedWhileRead(t *testing.T) {
	server := newServer(t)
	server.Put("a", []byte("first"))
	r, err := store().Open(t.Context(), "gs://bucket/a")
	require.NoError(t, err)
	_, _, err = r.ReadSuffix(t.Context(), 2)
	require.NoError(t, err)
	server.Put("a", []byte("other"))
	require.ErrorIs(t, r.ReadAt(t.Context(), make([]byte, 2), 1), storage.ErrChanged)
}

func TestErrors(t *testing.T) {
	for status, want := range map[int]struct {
		message, text string
		is            error
	}{
		401: {"Invalid Credentials", "gs://bucket/a: the credentials are not accepted", fs.ErrPermission},
		403: {"no access", "gs://bucket/a: access denied", fs.ErrPermission},
		404: {"The specified bucket does not exist.", "gs://bucket/a: there is no bucket bucket", nil},
		400: {"no good", "gs://bucket/a: the server answers: no good (status 400)", nil},
	} {
		server := newServer(t)
		server.Fault = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			fail(w, status, want.message)
			return true
		}
		r, err := store().Open(t.Context(), "gs://bucket/a")
		require.NoError(t, err)
		_, _, err = r.ReadSuffix(t.Context(), 5)
		require.EqualError(t, err, want.text)
		if want.is != nil {
			require.ErrorIs(t, err, want.is)
		}
		require.Len(t, server.Requests(), 1)
	}
}

func TestCredentials(t *testing.T) {
	server := newServer(t)
	server.Put("a", []byte("first"))
	t.Setenv("STORAGE_EMULATOR_HOST", "")
	for _, text := range []string{"", "no JSON", `{"type": "other"}`} {
		file := t.TempDir() + "/credentials.json"
		if text != "" {
			writeFile(t, file, text)
		}
		t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
		_, err := gs.New(gs.Options{Endpoint: server.URL}).Open(t.Context(), "gs://bucket/a")
		require.EqualError(t, err, "gs://bucket/a: no Google credentials")
	}
	t.Setenv("CLOUDSDK_AUTH_DISABLE_CREDENTIALS", "true")
	r, err := gs.New(gs.Options{Endpoint: server.URL}).Open(t.Context(), "gs://bucket/a")
	require.NoError(t, err)
	require.NoError(t, r.ReadAt(t.Context(), make([]byte, 5), 0))
}

// Tokens of a signed-in user are fetched and sent. Refused ones are an error for people.
func TestTokens(t *testing.T) {
	server := newServer(t)
	server.Put("a", []byte("first"))
	t.Setenv("STORAGE_EMULATOR_HOST", "")
	status := 200
	server.Fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.URL.Path == "/token" && status == 200:
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"access_token": "secret", "expires_in": 3600, "token_type": "Bearer"}`))
		case r.URL.Path == "/token":
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"error": "invalid_grant"}`))
		case r.Header.Get("Authorization") != "Bearer secret":
			fail(w, 401, "no token")
		default:
			return false
		}
		return true
	}
	file := t.TempDir() + "/credentials.json"
	writeFile(t, file, serviceAccount(t, server.URL+"/token"))
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
	read := func() error {
		r, err := gs.New(gs.Options{Endpoint: server.URL}).Open(t.Context(), "gs://bucket/a")
		require.NoError(t, err)
		return r.ReadAt(t.Context(), make([]byte, 5), 0)
	}
	require.NoError(t, read())
	status = 400
	require.EqualError(t, read(), "gs://bucket/a: the Google credentials are refused")
}

// All requests name the project that pays.
func TestPayer(t *testing.T) {
	server := newServer(t)
	t.Setenv("GOOGLE_CLOUD_QUOTA_PROJECT", "payer")
	server.Fault = func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("X-Goog-User-Project") != "payer" {
			t.Errorf("%s %s does not say who pays", r.Method, r.URL)
		}
		return false
	}
	for _, size := range []int{8000, len(content)} {
		require.NoError(t, storetest.Write(t.Context(), store(), "gs://bucket/a", content[:size], storage.CreateOptions{Overwrite: true}))
	}
	require.NoError(t, store().Copy(t.Context(), "gs://bucket/a", "", "gs://bucket/b", storage.CreateOptions{}))
	r, err := store().Open(t.Context(), "gs://bucket/b")
	require.NoError(t, err)
	require.NoError(t, r.ReadAt(t.Context(), make([]byte, 5), 0))
	require.NoError(t, store().Remove(t.Context(), "gs://bucket/a"))
}

// Neither requests nor those for tokens follow a redirect to another host, and the emulator gets no token.
func TestSecrets(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s %v", r.Method, r.Header) }))
	defer other.Close()
	file := t.TempDir() + "/credentials.json"
	server := newServer(t)
	server.Put("a", []byte("first"))
	writeFile(t, file, serviceAccount(t, server.URL+"/token"))
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
	server.Fault = func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		require.Empty(t, r.Header.Get("Authorization"))
		return false
	}
	r, err := store().Open(t.Context(), "gs://bucket/a")
	require.NoError(t, err)
	require.NoError(t, r.ReadAt(t.Context(), make([]byte, 5), 0))

	t.Setenv("STORAGE_EMULATOR_HOST", "")
	for _, path := range []string{"/token", "/storage/v1/b/bucket/o/a"} {
		server.Fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != path {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"access_token": "secret", "expires_in": 3600, "token_type": "Bearer"}`))
				return true
			}
			w.Header().Set("Location", strings.Replace(other.URL, "127.0.0.1", "localhost", 1))
			w.WriteHeader(307)
			return true
		}
		r, err := gs.New(gs.Options{Endpoint: server.URL, Backoff: 1}).Open(t.Context(), "gs://bucket/a")
		require.NoError(t, err)
		require.Error(t, r.ReadAt(t.Context(), make([]byte, 5), 0))
	}
}
