package az_test

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/amudai/amudai-go/internal/testing/fakecloud"
)

// server is a small server of Azure Blob Storage in memory, for tests: blobs, blocks, conditional writes, lists, as far
// as storage/az uses them. It checks no signatures. A server that others wrote is tested by make interop-stores.
//
// It has one container, named "container".
type server struct {
	fakecloud.Server[http.Header]
	blocks map[string]map[string][]byte // by key and id
}

type blob = fakecloud.Object[http.Header]

// newServer starts a server, which ends with the test, and sets the environment so that az://container/ is on it.
func newServer(t testing.TB) *server {
	s := &server{blocks: map[string]map[string][]byte{}}
	s.Start(t, func(r *fakecloud.Request) {
		if ranges := r.Header.Get("X-Ms-Range"); ranges != "" { // which the service prefers
			r.Header.Set("Range", ranges)
		}
		_, r.Key, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/account/"), "/")
		r.Name = r.Method + " " + r.Key + " " + r.URL.Query().Get("comp") + r.Header.Get("Range")
	}, s.handle, newBlob)
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "AccountName=account;AccountKey=a2V5;BlobEndpoint="+s.URL+"/account")
	return s
}

func newBlob(content []byte, version int) blob {
	return blob{Bytes: content, Tag: fmt.Sprintf(`"0x%X"`, version)}
}

// fail answers with an error.
func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("X-Ms-Error-Code", code)
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
}

func (s *server) handle(w http.ResponseWriter, r *fakecloud.Request) {
	q, key, body := r.URL.Query(), r.Key, r.Body
	b, ok := s.Objects[key]
	match := r.Header.Get("If-Match")
	container, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/account/"), "/")
	switch comp := q.Get("comp"); {
	case container != "container":
		fail(w, 404, "ContainerNotFound")
	case isWrong(r, body):
		fail(w, 400, "Md5Mismatch")
	case comp == "list":
		s.list(w, q.Get("prefix"), q.Get("marker"))
	case comp == "block":
		if s.blocks[key] == nil {
			s.blocks[key] = map[string][]byte{}
		}
		if source := r.Header.Get("X-Ms-Copy-Source"); source != "" {
			var status int
			if body, status = s.part(r, source); status != 0 {
				fail(w, status, "SourceConditionNotMet")
				return
			}
		}
		s.blocks[key][q.Get("blockid")] = body
		w.WriteHeader(201)
	case r.Method != http.MethodPut && !ok:
		fail(w, 404, "BlobNotFound")
	case r.Method == http.MethodPut && ok && r.Header.Get("If-None-Match") == "*":
		fail(w, 409, "BlobAlreadyExists")
	case match != "" && match != b.Tag:
		fail(w, 412, "ConditionNotMet")
	case comp == "blocklist":
		s.commit(w, r, key, body)
	case r.Method == http.MethodPut:
		s.put(w, r, key, body)
	case r.Method == http.MethodDelete:
		delete(s.Objects, key)
		w.WriteHeader(202)
	default:
		s.get(w, r, b)
	}
}

// isWrong reports whether the body of a request differs from its checksum, if there is one.
func isWrong(r *fakecloud.Request, body []byte) bool {
	sum := md5.Sum(body)
	sent := r.Header.Get("Content-MD5")
	return sent != "" && sent != base64.StdEncoding.EncodeToString(sum[:])
}

// part is the range of another blob that becomes a block, or the status of an error. The URL of the blob must be signed.
func (s *server) part(r *fakecloud.Request, source string) ([]byte, int) {
	u, err := url.Parse(source)
	if err != nil || !u.Query().Has("sig") && r.Header.Get("X-Ms-Copy-Source-Authorization") == "" {
		return nil, 403
	}
	_, key, _ := strings.Cut(strings.TrimPrefix(u.Path, "/account/"), "/")
	var start, last int
	if _, err := fmt.Sscanf(r.Header.Get("X-Ms-Source-Range"), "bytes=%d-%d", &start, &last); err != nil {
		return nil, 400
	}
	b, ok := s.Objects[key]
	if !ok || r.Header.Get("X-Ms-Source-If-Match") != b.Tag {
		return nil, 412
	}
	return b.Bytes[start:min(last+1, len(b.Bytes))], 0
}

func (s *server) put(w http.ResponseWriter, r *fakecloud.Request, key string, content []byte) {
	b := newBlob(content, s.Version())
	b.Meta = fakecloud.Headers(r, "X-Ms-Meta-")
	s.Objects[key] = b
	delete(s.blocks, key)
	w.Header().Set("ETag", b.Tag)
	w.WriteHeader(201)
}

func (s *server) commit(w http.ResponseWriter, r *fakecloud.Request, key string, body []byte) {
	var list struct{ Latest []string }
	if err := xml.Unmarshal(body, &list); err != nil {
		fail(w, 400, "InvalidXmlDocument")
		return
	}
	var all []byte
	for _, id := range list.Latest {
		block, ok := s.blocks[key][id]
		if !ok {
			fail(w, 400, "InvalidBlockList")
			return
		}
		all = append(all, block...)
	}
	s.put(w, r, key, all)
}

func (s *server) get(w http.ResponseWriter, r *fakecloud.Request, b blob) {
	w.Header().Set("ETag", b.Tag)
	maps.Copy(w.Header(), b.Meta)
	if len(b.Bytes) == 0 && r.Header.Get("Range") != "" {
		fail(w, 416, "InvalidRange")
		return
	}
	http.ServeContent(w, r.Request, "", time.Time{}, bytes.NewReader(b.Bytes))
}

// list answers with pages of three blobs, in which tags have no quotes.
func (s *server) list(w http.ResponseWriter, prefix, after string) {
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
	keys, more := s.Page(prefix, after)
	for _, key := range keys {
		e := entry{Name: key}
		e.Properties.Size, e.Properties.Tag = len(s.Objects[key].Bytes), strings.Trim(s.Objects[key].Tag, `"`)
		out.Blobs.Blob = append(out.Blobs.Blob, e)
	}
	if more {
		out.NextMarker = keys[len(keys)-1]
	}
	if err := xml.NewEncoder(w).Encode(out); err != nil {
		panic(err)
	}
}
