package http_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
	storehttp "github.com/amudai/amudai-go/storage/http"
	"github.com/amudai/amudai-go/storage/storetest"
)

var digits = bytes.Repeat([]byte("0123456789"), 50_000)

// serve returns an HTTP store with short pauses over handler, and the count of its requests.
func serve(t *testing.T, handler http.HandlerFunc) (*storehttp.Store, string, *atomic.Int32) {
	requests := new(atomic.Int32)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		handler(w, r)
	}))
	t.Cleanup(srv.Close)
	return storehttp.New(storehttp.Options{Backoff: time.Microsecond}), srv.URL + "/a?sig=secret", requests
}

func serveDigits(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", `"v1"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(digits))
}

func TestHTTPReads(t *testing.T) {
	s, location, requests := serve(t, serveDigits)
	storetest.TestReader(t, s, location, digits)

	requests.Store(0)
	r, err := s.Open(context.Background(), location)
	require.NoError(t, err)
	require.NotContains(t, r.Name(), "secret")
	_, _, err = r.ReadSuffix(context.Background(), 64<<10)
	require.NoError(t, err)
	_, err = r.Size(context.Background())
	require.NoError(t, err)
	require.EqualValues(t, 1, requests.Load(), "opening is one request")

	_, err = s.Create(context.Background(), location, storage.CreateOptions{})
	require.ErrorContains(t, err, "read-only")
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorIs(t, s.Remove(context.Background(), location), errors.ErrUnsupported)
	v, err := r.Version(context.Background())
	require.NoError(t, err)
	require.EqualValues(t, `"v1"`, v)
	_, err = s.Open(context.Background(), "ftp://x/y")
	require.Error(t, err)
}

// If a suffix read does not return the size, the first range read does.
func TestHTTPReadPastTheEnd(t *testing.T) {
	s, location, _ := serve(t, serveDigits)
	r, err := s.Open(context.Background(), location)
	require.NoError(t, err)
	err = r.ReadAt(context.Background(), make([]byte, 10), 500_000)
	require.ErrorIs(t, err, fault.ErrCorrupt)
	r, err = s.Open(context.Background(), location)
	require.NoError(t, err)
	require.ErrorIs(t, r.ReadAt(context.Background(), make([]byte, 10), 499_995), fault.ErrCorrupt)
}

// Only strong entity tags are versions, because others do not promise equal bytes.
func TestHTTPVersion(t *testing.T) {
	for tag, ok := range map[string]bool{`"v1"`: true, `W/"v1"`: false, "": false} {
		s, location, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if tag != "" {
				w.Header().Set("ETag", tag)
			}
			http.ServeContent(w, r, "", time.Unix(1_000_000_000, 0), bytes.NewReader(digits))
		})
		r, err := s.Open(t.Context(), location)
		require.NoError(t, err)
		v, err := r.Version(t.Context())
		if ok {
			require.NoError(t, err)
			require.EqualValues(t, tag, v)
		} else {
			require.ErrorIs(t, err, errors.ErrUnsupported)
		}
	}
}

func TestHTTPSize(t *testing.T) {
	s, location, _ := serve(t, serveDigits)
	r, err := s.Open(context.Background(), location)
	require.NoError(t, err)
	size, err := r.Size(context.Background())
	require.NoError(t, err)
	require.EqualValues(t, len(digits), size)
}

func TestHTTPEmptyObject(t *testing.T) {
	s, location, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(nil))
	})
	r, err := s.Open(context.Background(), location)
	require.NoError(t, err)
	tail, size, err := r.ReadSuffix(context.Background(), 100)
	require.NoError(t, err)
	require.Empty(t, tail)
	require.Zero(t, size)
}

// Broken answers are requested again, but only from the first missing byte.
func TestHTTPRetries(t *testing.T) {
	var n atomic.Int32
	s, location, requests := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch n.Add(1) % 4 {
		case 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2:
			w.Header().Set("ETag", `"v1"`)
			var a, b int
			fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &a, &b)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", a, b, len(digits)))
			w.Header().Set("Content-Length", strconv.Itoa(b-a+1))
			w.WriteHeader(http.StatusPartialContent)
			w.Write(digits[a : a+(b-a)/2])
			panic(http.ErrAbortHandler)
		case 3:
			panic(http.ErrAbortHandler)
		default:
			serveDigits(w, r)
		}
	})
	r, err := s.Open(context.Background(), location)
	require.NoError(t, err)
	p := make([]byte, 100_000)
	require.NoError(t, r.ReadAt(context.Background(), p, 13))
	require.True(t, bytes.Equal(digits[13:100_013], p))
	require.EqualValues(t, 4, requests.Load())
}

func TestHTTPGivesUp(t *testing.T) {
	s, location, requests := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	r, err := s.Open(context.Background(), location)
	require.NoError(t, err)
	err = r.ReadAt(context.Background(), make([]byte, 1), 0)
	require.ErrorContains(t, err, "502")
	require.ErrorContains(t, err, "4 attempts")
	require.NotContains(t, err.Error(), "secret")
	require.EqualValues(t, 4, requests.Load())

	dead := httptest.NewServer(nil)
	dead.Close()
	r, err = s.Open(context.Background(), dead.URL+"/a?sig=secret")
	require.NoError(t, err)
	_, _, err = r.ReadSuffix(context.Background(), 1)
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
}

