// Package fakes3 is a small S3 server in memory, for tests: objects, uploads in parts, conditional writes, lists, as
// far as storage/s3 uses them. It checks no signatures. Servers that others wrote are tested by make interop.
package fakes3

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
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

	mu       sync.Mutex
	objects  map[string]object
	uploads  map[string]*upload
	next     int
	requests []string
	sent     int64
}

type object struct {
	bytes []byte
	tag   string
	meta  http.Header
}

type upload struct {
	key   string
	meta  http.Header
	begun time.Time
	parts map[int]object
}

// New starts a server, which ends with the test, and sets the environment so that s3://bucket/ is on it.
func New(t testing.TB) *Server {
	s := &Server{objects: map[string]object{}, uploads: map[string]*upload{}}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL
	Environment(t, h.URL)
	return s
}

// Environment directs the AWS SDK to a server, away from what the machine has of configuration.
func Environment(t testing.TB, url string) {
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1",
		"AWS_CONFIG_FILE": "none", "AWS_SHARED_CREDENTIALS_FILE": "none", "AWS_EC2_METADATA_DISABLED": "true", "AWS_PROFILE": "", "AWS_SESSION_TOKEN": "",
		"AWS_ENDPOINT_URL_S3": "", "AWS_NO_SIGN_REQUEST": "",
	} {
		t.Setenv(name, value)
	}
}

// Requests returns the requests since the last call as "GET key bytes=0-9", and the number of bytes of objects in answers.
func (s *Server) Requests() (requests []string, sent int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests, sent = s.requests, s.sent
	s.requests, s.sent = nil, 0
	return requests, sent
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
	s.objects[key] = newObject(content, nil)
}

// Change is Put within [Server.Fault].
func (s *Server) Change(key string, content []byte) { s.objects[key] = newObject(content, nil) }

// Uploads is the number of uploads that are neither completed nor aborted.
func (s *Server) Uploads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.uploads)
}

func newObject(content []byte, meta http.Header) object {
	sum := md5.Sum(content)
	return object{bytes.Clone(content), `"` + hex.EncodeToString(sum[:]) + `"`, meta}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		return // the client has left
	}
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	s.next++
	n := s.next
	s.requests = append(s.requests, strings.TrimSpace(r.Method+" "+key+" "+r.Header.Get("Range")))
	if s.Fault != nil && s.Fault(n, w, r) {
		return
	}
	if s.Lost != nil && s.Lost(n, r) {
		s.handle(httptest.NewRecorder(), r, key, body)
		panic(http.ErrAbortHandler)
	}
	if bucket, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); bucket != "bucket" {
		Fail(w, 404, "NoSuchBucket")
		return
	}
	s.handle(w, r, key, body)
}

// Fail answers with an error.
func Fail(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, code)
}

func answer(w http.ResponseWriter, v any) {
	if err := xml.NewEncoder(w).Encode(v); err != nil {
		panic(err)
	}
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	q := r.URL.Query()
	u := s.uploads[q.Get("uploadId")]
	switch {
	case q.Has("uploadId") && u == nil:
		Fail(w, 404, "NoSuchUpload")
	case r.Method == "POST" && q.Has("uploads"):
		s.begin(w, r, key)
	case r.Method == "POST":
		s.complete(w, r, u, body)
	case r.Method == "DELETE" && u != nil:
		delete(s.uploads, q.Get("uploadId"))
		w.WriteHeader(204)
	case r.Method == "PUT" && u != nil:
		n, _ := strconv.Atoi(q.Get("partNumber"))
		u.parts[n] = newObject(body, nil)
		w.Header().Set("ETag", u.parts[n].tag)
	case r.Method == "GET" && u != nil:
		s.listParts(w, u)
	case r.Method == "GET" && q.Has("uploads"):
		s.listUploads(w, q.Get("prefix"))
	case r.Method == "GET" && key == "":
		s.list(w, q.Get("prefix"), q.Get("continuation-token"))
	case r.Method == "GET" || r.Method == "HEAD":
		s.get(w, r, key)
	case r.Method == "DELETE":
		delete(s.objects, key)
		w.WriteHeader(204)
	case r.Method == "PUT":
		s.put(w, r, key, newObject(body, metadata(r)))
	}
}

