package az_test

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/az"
	"github.com/amudai/amudai-go/storage/storetest"
)

// content takes three blocks.
var content = bytes.Repeat([]byte("0123456789abcdef"), 2<<20/16+1000)

func store() *az.Store { return az.New(az.Options{Backoff: 1, PartBytes: 1 << 20, Parallel: 2}) }

func TestStore(t *testing.T) {
	newServer(t)
	storetest.TestStore(t, store(), "az://container/50%25 off/ü/")
	require.NoError(t, storetest.Write(t.Context(), store(), "az://container/large", content, storage.CreateOptions{}))
	storetest.TestReader(t, store(), "az://container/large", content)
	storetest.TestReader(t, store(), "az://account.blob.core.windows.net/container/large", content)
	require.ErrorIs(t, storetest.Write(t.Context(), store(), "az://container/large", content, storage.CreateOptions{}), fs.ErrExist)
}

func TestRequests(t *testing.T) {
	server := newServer(t)
	s := store()
	ctx := t.Context()
	require.NoError(t, storetest.Write(ctx, s, "az://container/a/b", content[:1<<20], storage.CreateOptions{}))
	require.Equal(t, []string{"HEAD a/b", "PUT a/b"}, server.Requests())
	r, err := s.Open(ctx, "az://container/a/b")
	require.NoError(t, err)
	_, _, err = r.ReadSuffix(ctx, 1000)
	require.NoError(t, err)
	_, err = r.Version(ctx)
	require.NoError(t, err)
	require.NoError(t, r.ReadAt(ctx, make([]byte, 10), 5))
	require.Equal(t, []string{"HEAD a/b", "GET a/b bytes=1047576-1048575", "GET a/b bytes=5-14"}, server.Requests())
	require.NoError(t, storetest.Write(ctx, s, "az://container/b", content, storage.CreateOptions{Overwrite: true}))
	require.Equal(t, []string{"PUT b block", "PUT b block", "PUT b block", "PUT b blocklist"}, server.Requests())
}

// The server copies by itself.
func TestCopy(t *testing.T) {
	server := newServer(t)
	server.Put("a", content)
	require.NoError(t, store().Copy(t.Context(), "az://container/a", "", "az://container/b", storage.CreateOptions{}))
	require.Equal(t, []string{"HEAD a", "HEAD b", "PUT b block", "PUT b blocklist"}, server.Requests())
	require.True(t, bytes.Equal(content, server.Object("b")))

	// The answer to any request may be lost.
	for k := 1; ; k++ {
		server := newServer(t)
		server.Put("a", content)
		server.Lost = func(n int, _ *http.Request) bool { return n == k }
		require.NoError(t, store().Copy(t.Context(), "az://container/a", "", "az://container/b", storage.CreateOptions{}))
		require.True(t, bytes.Equal(content, server.Object("b")))
		if len(server.Requests()) < k {
			break
		}
	}
}

// A host that gets no credentials cannot be given those to read another account.
func TestCopyByForeignHost(t *testing.T) {
	server := newServer(t)
	server.Put("a", content)
	err := store().Copy(t.Context(), "az://container/a", "", "az://foreign.example.com/container/b", storage.CreateOptions{Overwrite: true})
	require.ErrorIs(t, err, errors.ErrUnsupported)
}

// Whatever request fails, before the server does it or after: the blob is there and whole, or there is an error and no blob.
func TestFaultsOfWrites(t *testing.T) {
	for name, fault := range map[string]func(w http.ResponseWriter) bool{
		"503":   func(w http.ResponseWriter) bool { fail(w, 503, "ServerBusy"); return true },
		"500":   func(w http.ResponseWriter) bool { fail(w, 500, "InternalError"); return true },
		"cut":   func(w http.ResponseWriter) bool { panic(http.ErrAbortHandler) },
		"lost":  nil,
		"403":   func(w http.ResponseWriter) bool { fail(w, 403, "AuthorizationFailure"); return true },
		"final": func(w http.ResponseWriter) bool { fail(w, 400, "InvalidInput"); return true },
	} {
		for _, size := range []int{1000, len(content)} {
			for k := 1; ; k++ {
				server := newServer(t)
				if fault == nil {
					server.Lost = func(n int, _ *http.Request) bool { return n == k }
				} else {
					server.Fault = func(n int, w http.ResponseWriter, _ *http.Request) bool { return n == k && fault(w) }
				}
				err := storetest.Write(t.Context(), store(), "az://container/a", content[:size], storage.CreateOptions{})
				requests := server.Requests()
				if err == nil {
					require.True(t, bytes.Equal(content[:size], server.Object("a")))
				} else {
					require.Contains(t, []string{"403", "final"}, name, "%v: request %d of %v", err, k, requests)
					require.Empty(t, server.Keys())
				}
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
		server := newServer(t)
		server.Flips = true
		require.ErrorContains(t, storetest.Write(t.Context(), store(), "az://container/a", content[:size], storage.CreateOptions{}), "Md5Mismatch")
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
			fail(w, 500, "InternalError")
			return true
		}
		storetest.TestReader(t, store(), "az://container/a", content)
	}
}

func TestChangedWhileRead(t *testing.T) {
	server := newServer(t)
	server.Put("a", []byte("first"))
	r, err := store().Open(t.Context(), "az://container/a")
	require.NoError(t, err)
	_, _, err = r.ReadSuffix(t.Context(), 2)
	require.NoError(t, err)
	server.Put("a", []byte("other"))
	require.ErrorIs(t, r.ReadAt(t.Context(), make([]byte, 2), 1), storage.ErrChanged)
}

// Of two writers of large blobs that may replace each other, the one whose blocks the other has dropped fails.
func TestDroppedBlocks(t *testing.T) {
	server := newServer(t)
	ctx := t.Context()
	first, err := store().Create(ctx, "az://container/a", storage.CreateOptions{Overwrite: true})
	require.NoError(t, err)
	require.NoError(t, first.Write(ctx, content))
	for blocks := 0; blocks < 2; { // they are sent while Write goes on
		blocks += len(server.Requests())
		runtime.Gosched()
	}
	require.NoError(t, storetest.Write(ctx, store(), "az://container/a", content[:5], storage.CreateOptions{Overwrite: true}))
	require.ErrorContains(t, first.Publish(ctx), "another writer has replaced the blob meanwhile")
	require.Equal(t, content[:5], server.Object("a"))
}

func TestErrors(t *testing.T) {
	for code, want := range map[string]struct {
		status int
		text   string
		is     error
	}{
		"AuthorizationPermissionMismatch": {403, "az://container/a: access denied", fs.ErrPermission},
		"AuthenticationFailed":            {403, "az://container/a: the server does not accept these credentials", fs.ErrPermission},
		"ContainerNotFound":               {404, "az://container/a: there is no container container", nil},
		"InvalidInput":                    {400, "az://container/a: the server answers InvalidInput (status 400)", nil},
	} {
		server := newServer(t)
		server.Fault = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			fail(w, want.status, code)
			return true
		}
		r, err := store().Open(t.Context(), "az://container/a")
		require.NoError(t, err)
		require.EqualError(t, r.ReadAt(t.Context(), make([]byte, 5), 0), want.text)
		if want.is != nil {
			require.ErrorIs(t, r.ReadAt(t.Context(), make([]byte, 5), 0), want.is)
		}
	}
}
