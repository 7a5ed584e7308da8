package gs

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/internal/object"
)

// tokenName is the name of the metadata that hold the token of a writer.
const tokenName = "amudai-write"

// resource is what Google tells of an object. Numbers are text.
type resource struct {
	Name       string            `json:"name,omitempty"`
	Size       int64             `json:"size,string,omitempty"`
	Generation string            `json:"generation,omitempty"`
	Metadata   map[string]string `json:"metadata,omitempty"`
	Updated    time.Time         `json:"updated,omitzero"`
	CRC32C     string            `json:"crc32c,omitempty"`
}

// url is the address of an object, or of the list of objects if the key is empty.
func (c *client) url(prefix, key string, query url.Values) string {
	u := c.endpoint + prefix + "/storage/v1/b/" + url.PathEscape(c.bucket) + "/o"
	if key != "" {
		u += "/" + url.PathEscape(key)
	}
	if len(query) > 0 {
		u += "?" + query.Encode()
	}
	return u
}

// send sends a request. The body of the answer is the caller's to close. A status from 300 on is an error of [object.Client], unless it is expected.
func (c *client) send(ctx context.Context, method, u string, header http.Header, body io.Reader, n int, expected ...int) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, u, body)
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		r.Header[name] = values
	}
	if c.project != "" {
		r.Header.Set("X-Goog-User-Project", c.project)
	}
	if body != nil {
		r.ContentLength = int64(n)
	}
	resp, err := c.http.Do(r)
	switch {
	case err != nil: // what breaks a connection is transient
		return nil, object.Unanswered(err, "check STORAGE_EMULATOR_HOST")
	case resp.StatusCode < 300 || slices.Contains(expected, resp.StatusCode):
		return resp, nil
	}
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, maxError)) // what has arrived will do
	return nil, errors.Join(c.failure(resp.StatusCode, resp.Header, messageOf(answer)), resp.Body.Close())
}

// failure is the error of an answer with a status from 300 on, as [object.Client] has it.
func (c *client) failure(s int, header http.Header, message string) error {
	switch {
	case s == 404 && strings.Contains(message, "bucket does not exist"):
		return object.Failure{Text: "there is no bucket " + c.bucket, Advice: "check its name"}
	case s == 401:
		return object.Failure{Text: "the credentials are not accepted", Advice: "sign in with gcloud auth application-default login", Err: fs.ErrPermission}
	}
	err := fmt.Errorf("the server answers with status %d", s)
	if message != "" && !object.TransientStatus(s) {
		err = fmt.Errorf("the server answers: %s (status %d)", message, s)
	}
	return object.OfStatus(s, header, err, "check the account of the credentials, and its roles for the bucket "+c.bucket)
}

// messageOf is the text of an answer that is an error.
func messageOf(body []byte) string {
	var answer struct {
		Error struct{ Message string }
	}
	if json.Unmarshal(body, &answer) == nil {
		return answer.Error.Message
	}
	if text := strings.TrimSpace(string(body)); len(text) < 200 && !strings.Contains(text, "<") {
		return text
	}
	return ""
}

func (c *client) Get(ctx context.Context, key string, off, n int64, v storage.Version) (object.Content, error) {
	q := url.Values{"alt": {"media"}}
	if v != "" {
		q.Set("ifGenerationMatch", string(v))
	}
	// Objects that are stored compressed are not decompressed.
	header := http.Header{"Range": {object.Range(off, n)}, "Accept-Encoding": {"gzip"}}
	resp, err := c.send(ctx, http.MethodGet, c.url("", key, q), header, nil, 0)
	if err != nil {
		return object.Content{}, err
	}
	answer, err := content(resp)
	if answer.Version = storage.Version(resp.Header.Get("X-Goog-Generation")); err == nil && answer.Version == "" {
		err = errors.New("the server sends no generation")
	}
	if err != nil {
		return object.Content{}, errors.Join(err, resp.Body.Close())
	}
	return answer, nil
}

