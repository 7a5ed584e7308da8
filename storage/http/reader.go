package http

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	nethttp "net/http"
	"strconv"
	"strings"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/internal/object"
)

// reader is the [storage.Reader] of a location.
type reader struct {
	*object.Reader
	client client
}

// Version implements [storage.Reader]: only a strong entity tag promises equal bytes.
func (r *reader) Version(ctx context.Context) (storage.Version, error) {
	v, err := r.Reader.Version(ctx)
	if err == nil && !strings.HasPrefix(string(v), `"`) {
		return "", fmt.Errorf("%s has no strong entity tag: %w", r.Name(), errors.ErrUnsupported)
	}
	return v, err
}

// client is the [object.Source] of a location. Versions are those of versionOf.
type client struct {
	o   Options
	url string
}

// noVersion stands for the version of an object without an entity tag and a date.
const noVersion = "none"

// versionOf is the entity tag of an object, or else its date.
func versionOf(h nethttp.Header) storage.Version {
	return storage.Version(cmp.Or(h.Get("ETag"), h.Get("Last-Modified"), noVersion))
}

func (c client) Head(ctx context.Context, _ string) (object.Properties, error) {
	resp, err := c.send(ctx, nethttp.MethodHead, "", "")
	if err != nil {
		return object.Properties{}, err
	}
	resp.Body.Close()
	if resp.StatusCode != nethttp.StatusOK {
		return object.Properties{}, status(resp)
	}
	if resp.ContentLength < 0 {
		return object.Properties{}, errors.New("the server does not send the size")
	}
	return object.Properties{Size: resp.ContentLength, Version: versionOf(resp.Header)}, nil
}

func (c client) Get(ctx context.Context, _ string, off, n int64, v storage.Version) (object.Content, error) {
	resp, err := c.send(ctx, nethttp.MethodGet, object.Range(off, n), v)
	if err != nil {
		return object.Content{}, err
	}
	content, err := contentOf(resp, off, n, v)
	if err != nil {
		err = errors.Join(err, resp.Body.Close())
	}
	return content, err
}

func (c client) send(ctx context.Context, method, ranges string, v storage.Version) (*nethttp.Response, error) {
	req, err := nethttp.NewRequestWithContext(ctx, method, c.url, nil)
	if err != nil {
		return nil, err
	}
	for k, v := range c.o.Header {
		req.Header[k] = v
	}
	req.Header.Set("Accept-Encoding", "identity") // ranges of compressed bytes would be useless
	if ranges != "" {
		req.Header.Set("Range", ranges)
	}
	if v != "" && v != noVersion && !strings.HasPrefix(string(v), "W/") { // weak tags are no condition
		req.Header.Set("If-Range", string(v))
	}
	resp, err := c.o.Client.Do(req)
	if err != nil {
		return nil, object.Unanswered(err, "check the location")
	}
	return resp, nil
}

// contentOf is the answer to a request for the n bytes from offset off on of a version, or the last n if off is negative.
func contentOf(resp *nethttp.Response, off, n int64, v storage.Version) (object.Content, error) {
	content := object.Content{Body: resp.Body, Properties: object.Properties{Version: versionOf(resp.Header)}}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return content, fmt.Errorf("the server sends the object as %s", enc)
	}
	switch resp.StatusCode {
	case nethttp.StatusPartialContent:
		var got int64
		var ok bool
		if content.Offset, got, content.Size, ok = object.ParseContentRange(resp.Header.Get("Content-Range")); !ok || resp.ContentLength >= 0 && resp.ContentLength != got {
			return content, fmt.Errorf("bad Content-Range %q", resp.Header.Get("Content-Range"))
		}
		return content, nil
	case nethttp.StatusOK: // the whole object: If-Range did not hold, or the server has no ranges
		content.Size = resp.ContentLength
		switch {
		case v != "" && v != content.Version:
			return content, object.ErrCondition
		case off < 0 && content.Size > n:
			return content, errors.ErrUnsupported
		case content.Size < 0 || off > 0 || off == 0 && content.Size > n:
			return content, errNoRanges
		}
		return content, nil
	case nethttp.StatusRequestedRangeNotSatisfiable: // without an entity tag, perhaps
		size, err := strconv.ParseInt(strings.TrimPrefix(resp.Header.Get("Content-Range"), "bytes */"), 10, 64)
		switch told := err == nil && size >= 0; {
		case off < 0 && (!told || size > 0):
			return content, errors.ErrUnsupported
		case !told || off >= 0 && off < size: // though it lies within the object
			return content, status(resp)
		}
		content.Offset, content.Properties = size, object.Properties{Size: size, Version: v}
		return content, nil
	case nethttp.StatusBadRequest, nethttp.StatusNotImplemented:
		if off < 0 {
			return content, errors.ErrUnsupported
		}
	}
	return content, status(resp)
}

// errNoRanges is the error of reading ranges from a server without them.
var errNoRanges error = object.Failure{
	Text:   "the server has no ranges, which formats with a footer, such as shards and Parquet, need",
	Advice: "download the file first",
}

// status returns the error for the status code of a response.
func status(resp *nethttp.Response) error {
	err := fmt.Errorf("the server answers %s", resp.Status)
	switch code := resp.StatusCode; {
	case code == nethttp.StatusNotFound || code == nethttp.StatusGone:
		return fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	case code == nethttp.StatusUnauthorized || code == nethttp.StatusForbidden:
		return fmt.Errorf("%w: %w", err, fs.ErrPermission)
	case code == nethttp.StatusPreconditionFailed:
		return fmt.Errorf("%w: %w", err, storage.ErrChanged)
	case object.TransientStatus(code):
		return object.Busy(err, code, resp.Header)
	}
	return err
}
