// Package fakeaz is a small server of Azure Blob Storage in memory, for tests: blobs, blocks, conditional writes, lists, as far
// as storage/az uses them. It checks no signatures. A server that others wrote is tested by make interop-stores.
package fakeaz

import (
	"bytes"
	"encoding/xml"
	"fmt"
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

// Server is a server with one container, named "container". Fields are set before its first request.
type Server struct {
	URL string
	// Fault, if not nil, is called with the number of each request, from 1 on, and may answer itself: then it returns true.
	// Requests are handled one after another.
	Fault func(n int, w http.ResponseWriter, r *http.Request) bool
	// Lost, if not nil, lets the answer to a request be lost after the server has done it.
	Lost func(n int, r *http.Request) bool

	mu       sync.Mutex
	blobs    map[string]blob
	blocks   map[string]map[string][]byte // by key and id
	next     int
	requests []string
}

type blob struct {
	bytes []byte
	tag   string
	meta  http.Header
}

// New starts a server, which ends with the test, and sets the environment so that az://container/ is on it.
func New(t testing.TB) *Server {
	s := &Server{blobs: map[string]blob{}, blocks: map[string]map[string][]byte{}}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "AccountName=account;AccountKey=a2V5;BlobEndpoint="+h.URL+"/account")
	return s
}

// Requests returns the requests since the last call as "GET key bytes=0-9".
func (s *Server) Requests() (requests []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests, s.requests = s.requests, nil
	return requests
}

// Keys returns the keys of all blobs, sorted.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.blobs))
}

// Object returns the bytes of a blob, or nil.
func (s *Server) Object(key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.blobs[key].bytes
}

// Put stores a blob.
func (s *Server) Put(key string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	s.blobs[key] = blob{content, s.tag(), nil}
}

func (s *Server) tag() string { return fmt.Sprintf(`"0x%X"`, s.next) }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		return // the client has left
	}
	if ranges := r.Header.Get("X-Ms-Range"); ranges != "" { // which the service prefers
		r.Header.Set("Range", ranges)
	}
	container, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/account/"), "/")
	s.next++
	n := s.next
	s.requests = append(s.requests, strings.TrimSpace(r.Method+" "+key+" "+r.URL.Query().Get("comp")+r.Header.Get("Range")))
	if s.Fault != nil && s.Fault(n, w, r) {
		return
	}
	if s.Lost != nil && s.Lost(n, r) {
		s.handle(httptest.NewRecorder(), r, key, body)
		panic(http.ErrAbortHandler)
	}
	if container != "container" {
		Fail(w, 404, "ContainerNotFound")
		return
	}
	s.handle(w, r, key, body)
}

// Fail answers with an error.
func Fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("X-Ms-Error-Code", code)
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	q := r.URL.Query()
	b, ok := s.blobs[key]
	match := r.Header.Get("If-Match")
	switch comp := q.Get("comp"); {
	case comp == "list":
		s.list(w, q.Get("prefix"), q.Get("marker"))
	case comp == "block":
		if s.blocks[key] == nil {
			s.blocks[key] = map[string][]byte{}
		}
		s.blocks[key][q.Get("blockid")] = body
		w.WriteHeader(201)
	case r.Method != http.MethodPut && !ok:
		Fail(w, 404, "BlobNotFound")
	case r.Method == http.MethodPut && ok && r.Header.Get("If-None-Match") == "*":
		Fail(w, 409, "BlobAlreadyExists")
	case match != "" && match != b.tag:
		Fail(w, 412, "ConditionNotMet")
	case comp == "blocklist":
		s.commit(w, r, key, body)
	case r.Method == http.MethodPut:
		s.put(w, r, key, body)
	case r.Method == http.MethodDelete:
		delete(s.blobs, key)
		w.WriteHeader(202)
	default:
		s.get(w, r, b)
	}
}

func (s *Server) put(w http.ResponseWriter, r *http.Request, key string, content []byte) {
	b := blob{content, s.tag(), http.Header{}}
	for name, values := range r.Header {
		if strings.HasPrefix(name, "X-Ms-Meta-") {
			b.meta[name] = values
		}
	}
	s.blobs[key] = b
	delete(s.blocks, key)
	w.Header().Set("ETag", b.tag)
	w.WriteHeader(201)
}

func (s *Server) commit(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	var list struct{ Latest []string }
	if err := xml.Unmarshal(body, &list); err != nil {
		Fail(w, 400, "InvalidXmlDocument")
		return
	}
	var all []byte
	for _, id := range list.Latest {
		block, ok := s.blocks[key][id]
		if !ok {
			Fail(w, 400, "InvalidBlockList")
			return
		}
		all = append(all, block...)
	}
	s.put(w, r, key, all)
}

func (s *Server) get(w http.ResponseWriter, r *http.Request, b blob) {
	w.Header().Set("ETag", b.tag)
	maps.Copy(w.Header(), b.meta)
	if len(b.bytes) == 0 && r.Header.Get("Range") != "" {
		Fail(w, 416, "InvalidRange")
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b.bytes))
}

// list answers with pages of three blobs, in which tags have no quotes.
func (s *Server) list(w http.ResponseWriter, prefix, after string) {
	type entry struct {
		Name       string
		Properties struct {
			Size int    `xml:"Content-Length"`
			Tag  string `xml:"Etag"`
		}
	}
	var out struct {
		XMLName    xml.Name `xml:"EnumerationResults"`
		Blobs      struct{ Blob []entry }
		NextMarker string
	}
	for _, key := range slices.Sorted(maps.Keys(s.blobs)) {
		if !strings.HasPrefix(key, prefix) || key <= after {
			continue
		}
		if len(out.Blobs.Blob) == 3 {
			out.NextMarker = out.Blobs.Blob[2].Name
			break
		}
		e := entry{Name: key}
		e.Properties.Size, e.Properties.Tag = len(s.blobs[key].bytes), strings.Trim(s.blobs[key].tag, `"`)
		out.Blobs.Blob = append(out.Blobs.Blob, e)
	}
	if err := xml.NewEncoder(w).Encode(out); err != nil {
		panic(err)
	}
}
