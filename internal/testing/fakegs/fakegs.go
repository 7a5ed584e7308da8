// Package fakegs is a small server of Google Cloud Storage in memory, for tests: objects, resumable uploads, generations,
// lists, as far as storage/gs uses them. It checks no credentials.
package fakegs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is a server with one bucket, named "bucket". Fields are set before its first request.
type Server struct {
	URL string
	// Fault, if not nil, is called with the number of each request, from 1 on, and may answer itself: then it returns true.
	// Requests are handled one after another.
	Fault func(n int, w http.ResponseWriter, r *http.Request) bool
	// Lost, if not nil, lets the answer to a request be lost after the server has done it.
	Lost func(n int, r *http.Request) bool
	// Keeps, if positive, is the most bytes that an upload keeps of one request that does not end it.
	Keeps int

	mu       sync.Mutex
	objects  map[string]object
	uploads  map[string]*upload
	next     int
	requests []string
}

type object struct {
	bytes      []byte
	generation string
	meta       map[string]string
}

type upload struct {
	key, match string
	meta       map[string]string
	bytes      []byte
	done       string // generation
}

// New starts a server, which ends with the test, and sets the environment so that gs://bucket/ is on it.
func New(t testing.TB) *Server {
	s := &Server{objects: map[string]object{}, uploads: map[string]*upload{}}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL
	t.Setenv("STORAGE_EMULATOR_HOST", h.URL)
	return s
}

// Requests returns the requests since the last call as "GET key bytes=0-9".
func (s *Server) Requests() (requests []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests, s.requests = s.requests, nil
	return requests
}

// Keys returns the keys of all objects, sorted.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.objects))
}

// Object returns the bytes of an object, or nil.
func (s *Server) Object(key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[key].bytes
}

// Put stores an object.
func (s *Server) Put(key string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	s.objects[key] = object{content, strconv.Itoa(s.next), nil}
}

// Uploads is the number of uploads that are neither completed nor dropped.
func (s *Server) Uploads() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.uploads {
		if u.done == "" {
			n++
		}
	}
	return n
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		return // the client has left
	}
	_, escaped, _ := strings.Cut(r.URL.EscapedPath(), "/o/")
	key, _ := url.PathUnescape(escaped)
	s.next++
	n := s.next
	s.requests = append(s.requests, strings.TrimSpace(r.Method+" "+key+" "+r.Header.Get("Range")+r.Header.Get("Content-Range")))
	if s.Fault != nil && s.Fault(n, w, r) {
		return
	}
	if s.Lost != nil && s.Lost(n, r) {
		s.handle(httptest.NewRecorder(), r, key, body)
		panic(http.ErrAbortHandler)
	}
	s.handle(w, r, key, body)
}

// Fail answers with an error.
func Fail(w http.ResponseWriter, status int, message string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error": {"code": %d, "message": %q}}`, status, message)
}

func answer(w http.ResponseWriter, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		panic(err)
	}
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	q := r.URL.Query()
	switch bucket := strings.Split(strings.TrimPrefix(r.URL.Path, "/upload"), "/"); {
	case len(bucket) > 4 && bucket[4] != "bucket":
		Fail(w, 404, "The specified bucket does not exist.")
	case q.Has("upload_id"):
		s.resume(w, r, q.Get("upload_id"), body)
	case q.Get("uploadType") == "resumable":
		s.begin(w, q, body)
	case q.Get("uploadType") == "multipart":
		s.multipart(w, r, q, body)
	case key == "":
		s.list(w, q.Get("prefix"), q.Get("pageToken"))
	default:
		s.object(w, r, key, q)
	}
}

func (s *Server) object(w http.ResponseWriter, r *http.Request, key string, q url.Values) {
	o, ok := s.objects[key]
	switch match := q.Get("ifGenerationMatch"); {
	case !ok:
		Fail(w, 404, "No such object: bucket/"+key)
	case match != "" && match != o.generation:
		Fail(w, 412, "At least one of the pre-conditions you specified did not hold.")
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(204)
	case q.Get("alt") != "media":
		answer(w, describe(key, o))
	case len(o.bytes) == 0 && r.Header.Get("Range") != "":
		Fail(w, 416, "Requested range not satisfiable")
	default:
		w.Header().Set("X-Goog-Generation", o.generation)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(o.bytes))
	}
}

