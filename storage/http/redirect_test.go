package http_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	storehttp "github.com/amudai/amudai-go/storage/http"
	"github.com/amudai/amudai-go/storage/storetest"
)

// A redirect to another host carries neither user, password, query and headers of the first one, nor its address; one to the same
// host does.
func TestRedirects(t *testing.T) {
	asked := map[string]int{}
	check := func(name string, trusted bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			asked[name]++
			user, password, ok := r.BasicAuth()
			if trusted {
				require.Equal(t, []string{"alice", "hunter2"}, []string{user, password})
				require.Equal(t, "key", r.Header.Get("X-Api-Key"))
			} else {
				require.False(t, ok, r.Header)
				require.NotContains(t, r.URL.String(), "signed")
				for name, values := range r.Header {
					require.Contains(t, []string{"Range", "If-Range", "Accept-Encoding", "User-Agent"}, name)
					for _, secret := range []string{"signed", "hunter2", "key"} {
						require.NotContains(t, strings.Join(values, " "), secret)
					}
				}
			}
			require.Empty(t, r.Header.Get("Referer"))
			w.Header().Set("ETag", `"v1"`)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(digits))
		}
	}
	other := httptest.NewServer(check("other", false))
	defer other.Close()
	var first *httptest.Server
	mux := http.NewServeMux()
	mux.HandleFunc("/there", check("there", true))
	mux.HandleFunc("/back", check("back", false))
	for path, to := range map[string]func() string{
		"/relative": func() string { return "/there" }, "/absolute": func() string { return first.URL + "/there" },
		"/other": func() string { return other.URL + "/x" }, "/user": func() string { return strings.Replace(other.URL, "://", "://mallory:x@", 1) + "/x" },
		"/port": func() string { return strings.Replace(other.URL, "127.0.0.1", "localhost", 1) + "/x" },
		"/away": func() string { return other.URL + "/return" }, "/loop": func() string { return "/loop" },
		"/nonsense": func() string { return "http://%zz/signed" }, "/file": func() string { return "file:///etc/passwd" }, "/nohost": func() string { return "http:///x" },
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to())
			w.WriteHeader(302)
		})
	}
	first = httptest.NewServer(mux)
	defer first.Close()
	s := storehttp.New(storehttp.Options{Backoff: 1, Header: http.Header{"X-Api-Key": {"key"}}})
	location := func(path string) string {
		return strings.Replace(first.URL, "://", "://alice:hunter2@", 1) + path + "?sig=signed"
	}
	for _, path := range []string{"/relative", "/absolute", "/other", "/user", "/port"} {
		storetest.TestReader(t, s, location(path), digits)
	}
	require.NotZero(t, asked["there"])
	require.NotZero(t, asked["other"])
	for path, want := range map[string]string{
		"/loop": "redirects more than 10 times", "/nonsense": "is no http:// or https:// location", "/file": "is no http:// or https:// location", "/nohost": "is no http:// or https:// location",
	} {
		r, err := s.Open(t.Context(), location(path))
		require.NoError(t, err)
		_, _, err = r.ReadSuffix(t.Context(), 5)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "signed")
		require.NotContains(t, err.Error(), "hunter2")
	}
}

// Who has been led away does not come back with credentials: the other host would choose what they are used for.
func TestRedirectBack(t *testing.T) {
	var first *httptest.Server
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, first.URL+"/back", http.StatusFound) }))
	defer other.Close()
	first = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/back" {
			http.Redirect(w, r, other.URL, http.StatusFound)
			return
		}
		_, _, ok := r.BasicAuth()
		require.False(t, ok)
		require.Empty(t, r.Header.Get("X-Api-Key"))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(digits))
	}))
	defer first.Close()
	s := storehttp.New(storehttp.Options{Backoff: 1, Header: http.Header{"X-Api-Key": {"key"}}})
	storetest.TestReader(t, s, strings.Replace(first.URL, "://", "://alice:hunter2@", 1)+"/a", digits)
}