func TestHTTPStatus(t *testing.T) {
	for code, want := range map[int]error{404: fs.ErrNotExist, 403: fs.ErrPermission, 412: storage.ErrChanged} {
		s, location, requests := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
		r, err := s.Open(context.Background(), location)
		require.NoError(t, err)
		_, _, err = r.ReadSuffix(context.Background(), 10)
		require.ErrorIs(t, err, want)
		require.EqualValues(t, 1, requests.Load())
		_, err = r.Size(context.Background())
		require.ErrorIs(t, err, want)
	}
}

// An object that is replaced between two reads is an error, never mixed bytes, whether it has a strong tag, a weak
// tag, or a date.
func TestHTTPChangedObject(t *testing.T) {
	for _, tags := range [][2]string{{`"v1"`, `"v2"`}, {`W/"v1"`, `W/"v2"`}, {"", ""}} {
		var version atomic.Int32
		s, location, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			v := version.Load()
			if tags[v] != "" {
				w.Header().Set("ETag", tags[v])
			}
			http.ServeContent(w, r, "", time.Unix(1_000_000_000+int64(v), 0), bytes.NewReader(digits))
		})
		ctx := context.Background()
		r, err := s.Open(ctx, location)
		require.NoError(t, err)
		_, _, err = r.ReadSuffix(ctx, 10)
		require.NoError(t, err)
		require.NoError(t, r.ReadAt(ctx, make([]byte, 10), 5))
		version.Store(1)
		require.ErrorIs(t, r.ReadAt(ctx, make([]byte, 10), 5), storage.ErrChanged)
		_, _, err = r.ReadSuffix(ctx, 10)
		require.ErrorIs(t, err, storage.ErrChanged)
	}
}

func TestHTTPServerWithoutSuffixRanges(t *testing.T) {
	for _, answer := range []func(w http.ResponseWriter, r *http.Request){
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) },
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusRequestedRangeNotSatisfiable) },
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotImplemented) },
		func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Range")
			serveDigits(w, r)
		},
	} {
		s, location, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.Header.Get("Range"), "bytes=-") {
				answer(w, r)
				return
			}
			serveDigits(w, r)
		})
		storetest.TestReader(t, s, location, digits)
	}
}

func TestHTTPServerWithoutRanges(t *testing.T) {
	s, location, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Range")
		serveDigits(w, r)
	})
	ctx := context.Background()
	r, err := s.Open(ctx, location)
	require.NoError(t, err)
	_, _, err = r.ReadSuffix(ctx, 10)
	require.ErrorContains(t, err, "the server has no ranges")
	tail, _, err := r.ReadSuffix(ctx, len(digits))
	require.NoError(t, err)
	require.True(t, bytes.Equal(digits, tail))
}

// An invalid answer of a server is an error.
func TestHTTPBadAnswers(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter){
		"no content range": func(w http.ResponseWriter) { w.WriteHeader(206) },
		"other range": func(w http.ResponseWriter) {
			w.Header().Set("Content-Range", "bytes 7-16/500000")
			w.WriteHeader(206)
			w.Write(digits[7:17])
		},
		"absurd range": func(w http.ResponseWriter) {
			w.Header().Set("Content-Range", "bytes 5-9223372036854775807/9223372036854775807")
			w.WriteHeader(206)
		},
		"absurd suffix": func(w http.ResponseWriter) {
			w.Header().Set("Content-Range", "bytes 0-9223372036854775806/9223372036854775807")
			w.WriteHeader(206)
		},
		"compressed": func(w http.ResponseWriter) { w.Header().Set("Content-Encoding", "gzip"); w.Write(digits) },
	} {
		s, location, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { answer(w) })
		r, err := s.Open(context.Background(), location)
		require.NoError(t, err)
		require.Error(t, r.ReadAt(context.Background(), make([]byte, 10), 5), name)
		_, _, err = r.ReadSuffix(context.Background(), 20)
		require.Error(t, err, name)
	}
}

func TestHTTPCancel(t *testing.T) {
	release := make(chan struct{})
	s, location, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { <-release })
	defer close(release)
	ctx, cancel := context.WithCancel(context.Background())
	r, err := s.Open(ctx, location)
	require.NoError(t, err)
	time.AfterFunc(10*time.Millisecond, cancel)
	require.ErrorIs(t, r.ReadAt(ctx, make([]byte, 10), 5), context.Canceled)
}

// If a server refuses a range of an open object, the error is status 416, or ErrChanged if the size differs.
func TestHTTPRangeRefused(t *testing.T) {
	for contentRange, want := range map[string]string{
		"":                                     "416",
		"bytes */x":                            "416",
		fmt.Sprintf("bytes */%d", len(digits)): "416",
		"bytes */10":                           storage.ErrChanged.Error(),
		"bytes */0":                            storage.ErrChanged.Error(),
	} {
		var refuse atomic.Bool
		s, location, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if !refuse.Load() {
				serveDigits(w, r)
				return
			}
			if contentRange != "" {
				w.Header().Set("Content-Range", contentRange)
			}
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		})
		r, err := s.Open(context.Background(), location)
		require.NoError(t, err)
		_, err = r.Size(context.Background())
		require.NoError(t, err)
		refuse.Store(true)
		require.ErrorContains(t, r.ReadAt(context.Background(), make([]byte, 10), 50), want, contentRange)
	}
}