func describe(key string, o object) map[string]any {
	return map[string]any{"name": key, "size": strconv.Itoa(len(o.bytes)), "generation": o.generation, "metadata": o.meta}
}

// put stores an object if the condition holds, and reports whether it did.
func (s *Server) put(w http.ResponseWriter, key, match string, content []byte, meta map[string]string) bool {
	old, ok := s.objects[key]
	if match == "0" && ok || match != "" && match != "0" && match != old.generation {
		Fail(w, 412, "At least one of the pre-conditions you specified did not hold.")
		return false
	}
	s.next++
	s.objects[key] = object{content, strconv.Itoa(s.next), meta}
	answer(w, describe(key, s.objects[key]))
	return true
}

// description is the metadata that an upload begins with.
type description struct {
	Name     string
	Metadata map[string]string
}

func (s *Server) multipart(w http.ResponseWriter, r *http.Request, q url.Values, body []byte) {
	_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	parts := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	var all [][]byte
	for {
		p, err := parts.NextRawPart()
		if err != nil {
			break
		}
		b, _ := io.ReadAll(p)
		all = append(all, b)
	}
	var d description
	if len(all) != 2 || json.Unmarshal(all[0], &d) != nil {
		Fail(w, 400, "Bad multipart body")
		return
	}
	s.put(w, d.Name, q.Get("ifGenerationMatch"), all[1], d.Metadata)
}

func (s *Server) begin(w http.ResponseWriter, q url.Values, body []byte) {
	var d description
	if json.Unmarshal(body, &d) != nil {
		Fail(w, 400, "Bad description")
		return
	}
	id := fmt.Sprintf("upload-%d", s.next)
	s.uploads[id] = &upload{key: d.Name, match: q.Get("ifGenerationMatch"), meta: d.Metadata}
	w.Header().Set("Location", s.URL+"/upload/storage/v1/b/bucket/o?upload_id="+id)
}

func (s *Server) resume(w http.ResponseWriter, r *http.Request, id string, body []byte) {
	u := s.uploads[id]
	switch {
	case u == nil:
		Fail(w, 404, "No such upload")
		return
	case u.done != "":
		answer(w, describe(u.key, object{u.bytes, u.done, u.meta}))
		return
	case r.Method == http.MethodDelete:
		delete(s.uploads, id)
		w.WriteHeader(499)
		return
	}
	place, total, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Content-Range"), "bytes "), "/")
	var from, last int
	if _, err := fmt.Sscanf(place, "%d-%d", &from, &last); place != "*" && (err != nil || from > len(u.bytes) || last+1-from != len(body)) {
		Fail(w, 400, "Bad Content-Range")
		return
	}
	if total == "*" && len(body)%(256<<10) != 0 {
		Fail(w, 400, "Not a multiple of 256 KiB")
		return
	}
	if place != "*" {
		if s.Keeps > 0 && total == "*" {
			body = body[:min(len(body), s.Keeps)]
		}
		u.bytes = append(u.bytes[:from], body...)
	}
	if total == strconv.Itoa(len(u.bytes)) {
		if s.put(w, u.key, u.match, u.bytes, u.meta) {
			u.done = s.objects[u.key].generation
		}
		return
	}
	if len(u.bytes) > 0 {
		w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", len(u.bytes)-1))
	}
	w.WriteHeader(308)
}

// list answers with pages of three objects.
func (s *Server) list(w http.ResponseWriter, prefix, after string) {
	out := map[string]any{}
	var items []map[string]any
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if !strings.HasPrefix(key, prefix) || key <= after {
			continue
		}
		if len(items) == 3 {
			out["nextPageToken"] = items[2]["name"]
			break
		}
		items = append(items, describe(key, s.objects[key]))
	}
	out["items"] = items
	answer(w, out)
}
