// Package fakes3 is a small S3 server in memory, for tests: objects, uploads in parts, conditional writes, lists, as
// far as storage/s3 uses them. It checks no signatures. Servers that others wrote are tested by make interop.
package fakes3

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"hash/crc64"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/amudai/amudai-go/internal/testing/fakecloud"
)

// Server is a server with one bucket, named "bucket".
type Server struct {
	fakecloud.Server[http.Header]
	uploads map[string]*upload
}

type object = fakecloud.Object[http.Header]

type upload struct {
	key   string
	meta  http.Header
	begun time.Time
	parts map[int]object
}

// New starts a server, which ends with the test, and sets the environment so that s3://bucket/ is on it.
func New(t testing.TB) *Server {
	s := &Server{uploads: map[string]*upload{}}
	s.Start(t, func(r *fakecloud.Request) {
		_, r.Key, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		r.Name = r.Method + " " + r.Key + " " + r.Header.Get("Range")
		unchunk(r)
	}, s.handle, func(content []byte, _ int) object { return newObject(content, nil) })
	Environment(t, s.URL)
	return s
}

// Environment directs the AWS SDK to a server, away from what the machine has of configuration.
func Environment(t testing.TB, url string) {
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1",
		"AWS_CONFIG_FILE": "none", "AWS_SHARED_CREDENTIALS_FILE": "none", "AWS_EC2_METADATA_DISABLED": "true", "AWS_PROFILE": "", "AWS_SESSION_TOKEN": "",
		"AWS_ENDPOINT_URL_S3": "", "AWS_NO_SIGN_REQUEST": "", "AWS_REQUEST_CHECKSUM_CALCULATION": "", "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "",
		"AWS_CA_BUNDLE": "",
	} {
		t.Setenv(name, value)
	}
}

// Uploads is the number of uploads that are neither completed nor aborted.
func (s *Server) Uploads() (n int) {
	s.Locked(func() { n = len(s.uploads) })
	return n
}

func newObject(content []byte, meta http.Header) object {
	sum := md5.Sum(content)
	return object{Bytes: bytes.Clone(content), Tag: `"` + hex.EncodeToString(sum[:]) + `"`, Meta: meta}
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

func (s *Server) handle(w http.ResponseWriter, r *fakecloud.Request) {
	q, key, body := r.URL.Query(), r.Key, r.Body
	u := s.uploads[q.Get("uploadId")]
	bucket, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case bucket != "bucket":
		Fail(w, 404, "NoSuchBucket")
	case isWrong(r):
		Fail(w, 400, "XAmzContentSHA256Mismatch")
	case r.Header.Get(checksum) != "" && r.Header.Get(checksum) != Checksum(body):
		Fail(w, 400, "BadDigest")
	case q.Has("uploadId") && u == nil:
		Fail(w, 404, "NoSuchUpload")
	case r.Method == "POST" && q.Has("uploads"):
		s.begin(w, r, key)
	case r.Method == "POST":
		s.complete(w, r, u, body)
	case r.Method == "DELETE" && u != nil:
		delete(s.uploads, q.Get("uploadId"))
		w.WriteHeader(204)
	case r.Method == "PUT" && u != nil && r.Header.Get("X-Amz-Copy-Source") != "":
		s.copyPart(w, r, u)
	case r.Method == "PUT" && u != nil:
		n, _ := strconv.Atoi(q.Get("partNumber"))
		u.parts[n] = newObject(body, nil)
		w.Header().Set("ETag", u.parts[n].Tag)
	case r.Method == "GET" && u != nil:
		s.listParts(w, u)
	case r.Method == "GET" && q.Has("uploads"):
		s.listUploads(w, q.Get("prefix"))
	case r.Method == "GET" && key == "":
		s.list(w, q.Get("prefix"), q.Get("continuation-token"))
	case r.Method == "GET" || r.Method == "HEAD":
		s.get(w, r, key)
	case r.Method == "DELETE" && r.Header.Get("If-Match") != "" && r.Header.Get("If-Match") != s.Objects[key].Tag:
		Fail(w, 412, "PreconditionFailed")
	case r.Method == "DELETE":
		delete(s.Objects, key)
		w.WriteHeader(204)
	case r.Method == "PUT":
		s.put(w, r, key, newObject(body, metadata(r)))
	}
}

// checksum is the header, or the trailer, of a CRC64NVME.
const checksum = "X-Amz-Checksum-Crc64nvme"

var nvme = crc64.MakeTable(0x9a6c_9329_ac4b_c9b5)

// Checksum is the value of that header.
func Checksum(body []byte) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, crc64.Checksum(body, nvme)))
}

