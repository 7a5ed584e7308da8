package az

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/internal/object"
	"github.com/amudai/amudai-go/storage/internal/rest"
)

// apiVersion is the version of the service that requests ask for.
const apiVersion = "2021-12-02"

// tokenHeader is the metadata that hold the token of a writer.
const tokenHeader = "X-Ms-Meta-Amudaiwrite"

// request is a request of a container.
type request struct {
	method string
	key    string // or "" for the container
	query  url.Values
	header map[string]string
	body   []byte
}

// send sends a request. Its error is one of [object.Client].
func (c *client) send(ctx context.Context, q request) (*http.Response, error) {
	u := c.account.endpoint + "/" + url.PathEscape(c.container)
	if q.key != "" {
		u += "/" + (&url.URL{Path: q.key}).EscapedPath()
	}
	if len(q.query) > 0 {
		u += "?" + q.query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, q.method, u, bytes.NewReader(q.body))
	if err != nil {
		return nil, err
	}
	for name, value := range q.header {
		r.Header.Set(name, value)
	}
	if err := c.account.sign(ctx, r); err != nil {
		return nil, err
	}
	resp, err := rest.Do(c.http, r)
	return resp, c.failure(err)
}

// done sends a request whose answer has no content.
func (c *client) done(ctx context.Context, q request) error {
	resp, err := c.send(ctx, q)
	if err != nil {
		return err
	}
	_, err = rest.ReadAll(ctx, resp)
	return err
}

// failure translates an error into one of [object.Client].
func (c *client) failure(err error) error {
	var e *rest.Error
	if !errors.As(err, &e) {
		return err
	}
	code := e.Header.Get("X-Ms-Error-Code")
	switch code {
	case "ContainerNotFound":
		return object.Failure{Text: "there is no container " + c.container, Advice: "check its name, and that of the account " + c.account.name}
	case "BlobAlreadyExists", "ConditionNotMet", "TargetConditionNotMet":
		return object.ErrCondition
	case "AuthenticationFailed", "InvalidAuthenticationInfo":
		return object.Failure{
			Text: "the server does not accept these credentials", Advice: "check AZURE_STORAGE_KEY, the signature, its time of validity, or az login", Err: fs.ErrPermission,
		}
	case "InvalidBlockList":
		return errors.New("another writer has replaced the blob meanwhile")
	}
	switch s := e.Status; {
	case s == 404:
		return fs.ErrNotExist
	case s == 401, s == 403:
		return object.Failure{
			Text: "access denied", Advice: "check the role of the account of the credentials (Storage Blob Data Reader or Contributor), or the rights of the signature", Err: fs.ErrPermission,
		}
	case s == 412:
		return object.ErrCondition
	case s == 416:
		return object.ErrRange
	case object.TransientStatus(s):
		return object.Transient(fmt.Errorf("the server answers with status %d", s))
	case code != "":
		return fmt.Errorf("the server answers %s (status %d)", code, s)
	}
	return e
}

// Get implements [object.Client]. Azure knows no ranges at the end.
func (c *client) Get(ctx context.Context, key string, off, n int64, v storage.Version) (object.Content, error) {
	if off < 0 {
		return object.Content{}, errors.ErrUnsupported
	}
	header := map[string]string{"Range": object.Range(off, n)}
	if v != "" {
		header["If-Match"] = string(v)
	}
	resp, err := c.send(ctx, request{method: http.MethodGet, key: key, header: header})
	if err != nil {
		return object.Content{}, err
	}
	content, err := rest.Content(resp)
	if err == nil {
		content.Version, err = tag(resp.Header.Get("ETag"))
	}
	if err != nil {
		return object.Content{}, errors.Join(err, resp.Body.Close())
	}
	return content, nil
}

// tag is an entity tag, which lists show without quotes.
func tag(text string) (storage.Version, error) {
	if text = strings.Trim(text, `"`); text == "" {
		return "", errors.New("the server sends no entity tag")
	}
	return storage.Version(`"` + text + `"`), nil
}

// Head implements [object.Client].
func (c *client) Head(ctx context.Context, key string) (object.Properties, error) {
	resp, err := c.send(ctx, request{method: http.MethodHead, key: key})
	if err != nil {
		return object.Properties{}, err
	}
	p := object.Properties{Size: resp.ContentLength, Token: resp.Header.Get(tokenHeader)}
	if p.Size < 0 {
		err = errors.New("the server sends no size")
	} else {
		p.Version, err = tag(resp.Header.Get("ETag"))
	}
	return p, errors.Join(err, resp.Body.Close())
}

// Delete implements [object.Client].
func (c *client) Delete(ctx context.Context, key string) error {
	return c.done(ctx, request{method: http.MethodDelete, key: key})
}

// listed is a page of a list.
type listed struct {
	Blobs struct {
		Blob []struct {
			Name struct {
				Text    string `xml:",chardata"`
				Encoded bool   `xml:",attr"` // with percent signs, as XML lacks some characters
			}
			Properties struct {
				Size         int64  `xml:"Content-Length"`
				Tag          string `xml:"Etag"`
				ResourceType string
			}
		}
	}
	NextMarker string
}

// List implements [object.Client].
func (c *client) List(ctx context.Context, prefix, page string) ([]object.Entry, string, error) {
	q := url.Values{"restype": {"container"}, "comp": {"list"}, "prefix": {prefix}}
	if page != "" {
		q.Set("marker", page)
	}
	resp, err := c.send(ctx, request{method: http.MethodGet, query: q})
	if err != nil {
		return nil, "", err
	}
	text, err := rest.ReadAll(ctx, resp)
	if err != nil {
		return nil, "", err
	}
	var answer listed
	if err := xml.Unmarshal(text, &answer); err != nil {
		return nil, "", fmt.Errorf("the list is no XML: %w", err)
	}
	var all []object.Entry
	for _, b := range answer.Blobs.Blob {
		e := object.Entry{Key: b.Name.Text, Size: b.Properties.Size}
		if b.Name.Encoded {
			if e.Key, err = url.PathUnescape(e.Key); err != nil {
				return nil, "", fmt.Errorf("bad name in the list: %w", err)
			}
		}
		if e.Version, err = tag(b.Properties.Tag); err != nil {
			return nil, "", err
		}
		if b.Properties.ResourceType != "directory" { // of accounts with folders
			all = append(all, e)
		}
	}
	return all, answer.NextMarker, nil
}

// conditional adds the condition of a write, and the token, to headers.
func conditional(header map[string]string, token string, cond object.Condition) map[string]string {
	header[tokenHeader] = token
	switch {
	case cond.Absent:
		header["If-None-Match"] = "*"
	case cond.IfMatch != "":
		header["If-Match"] = string(cond.IfMatch)
	}
	return header
}

// Put implements [object.Client].
func (c *client) Put(ctx context.Context, key string, body []byte, token string, cond object.Condition) error {
	header := conditional(map[string]string{"X-Ms-Blob-Type": "BlockBlob", "Content-Type": "application/octet-stream"}, token, cond)
	return c.done(ctx, request{method: http.MethodPut, key: key, header: header, body: body})
}