// answer sends a request, and parses its answer.
func (c *client) answer(ctx context.Context, method, u string, header http.Header, body io.Reader, n int, into any) error {
	resp, err := c.send(ctx, method, u, header, body, n)
	if err != nil {
		return err
	}
	b, err := readAll(ctx, resp)
	if err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("the server answers with something else than JSON: %w", err)
	}
	return nil
}

func (c *client) Head(ctx context.Context, key string) (object.Properties, error) {
	var r resource
	err := c.answer(ctx, http.MethodGet, c.url("", key, url.Values{"fields": {"size,generation,metadata"}}), nil, nil, 0, &r)
	if err == nil && (r.Generation == "" || r.Size < 0) {
		err = errors.New("the server sends no generation or no size")
	}
	return object.Properties{Size: r.Size, Version: storage.Version(r.Generation), Token: r.Metadata[tokenName]}, err
}

func (c *client) Delete(ctx context.Context, key string, v storage.Version) error {
	return c.answer(ctx, http.MethodDelete, c.url("", key, condition(url.Values{}, object.Condition{IfMatch: v})), nil, nil, 0, nil)
}

func (c *client) List(ctx context.Context, prefix, page string) ([]object.Entry, string, error) {
	q := url.Values{"prefix": {prefix}, "fields": {"items(name,size,generation,updated),nextPageToken"}}
	if page != "" {
		q.Set("pageToken", page)
	}
	var answer struct {
		Items         []resource `json:"items"`
		NextPageToken string     `json:"nextPageToken"`
	}
	if err := c.answer(ctx, http.MethodGet, c.url("", "", q), nil, nil, 0, &answer); err != nil {
		return nil, "", err
	}
	all := make([]object.Entry, len(answer.Items))
	for i, r := range answer.Items {
		all[i] = object.Entry{Key: r.Name, Size: r.Size, Version: storage.Version(r.Generation), Modified: r.Updated}
	}
	return all, answer.NextPageToken, nil
}

// condition adds the condition of a write to a query. Generation 0 is that of an object which does not exist.
func condition(q url.Values, c object.Condition) url.Values {
	switch {
	case c.Absent:
		q.Set("ifGenerationMatch", "0")
	case c.IfMatch != "":
		q.Set("ifGenerationMatch", string(c.IfMatch))
	}
	return q
}

// described is the metadata of a new object, with the checksum of its bytes if it is known.
func described(key, token, sum string) ([]byte, error) {
	return json.Marshal(resource{Name: key, Metadata: map[string]string{tokenName: token}, CRC32C: sum})
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encoded is a checksum as Google writes it.
func encoded(sum uint32) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, sum))
}

// Put implements [object.Client]: metadata and bytes are one request. The server refuses bytes that differ from the checksum.
func (c *client) Put(ctx context.Context, key string, body []byte, token string, cond object.Condition) error {
	meta, err := described(key, token, encoded(crc32.Checksum(body, castagnoli)))
	if err != nil {
		return err
	}
	var head bytes.Buffer
	w := multipart.NewWriter(&head)
	for i, kind := range []string{"application/json; charset=UTF-8", "application/octet-stream"} {
		part, err := w.CreatePart(textproto.MIMEHeader{"Content-Type": {kind}})
		if err == nil && i == 0 {
			_, err = part.Write(meta)
		}
		if err != nil {
			return err
		}
	}
	end := "\r\n--" + w.Boundary() + "--\r\n"
	n := head.Len() + len(body) + len(end)
	all := io.MultiReader(&head, bytes.NewReader(body), strings.NewReader(end))
	q := condition(url.Values{"uploadType": {"multipart"}, "fields": {"generation"}}, cond)
	header := http.Header{"Content-Type": {"multipart/related; boundary=" + w.Boundary()}}
	return c.answer(ctx, http.MethodPost, c.url("/upload", "", q), header, all, n, nil)
}
