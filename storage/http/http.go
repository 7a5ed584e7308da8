// Package http reads artifacts at http:// and https:// locations. Importing it registers
// a [Store] with package storage:
//
//	import _ "github.com/amudai/amudai-go/storage/http"
//
// Programs that only read local files do not import it, and so do not link net/http and
// TLS.
package http

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	nethttp "net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/internal/object"
)

// Options are the options of [New]. The zero value is the default.
type Options struct {
	// Client sends the requests. The default client waits 30 seconds for the header of a
	// response. Unless it has a CheckRedirect of its own, up to ten redirects are followed, without Header and credentials to
	// other hosts.
	Client *nethttp.Client
	// Header is added to every request, for example for authorization. It must not change.
	Header nethttp.Header
	// Attempts is the largest number of times that a request is sent, by default 4.
	// Broken connections, responses 408, 429 and 5xx, and half a minute without a byte are retried.
	Attempts int
	// Backoff is the delay before the second attempt, by default 100 ms, and a second if the server is overloaded. It doubles
	// with each further attempt, up to 5 s. The actual delay is random, between half of it and all of it, and never shorter
	// than the server asks for.
	Backoff time.Duration
}

// Store reads http:// and https:// locations by range requests (RFC 9110 §14). It cannot
// write. A [storage.Reader] only returns bytes of the version of its first response: the
// entity tag, or else the date, is a condition of all other requests. If the version has
// changed, the error wraps [storage.ErrChanged]. Only objects with a strong entity tag
// have a [storage.Version].
type Store struct{ o Options }

// New returns an HTTP store.
func New(o Options) *Store {
	if o.Client == nil {
		transport := nethttp.DefaultTransport.(*nethttp.Transport).Clone()
		transport.ResponseHeaderTimeout = 30 * time.Second
		transport.MaxIdleConnsPerHost = 16
		o.Client = &nethttp.Client{Transport: transport}
	}
	if o.Client.CheckRedirect == nil {
		client := *o.Client
		client.Transport = unfollowed{client.Transport}
		o.Client = &client
	}
	return &Store{o}
}

// Open implements [storage.Store]. It sends no request: a missing object is an error of the
// first read.
func (s *Store) Open(ctx context.Context, location string) (storage.Reader, error) {
	if _, err := storage.URL(location); err != nil {
		return nil, err
	}
	u, err := url.Parse(location)
	if err != nil {
		return nil, err
	}
	if scheme := strings.ToLower(u.Scheme); scheme != "http" && scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%s is not an http:// or https:// location", storage.Redact(location))
	}
	u.Fragment = ""
	return &httpReader{o: s.o, retry: object.Retry{Attempts: s.o.Attempts, Backoff: s.o.Backoff}, url: u.String(), name: storage.Redact(location), size: -1}, ctx.Err()
}

// Create implements [storage.Store]. It always fails, with errors.ErrUnsupported.
func (s *Store) Create(_ context.Context, location string, _ storage.CreateOptions) (storage.Writer, error) {
	return nil, fmt.Errorf("cannot write to %s: HTTP locations are read-only: %w", storage.Redact(location), errors.ErrUnsupported)
}

// Remove implements [storage.Store]. It always fails, with errors.ErrUnsupported.
func (s *Store) Remove(_ context.Context, location string) error {
	return fmt.Errorf("cannot remove %s: HTTP locations are read-only: %w", storage.Redact(location), errors.ErrUnsupported)
}

// List implements [storage.Store]. It always fails, with errors.ErrUnsupported.
func (s *Store) List(_ context.Context, prefix string) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		yield(storage.Info{}, fmt.Errorf("cannot list %s: HTTP has no such request: %w", storage.Redact(prefix), errors.ErrUnsupported))
	}
}

func init() {
	s := New(Options{})
	storage.Register("http", s)
	storage.Register("https", s)
}

type httpReader struct {
	o     Options
	retry object.Retry
	url   string
	name  string

	mu        sync.Mutex
	size      int64  // -1 until known
	validator string // for If-Range: strong entity tag or date
	tag       string // entity tag, strong or weak
}

func (r *httpReader) Name() string { return r.name }
func (r *httpReader) Capabilities() storage.Capabilities {
	return storage.Capabilities{Latency: storage.LatencyHigh}
}
func (r *httpReader) Close() error { return nil }

