package http_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/storage"
)

// A server without ranges gives its bytes as a stream, one with ranges gives none.
func TestStream(t *testing.T) {
	whole := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = w.Write(digits) // of no told length
		}
	}
	for name, test := range map[string]struct {
		serve    http.HandlerFunc
		streams  bool
		requests int32
	}{
		"ranges": {serveDigits, false, 1},
		"ranges that are not told": {func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				w.WriteHeader(405)
				return
			}
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(digits))
		}, false, 2},
		"none": {whole, true, 2},
		"none, and no HEAD": {func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				w.WriteHeader(501)
				return
			}
			whole(w, r)
		}, true, 2},
	} {
		s, location, requests := serve(t, test.serve)
		r, err := s.Open(t.Context(), location)
		require.NoError(t, err)
		body, err := r.(storage.Streamer).Stream(t.Context())
		require.NoError(t, err, name)
		require.Equal(t, test.streams, body != nil, name)
		require.Equal(t, test.requests, requests.Load(), name)
		if body == nil {
			tail, _, err := r.ReadSuffix(t.Context(), 10)
			require.NoError(t, err)
			require.Equal(t, "0123456789", string(tail))
			continue
		}
		got, err := io.ReadAll(body)
		require.NoError(t, err)
		require.True(t, bytes.Equal(digits, got), name)
		require.NoError(t, body.Close())
		require.ErrorContains(t, r.ReadAt(t.Context(), make([]byte, 5), 5), "the server has no ranges")
	}
	s, location, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) })
	r, err := s.Open(t.Context(), location)
	require.NoError(t, err)
	_, err = r.(storage.Streamer).Stream(t.Context())
	require.ErrorContains(t, err, "404")
}

// A stream that breaks off is an error, and no end.
func TestStreamBreaksOff(t *testing.T) {
	s, location, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			return
		}
		w.Header().Set("Content-Length", "500000")
		_, _ = w.Write(digits[:1000])
		require.NoError(t, http.NewResponseController(w).Flush())
		panic(http.ErrAbortHandler)
	})
	r, err := s.Open(t.Context(), location)
	require.NoError(t, err)
	body, err := r.(storage.Streamer).Stream(t.Context())
	require.NoError(t, err)
	_, err = io.ReadAll(body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NoError(t, body.Close())
}
