// Package fakecloud has what the servers of objects for tests have in common: objects in memory, faults, and a record of requests.
package fakecloud

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// PageLen is the number of entries in a page of a list.
const PageLen = 3

// Object is an object with the version and the metadata that its cloud gives to it.
type Object[M any] struct {
	Bytes    []byte
	Tag      string
	Meta     M
	Modified time.Time // zero is long ago
}

// Request is a request, read whole. Name is how it is recorded, such as "GET key bytes=0-9".
type Request struct {
	*http.Request
	Key, Name string
	Body      []byte
}

// Server is a server of objects. Fields are set before its first request.
type Server[M any] struct {
	URL string
	// Fault, if not nil, is called with the number of each request, from 1 on, and may answer itself: then it returns true.
	// Requests are handled one after another.
	Fault func(n int, w http.ResponseWriter, r *http.Request) bool
	// Door, if not nil, is called with each request as it comes, and may hold it back beside others.
	Door func(r *http.Request)
	// Flips has a bit of each body of more than 4,000 bytes change on its way.
	Flips bool
	// Lost, if not nil, lets the answer to a request be lost after the server has done it.
	Lost func(n int, r *http.Request) bool

	Objects map[string]Object[M] // only for the functions of Start and Fault

	object   func(content []byte, version int) Object[M]
	mu       sync.Mutex
	version  int
	number   int // of requests
	requests []string
	sent     int64
}

// Start starts a server, which ends with the test. It asks parse for the key and the name of each request, handle for the answer, and object
// for an object of some bytes.
func (s *Server[M]) Start(t testing.TB, parse func(*Request), handle func(http.ResponseWriter, *Request), object func(content []byte, version int) Object[M]) {
	s.Objects, s.object = map[string]Object[M]{}, object
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if s.Door != nil {
			s.Door(r)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if err != nil {
			return // the client has left
		}
		if s.Flips && len(body) > 4000 {
			body[len(body)-1000] ^= 1
		}
		in := &Request{Request: r, Body: body}
		parse(in)
		s.number++
		n := s.number
		s.requests = append(s.requests, strings.TrimSpace(in.Name))
		if s.Fault != nil && s.Fault(n, w, r) {
			return
		}
		if s.Lost != nil && s.Lost(n, r) {
			handle(httptest.NewRecorder(), in)
			panic(http.ErrAbortHandler)
		}
		handle(w, in)
	}))
	t.Cleanup(h.Close)
	s.URL = h.URL
}

// Counted is w, with the bytes of bodies counted for [Server.Sent].
func (s *Server[M]) Counted(w http.ResponseWriter) http.ResponseWriter { return counter{w, &s.sent} }

type counter struct {
	http.ResponseWriter
	n *int64
}

func (c counter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	*c.n += int64(n)
	return n, err
}

// Requests returns the requests since the last call.
func (s *Server[M]) Requests() (requests []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests, s.requests = s.requests, nil
	return requests
}

// Sent returns the number of counted bytes since the last call.
func (s *Server[M]) Sent() (sent int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent, s.sent = s.sent, 0
	return sent
}

// Keys returns the keys of all objects, sorted.
func (s *Server[M]) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.Objects))
}

// Object returns the bytes of an object, or nil.
func (s *Server[M]) Object(key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Objects[key].Bytes
}

// Put stores an object.
func (s *Server[M]) Put(key string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Change(key, content)
}

// Change is Put within [Server.Fault].
func (s *Server[M]) Change(key string, content []byte) {
	s.Objects[key] = s.object(content, s.Version())
}

// Version is a number that was not given before.
func (s *Server[M]) Version() int {
	s.version++
	return s.version
}

// Locked calls f while no request is handled.
func (s *Server[M]) Locked(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// Page returns the next keys with a prefix behind one, at most PageLen, and whether more follow.
func (s *Server[M]) Page(prefix, after string) (keys []string, more bool) {
	for _, key := range slices.Sorted(maps.Keys(s.Objects)) {
		if !strings.HasPrefix(key, prefix) || key <= after {
			continue
		}
		if len(keys) == PageLen {
			return keys, true
		}
		keys = append(keys, key)
	}
	return keys, false
}

// Headers are the headers of a request whose names begin with a prefix.
func Headers(r *Request, prefix string) http.Header {
	meta := http.Header{}
	for name, values := range r.Header {
		if strings.HasPrefix(name, prefix) {
			meta[name] = values
		}
	}
	return meta
}
