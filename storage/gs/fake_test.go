package gs_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/amudai/amudai-go/internal/testing/fakecloud"
)

// server is a small server of Google Cloud Storage in memory, for tests: objects, resumable uploads, generations,
// lists, as far as storage/gs uses them. It checks no credentials.
//
// It has one bucket, named "bucket". The tags of its objects are generations.
type server struct {
	fakecloud.Server[map[string]string]
	// Keeps, if positive, is the most bytes that an upload keeps of one request that does not end it.
	Keeps   int
	uploads map[string]*upload
}

type object = fakecloud.Object[map[string]string]

type upload struct {
	key, match string
	meta       map[string]string
	bytes      []byte
	done       string // generation
}

// newServer starts a server, which ends with the test, and sets the environment so that gs://bucket/ is on it.
func newServer(t testing.TB) *server {
	s := &server{uploads: map[string]*upload{}}
	s.Start(t, func(r *fakecloud.Request) {
		_, escaped, _ := strings.Cut(r.URL.EscapedPath(), "/o/")
		r.Key, _ = url.PathUnescape(escaped)
		r.Name = r.Method + " " + r.Key + " " + r.Header.Get("Range") + r.Header.Get("Content-Range")
	}, s.handle, func(content []byte, version int) object { return object{Bytes: content, Tag: strconv.Itoa(version)} })
	t.Setenv("STORAGE_EMULATOR_HOST", s.URL)
	return s
}

// Uploads is the number of uploads that are neither completed nor dropped.
func (s *server) Uploads() (n int) {
	s.Locked(func() {
		for _, u := range s.uploads {
			if u.done == "" {
				n++
			}
		}
	})
	return n
}

// fail answers with an error.
func fail(w http.ResponseWriter, status int, message string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error": {"code": %d, "message": %q}}`, status, message)
}

func answer(w http.ResponseWriter, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		panic(err)
	}
}

func (s *server) handle(w http.ResponseWriter, r *fakecloud.Request) {
	q, key, body := r.URL.Query(), r.Key, r.Body
	switch bucket := strings.Split(strings.TrimPrefix(r.URL.Path, "/upload"), "/"); {
	case len(bucket) > 4 && bucket[4] != "bucket":
		fail(w, 404, "The specified bucket does not exist.")
	case q.Has("upload_id"):
		s.resume(w, r, q.Get("upload_id"), body)
	case q.Get("uploadType") == "resumable":
		s.begin(w, q, body)
	case strings.Contains(r.URL.EscapedPath(), "/rewriteTo/"):
		s.rewrite(w, r, q, body)
	case q.Get("uploadType") == "multipart":
		s.multipart(w, r, q, body)
	case key == "":
		s.list(w, q.Get("prefix"), q.Get("pageToken"))
	default:
		s.object(w, r, key, q)
	}
}

func (s *server) object(w http.ResponseWriter, r *fakecloud.Request, key string, q url.Values) {
	o, ok := s.Objects[key]
	switch match := q.Get("ifGenerationMatch"); {
	case !ok:
		fail(w, 404, "No such object: bucket/"+key)
	case match != "" && match != o.Tag:
		fail(w, 412, "At least one of the pre-conditions you specified did not hold.")
	case r.Method == http.MethodDelete:
		delete(s.Objects, key)
		w.WriteHeader(204)
	case q.Get("alt") != "media":
		answer(w, describe(key, o))
	case len(o.Bytes) == 0 && r.Header.Get("Range") != "":
		fail(w, 416, "Requested range not satisfiable")
	default:
		w.Header().Set("X-Goog-Generation", o.Tag)
		http.ServeContent(w, r.Request, "", time.Time{}, bytes.NewReader(o.Bytes))
	}
}

func describe(key string, o object) map[string]any {
	return map[string]any{"name": key, "size": strconv.Itoa(len(o.Bytes)), "generation": o.Tag, "metadata": o.Meta, "updated": "2026-01-02T03:04:05.678Z"}
}

// put stores an object if the condition holds, and reports whether it did.
func (s *server) put(w http.ResponseWriter, key, match string, content []byte, meta map[string]string) bool {
	old, ok := s.Objects[key]
	if match == "0" && ok || match != "" && match != "0" && match != old.Tag {
		fail(w, 412, "At least one of the pre-conditions you specified did not hold.")
		return false
	}
	s.Objects[key] = object{Bytes: content, Tag: strconv.Itoa(s.Version()), Meta: meta}
	answer(w, describe(key, s.Objects[key]))
	return true
}

// description is the metadata that an upload begins with.
type description struct {
	Name     string
	Metadata map[string]string
	CRC32C   string
}