func (r *httpReader) ReadAt(ctx context.Context, p []byte, off int64) error {
	r.mu.Lock()
	size := r.size
	r.mu.Unlock()
	if size < 0 {
		size = 1<<63 - 1 // the server checks
	}
	if err := storage.CheckRange(off, int64(len(p)), size); err != nil {
		return err
	}
	for done := 0; done < len(p); {
		n, err := r.fetch(ctx, object.Range(off+int64(done), int64(len(p)-done)), p[done:], off+int64(done))
		if err != nil {
			return err
		}
		done += n // a server may send less than requested
	}
	return nil
}

func (r *httpReader) ReadSuffix(ctx context.Context, n int) ([]byte, int64, error) {
	var tail []byte
	n = max(n, 1) // a suffix of 0 bytes is not a valid range
	err := r.retry.Do(ctx, func(ctx context.Context) error {
		resp, err := r.send(ctx, nethttp.MethodGet, object.Range(-1, int64(n)))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		start, want, err := r.check(resp)
		if err != nil {
			return err
		}
		if want > int64(n) {
			return errNoSuffix
		}
		tail = make([]byte, want)
		if _, err = object.ReadFull(ctx, resp.Body, tail); err != nil {
			return object.Transient(err)
		}
		if start+want != r.sizeKnown() {
			return fmt.Errorf("GET %s: server sent another range than the suffix", r.name)
		}
		return nil
	})
	if !errors.Is(err, errNoSuffix) {
		return tail, r.sizeKnown(), err
	}
	size, err := r.Size(ctx) // without suffix ranges it takes two requests
	if err != nil {
		return nil, 0, err
	}
	tail = make([]byte, min(int64(n), size))
	err = r.ReadAt(ctx, tail, size-int64(len(tail)))
	return tail, size, err
}

func (r *httpReader) sizeKnown() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(r.size, 0)
}

func (r *httpReader) Size(ctx context.Context) (int64, error) {
	r.mu.Lock()
	size := r.size
	r.mu.Unlock()
	if size >= 0 {
		return size, nil
	}
	err := r.retry.Do(ctx, func(ctx context.Context) error {
		resp, err := r.send(ctx, nethttp.MethodHead, "")
		if err != nil {
			return err
		}
		resp.Body.Close()
		if resp.StatusCode != nethttp.StatusOK {
			return r.status(resp)
		}
		if resp.ContentLength < 0 {
			return fmt.Errorf("HEAD %s: server does not send the size", r.name)
		}
		size = resp.ContentLength
		return r.sameVersion(resp, size)
	})
	return size, err
}

func (r *httpReader) Version(ctx context.Context) (storage.Version, error) {
	if _, err := r.Size(ctx); err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !strings.HasPrefix(r.tag, `"`) {
		return "", fmt.Errorf("%s has no strong entity tag: %w", r.name, errors.ErrUnsupported)
	}
	return storage.Version(r.tag), nil
}

// fetch requests one range, and reads as much of it as the server sends into p.
func (r *httpReader) fetch(ctx context.Context, ranges string, p []byte, off int64) (n int, err error) {
	err = r.retry.Do(ctx, func(ctx context.Context) error {
		resp, err := r.send(ctx, nethttp.MethodGet, ranges)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		start, want, err := r.check(resp)
		if err != nil {
			return err
		}
		switch {
		case resp.StatusCode == nethttp.StatusOK && (off != 0 || want > int64(len(p))):
			return r.noRanges()
		case start+want <= off:
			return storage.CheckRange(off, int64(len(p)), start+want)
		case resp.StatusCode == nethttp.StatusRequestedRangeNotSatisfiable: // though it lies within the object
			return r.status(resp)
		case start != off:
			return fmt.Errorf("GET %s: server sent bytes %d to %d instead of those from %d", r.name, start, start+want-1, off)
		}
		n = int(min(want, int64(len(p))))
		if got, err := object.ReadFull(ctx, resp.Body, p[:n]); err != nil {
			if got > 0 { // ReadAt requests the rest
				n = got
				return nil
			}
			return object.Transient(err)
		}
		return nil
	})
	return n, err
}