// unchunk takes the body of a request out of its only chunk, and makes a header of the trailer behind it.
func unchunk(r *fakecloud.Request) {
	if r.Header.Get("Content-Encoding") != "aws-chunked" {
		return
	}
	size, rest, _ := bytes.Cut(r.Body, []byte("\r\n"))
	n, err := strconv.ParseInt(string(size), 16, 32)
	if err != nil || int(n) > len(rest) {
		return
	}
	_, trailer, _ := strings.Cut(string(rest[n:]), "\r\n0\r\n")
	name, value, _ := strings.Cut(strings.TrimSpace(trailer), ":")
	r.Header.Set(name, value)
	r.Body = rest[:n]
}

// isWrong reports whether the body of a request differs from the checksum in its signature, if there is one.
func isWrong(r *fakecloud.Request) bool {
	signed, err := hex.DecodeString(r.Header.Get("X-Amz-Content-Sha256"))
	sum := sha256.Sum256(r.Body)
	return err == nil && len(signed) > 0 && !bytes.Equal(signed, sum[:])
}

func metadata(r *fakecloud.Request) http.Header { return fakecloud.Headers(r, "X-Amz-Meta-") }

// put stores an object if the condition of the request holds, and reports whether it did.
func (s *Server) put(w http.ResponseWriter, r *fakecloud.Request, key string, o object) bool {
	old, ok := s.Objects[key]
	match := r.Header.Get("If-Match")
	switch {
	case match != "" && !ok:
		Fail(w, 404, "NoSuchKey")
	case match != "" && match != old.Tag, ok && r.Header.Get("If-None-Match") == "*":
		Fail(w, 412, "PreconditionFailed")
	default:
		o.Modified = time.Now()
		s.Objects[key] = o
		w.Header().Set("ETag", o.Tag)
		return true
	}
	return false
}

func (s *Server) get(w http.ResponseWriter, r *fakecloud.Request, key string) {
	o, ok := s.Objects[key]
	if !ok {
		Fail(w, 404, "NoSuchKey")
		return
	}
	w.Header().Set("ETag", o.Tag)
	maps.Copy(w.Header(), o.Meta)
	if len(o.Bytes) == 0 && r.Header.Get("Range") != "" {
		Fail(w, 416, "InvalidRange")
		return
	}
	http.ServeContent(s.Counted(w), r.Request, "", time.Time{}, bytes.NewReader(o.Bytes))
}

func (s *Server) copyPart(w http.ResponseWriter, r *fakecloud.Request, u *upload) {
	source, err := url.QueryUnescape(r.Header.Get("X-Amz-Copy-Source")) // as Amazon does, with + for a space
	_, key, _ := strings.Cut(source, "/")
	o, ok := s.Objects[key]
	var start, last int
	_, rangeErr := fmt.Sscanf(r.Header.Get("X-Amz-Copy-Source-Range"), "bytes=%d-%d", &start, &last)
	switch {
	case err != nil || !ok:
		Fail(w, 404, "NoSuchKey")
	case r.Header.Get("X-Amz-Copy-Source-If-Match") != o.Tag:
		Fail(w, 412, "PreconditionFailed")
	case rangeErr != nil || start > last || last >= len(o.Bytes):
		Fail(w, 400, "InvalidArgument")
	default:
		n, _ := strconv.Atoi(r.URL.Query().Get("partNumber"))
		u.parts[n] = newObject(o.Bytes[start:last+1], nil)
		answer(w, struct {
			XMLName xml.Name `xml:"CopyPartResult"`
			ETag    string
		}{ETag: u.parts[n].Tag})
	}
}

func (s *Server) begin(w http.ResponseWriter, r *fakecloud.Request, key string) {
	id := fmt.Sprintf("upload-%d", s.Version())
	s.uploads[id] = &upload{key, metadata(r), time.Now(), map[int]object{}}
	answer(w, struct {
		XMLName  xml.Name `xml:"InitiateMultipartUploadResult"`
		UploadId string
	}{UploadId: id})
}

func (s *Server) complete(w http.ResponseWriter, r *fakecloud.Request, u *upload, body []byte) {
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
		if !ok || part.Tag != p.ETag || p.PartNumber != i+1 {
			Fail(w, 400, "InvalidPart")
			return
		}
		if len(part.Bytes) < 5<<20 && i < len(in.Part)-1 {
			Fail(w, 400, "EntityTooSmall")
			return
		}
		all = append(all, part.Bytes...)
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
		Key, ETag, LastModified string
		Size                    int
	}
	var out struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
		Contents              []entry
	}
	keys, more := s.Page(prefix, after)
	for _, key := range keys {
		modified := "2026-01-02T03:04:05.678Z"
		if at := s.Objects[key].Modified; !at.IsZero() {
			modified = at.UTC().Format("2006-01-02T15:04:05.000Z")
		}
		out.Contents = append(out.Contents, entry{key, s.Objects[key].Tag, modified, len(s.Objects[key].Bytes)})
	}
	if more {
		out.IsTruncated, out.NextContinuationToken = true, keys[len(keys)-1]
	}
	answer(w, out)
}