// isWrong reports whether bytes differ from a checksum, if there is one, and answers then.
func isWrong(w http.ResponseWriter, content []byte, sum string) bool {
	b := binary.BigEndian.AppendUint32(nil, crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli)))
	if sum == "" || sum == base64.StdEncoding.EncodeToString(b) {
		return false
	}
	fail(w, 400, "Provided CRC32C does not match")
	return true
}

func (s *server) multipart(w http.ResponseWriter, r *fakecloud.Request, q url.Values, body []byte) {
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
		fail(w, 400, "Bad multipart body")
		return
	}
	if !isWrong(w, all[1], d.CRC32C) {
		s.put(w, d.Name, q.Get("ifGenerationMatch"), all[1], d.Metadata)
	}
}

// rewrite copies in two requests what has more than a MiB.
func (s *server) rewrite(w http.ResponseWriter, r *fakecloud.Request, q url.Values, body []byte) {
	from, to, _ := strings.Cut(r.URL.EscapedPath(), "/rewriteTo/")
	key := func(path string) string {
		_, escaped, _ := strings.Cut(path, "/o/")
		key, _ := url.PathUnescape(escaped)
		return key
	}
	o, ok := s.Objects[key(from)]
	var d description
	switch {
	case !ok || q.Get("sourceGeneration") != o.Tag:
		fail(w, 404, "No such object: bucket/"+key(from))
	case json.Unmarshal(body, &d) != nil:
		fail(w, 400, "Bad description")
	case len(o.Bytes) > 1<<20 && q.Get("rewriteToken") == "":
		answer(w, map[string]any{"done": false, "rewriteToken": "token " + key(to)})
	case len(o.Bytes) > 1<<20 && q.Get("rewriteToken") != "token "+key(to):
		fail(w, 400, "Bad rewriteToken")
	default:
		if out := httptest.NewRecorder(); !s.put(out, key(to), q.Get("ifGenerationMatch"), o.Bytes, d.Metadata) {
			w.WriteHeader(out.Code)
			_, _ = w.Write(out.Body.Bytes())
			return
		}
		answer(w, map[string]any{"done": true})
	}
}

func (s *server) begin(w http.ResponseWriter, q url.Values, body []byte) {
	var d description
	if json.Unmarshal(body, &d) != nil {
		fail(w, 400, "Bad description")
		return
	}
	id := fmt.Sprintf("upload-%d", s.Version())
	s.uploads[id] = &upload{key: d.Name, match: q.Get("ifGenerationMatch"), meta: d.Metadata}
	w.Header().Set("Location", s.URL+"/upload/storage/v1/b/bucket/o?upload_id="+id)
}

func (s *server) resume(w http.ResponseWriter, r *fakecloud.Request, id string, body []byte) {
	u := s.uploads[id]
	switch {
	case u == nil:
		fail(w, 404, "No such upload")
		return
	case u.done != "":
		answer(w, describe(u.key, object{Bytes: u.bytes, Tag: u.done, Meta: u.meta}))
		return
	case r.Method == http.MethodDelete:
		delete(s.uploads, id)
		w.WriteHeader(499)
		return
	}
	place, total, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Content-Range"), "bytes "), "/")
	var from, last int
	if _, err := fmt.Sscanf(place, "%d-%d", &from, &last); place != "*" && (err != nil || from > len(u.bytes) || last+1-from != len(body)) {
		fail(w, 400, "Bad Content-Range")
		return
	}
	if total == "*" && len(body)%(256<<10) != 0 {
		fail(w, 400, "Not a multiple of 256 KiB")
		return
	}
	if place != "*" {
		if s.Keeps > 0 && total == "*" {
			body = body[:min(len(body), s.Keeps)]
		}
		u.bytes = append(u.bytes[:from], body...)
	}
	if total == strconv.Itoa(len(u.bytes)) {
		if !isWrong(w, u.bytes, strings.TrimPrefix(r.Header.Get("X-Goog-Hash"), "crc32c=")) && s.put(w, u.key, u.match, u.bytes, u.meta) {
			u.done = s.Objects[u.key].Tag
		}
		return
	}
	if len(u.bytes) > 0 {
		w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", len(u.bytes)-1))
	}
	w.WriteHeader(308)
}

// list answers with pages of three objects.
func (s *server) list(w http.ResponseWriter, prefix, after string) {
	out := map[string]any{}
	var items []map[string]any
	keys, more := s.Page(prefix, after)
	for _, key := range keys {
		items = append(items, describe(key, s.Objects[key]))
	}
	out["items"] = items
	if more {
		out["nextPageToken"] = keys[len(keys)-1]
	}
	answer(w, out)
}