var errNoSuffix = errors.New("no suffix ranges")

func (r *httpReader) send(ctx context.Context, method, ranges string) (*nethttp.Response, error) {
	req, err := nethttp.NewRequestWithContext(ctx, method, r.url, nil)
	if err != nil {
		return nil, err
	}
	for k, v := range r.o.Header {
		req.Header[k] = v
	}
	req.Header.Set("Accept-Encoding", "identity") // ranges of compressed bytes would be useless
	if ranges != "" {
		req.Header.Set("Range", ranges)
		r.mu.Lock()
		if r.validator != "" {
			req.Header.Set("If-Range", r.validator)
		}
		r.mu.Unlock()
	}
	resp, err := follow(r.o.Client, req)
	var place placeError
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, ctx.Err()
	case errors.As(err, &place):
		return nil, redact(err, method, r.name)
	case err != nil:
		return nil, object.Transient(redact(err, method, r.name))
	}
	return resp, nil
}

// redact removes the URL from an error of the client, as it may hold credentials.
func redact(err error, method, name string) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	return fmt.Errorf("%s %s: %w", method, name, err)
}

// check checks the header of a response to a range request. It returns the offset and
// number of the bytes in the body.
func (r *httpReader) check(resp *nethttp.Response) (start, n int64, err error) {
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return 0, 0, fmt.Errorf("GET %s: server sends the object as %s", r.name, enc)
	}
	switch resp.StatusCode {
	case nethttp.StatusPartialContent:
		start, n, size, ok := object.ParseContentRange(resp.Header.Get("Content-Range"))
		if !ok || resp.ContentLength >= 0 && resp.ContentLength != n {
			return 0, 0, fmt.Errorf("GET %s: bad Content-Range %q", r.name, resp.Header.Get("Content-Range"))
		}
		return start, n, r.sameVersion(resp, size)
	case nethttp.StatusOK:
		// The whole object: If-Range did not hold, or the server has no ranges.
		if resp.ContentLength < 0 {
			return 0, 0, r.noRanges()
		}
		return 0, resp.ContentLength, r.sameVersion(resp, resp.ContentLength)
	case nethttp.StatusRequestedRangeNotSatisfiable:
		size, err := r.refused(resp)
		return size, 0, err
	case nethttp.StatusBadRequest, nethttp.StatusNotImplemented:
		if strings.HasPrefix(resp.Request.Header.Get("Range"), "bytes=-") {
			return 0, 0, errNoSuffix
		}
	}
	return 0, 0, r.status(resp)
}

// refused returns the size of the object, from a response that rejects a range. Such a
// response need not have an entity tag.
func (r *httpReader) refused(resp *nethttp.Response) (int64, error) {
	text, found := strings.CutPrefix(resp.Header.Get("Content-Range"), "bytes */")
	size, err := strconv.ParseInt(text, 10, 64)
	told := found && err == nil && size >= 0
	r.mu.Lock()
	known := r.size
	r.mu.Unlock()
	switch {
	case told && known >= 0 && size != known:
		return 0, fmt.Errorf("GET %s: %w", r.name, storage.ErrChanged)
	case strings.HasPrefix(resp.Request.Header.Get("Range"), "bytes=-"):
		if told && size == 0 {
			return 0, nil
		}
		return 0, errNoSuffix
	case !told:
		return 0, r.status(resp)
	}
	return size, nil
}

// sameVersion stores the version of the first response, and compares those of later
// responses with it.
func (r *httpReader) sameVersion(resp *nethttp.Response, size int64) error {
	tag, date := resp.Header.Get("ETag"), resp.Header.Get("Last-Modified")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size < 0 {
		r.size, r.tag = size, tag
		if strings.HasPrefix(tag, `"`) {
			r.validator = tag
		} else if tag == "" {
			r.validator = date
		}
		return nil
	}
	if r.size != size || r.tag != tag || r.tag == "" && r.validator != date {
		return fmt.Errorf("GET %s: %w", r.name, storage.ErrChanged)
	}
	return nil
}

// status returns the error for the status code of a response.
func (r *httpReader) status(resp *nethttp.Response) error {
	err := fmt.Errorf("%s %s: %s", resp.Request.Method, r.name, resp.Status)
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