func metadata(r *http.Request) http.Header {
	meta := http.Header{}
	for name, values := range r.Header {
		if strings.HasPrefix(name, "X-Amz-Meta-") {
			meta[name] = values
		}
	}
	return meta
}

// put stores an object if the condition of the request holds, and reports whether it did.
func (s *Server) put(w http.ResponseWriter, r *http.Request, key string, o object) bool {
	old, ok := s.objects[key]
	match := r.Header.Get("If-Match")
	switch {
	case match != "" && !ok:
		Fail(w, 404, "NoSuchKey")
	case match != "" && match != old.tag, ok && r.Header.Get("If-None-Match") == "*":
		Fail(w, 412, "PreconditionFailed")
	default:
		s.objects[key] = o
		w.Header().Set("ETag", o.tag)
		return true
	}
	return false
}

func (s *Server) get(w http.ResponseWriter, r *http.Request, key string) {
	o, ok := s.objects[key]
	if !ok {
		Fail(w, 404, "NoSuchKey")
		return
	}
	w.Header().Set("ETag", o.tag)
	maps.Copy(w.Header(), o.meta)
	if len(o.bytes) == 0 && r.Header.Get("Range") != "" {
		Fail(w, 416, "InvalidRange")
		return
	}
	http.ServeContent(counter{w, &s.sent}, r, "", time.Time{}, bytes.NewReader(o.bytes))
}

// counter counts the bytes of bodies.
type counter struct {
	http.ResponseWriter
	n *int64
}

func (c counter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	*c.n += int64(n)
	return n, err
}

func (s *Server) begin(w http.ResponseWriter, r *http.Request, key string) {
	id := fmt.Sprintf("upload-%d", s.next)
	s.uploads[id] = &upload{key, metadata(r), time.Now(), map[int]object{}}
	answer(w, struct {
		XMLName  xml.Name `xml:"InitiateMultipartUploadResult"`
		UploadId string
	}{UploadId: id})
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request, u *upload, body []byte) {
	var in struct {
		Part []struct {
			PartNumber int
			ETag       string
		}
	}
	if err := xml.Unmarshal(body, &in); err != nil {
		Fail(w, 400, "MalformedXML")
		return
	}
	var all []byte
	for i, p := range in.Part {
		part, ok := u.parts[p.PartNumber]
		if !ok || part.tag != p.ETag || p.PartNumber != i+1 {
			Fail(w, 400, "InvalidPart")
			return
		}
		if len(part.bytes) < 5<<20 && i < len(in.Part)-1 {
			Fail(w, 400, "EntityTooSmall")
			return
		}
		all = append(all, part.bytes...)
	}
	if s.put(w, r, u.key, newObject(all, u.meta)) {
		delete(s.uploads, r.URL.Query().Get("uploadId"))
		answer(w, struct {
			XMLName xml.Name `xml:"CompleteMultipartUploadResult"`
			Key     string
		}{Key: u.key})
	}
}

func (s *Server) listUploads(w http.ResponseWriter, prefix string) {
	type entry struct {
		Key, UploadId string
		Initiated     time.Time
	}
	var out struct {
		XMLName xml.Name `xml:"ListMultipartUploadsResult"`
		Upload  []entry
	}
	for id, u := range s.uploads {
		if strings.HasPrefix(u.key, prefix) {
			out.Upload = append(out.Upload, entry{u.key, id, u.begun.UTC()})
		}
	}
	answer(w, out)
}

func (s *Server) listParts(w http.ResponseWriter, u *upload) {
	type entry struct{ PartNumber int }
	var out struct {
		XMLName xml.Name `xml:"ListPartsResult"`
		Part    []entry
	}
	for n := range u.parts {
		out.Part = append(out.Part, entry{n})
	}
	answer(w, out)
}

// list answers with pages of three objects.
func (s *Server) list(w http.ResponseWriter, prefix, after string) {
	type entry struct {
		Key, ETag string
		Size      int
	}
	var out struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
		Contents              []entry
	}
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if !strings.HasPrefix(key, prefix) || key <= after {
			continue
		}
		if len(out.Contents) == 3 {
			out.IsTruncated, out.NextContinuationToken = true, out.Contents[2].Key
			break
		}
		out.Contents = append(out.Contents, entry{key, s.objects[key].tag, len(s.objects[key].bytes)})
	}
	answer(w, out)
}
