// Package http reads artifacts at http:// and https:// locations. Importing it
// registers its store with package storage:
//
//	import _ "github.com/amudai/amudai-go/storage/http"
//
// It is apart from package storage so that programs that read local files only do not
// link net/http and TLS.
package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math/rand/v2"
	nethttp "net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/amudai/amudai-go/storage"
)

// Options are those of an HTTP store. The zero value is the default.
type Options struct {
	// Client sends the requests; by default one with a timeout of 30 seconds
	// for the head of a response.
	Client *nethttp.Client
	// Header is added to every request, for example for authorization.
	Header nethttp.Header
	// Attempts is how often a request is sent at most before its error is
	// returned, by default 4. Answers 408, 429 and 5xx and broken connections
	// are tried again.
	Attempts int
	// Backoff is the wait before the second attempt, by default 100 ms; it
	// doubles from attempt to attempt, up to 5 s, and is cut by chance to
	// between half and all of it.
	Backoff time.Duration
}

// Store is the read-only store of http:// and https:// locations, by range
// requests (RFC 9110 §14). All reads of a [storage.Reader] see the same version of the
// object: the entity tag of the first response is a condition of the others,
// and another version is [storage.ErrChanged].
type Store struct{ o Options }

// New is an HTTP store.
func New(o Options) *Store {
	if o.Client == nil {
		transport := nethttp.DefaultTransport.(*nethttp.Transport).Clone()
		transport.ResponseHeaderTimeout = 30 * time.Second
		transport.MaxIdleConnsPerHost = 16
		o.Client = &nethttp.Client{Transport: transport}
	}
	if o.Attempts <= 0 {
		o.Attempts = 4
	}
	if o.Backoff <= 0 {
		o.Backoff = 100 * time.Millisecond
	}
	return &Store{o}
}

// Open implements [storage.Store]. It sends nothing: the first read finds out whether
// there is such an object.
func (s *Store) Open(ctx context.Context, location string) (storage.Reader, error) {
	u, err := url.Parse(location)
	if err != nil {
		return nil, fmt.Errorf("bad location: %w", err)
	}
	if scheme := strings.ToLower(u.Scheme); scheme != "http" && scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%s is not an http:// or https:// location", storage.Redact(location))
	}
	u.Fragment = ""
	return &httpReader{o: s.o, url: u.String(), name: storage.Redact(location), size: -1}, ctx.Err()
}

// Create implements [storage.Store]: it always fails.
func (s *Store) Create(_ context.Context, location string, _ storage.CreateOptions) (storage.Writer, error) {
	return nil, fmt.Errorf("cannot write to %s: HTTP locations are read-only", storage.Redact(location))
}

// Remove implements [storage.Store]: it always fails.
func (s *Store) Remove(_ context.Context, location string) error {
	return fmt.Errorf("cannot remove %s: HTTP locations are read-only", storage.Redact(location))
}

// List implements [storage.Store]: it always fails, as HTTP has no such request.
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
	o    Options
	url  string
	name string

	mu        sync.Mutex
	size      int64  // -1 until known
	validator string // strong ETag or date of the version that is read
	tag       string // ETag as sent, weak or strong
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
		size = 1<<63 - 1 // the server knows
	}
	if err := storage.CheckRange(off, int64(len(p)), size); err != nil {
		return err
	}
	for done := 0; done < len(p); {
		n, err := r.fetch(ctx, fmt.Sprintf("bytes=%d-%d", off+int64(done), off+int64(len(p))-1), p[done:], off+int64(done))
		if err != nil {
			return err
		}
		done += n // a server may send less than was asked for
	}
	return nil
}

func (r *httpReader) ReadSuffix(ctx context.Context, n int) ([]byte, int64, error) {
	var tail []byte
	n = max(n, 1) // "the last 0 bytes" is not a valid range
	err := r.retry(ctx, func() error {
		resp, err := r.send(ctx, nethttp.MethodGet, "bytes=-"+strconv.Itoa(n))
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
		if _, err = io.ReadFull(resp.Body, tail); err != nil {
			return transient{err}
		}
		if start+want != r.sizeKnown() {
			return fmt.Errorf("GET %s: server sent another range than the suffix", r.name)
		}
		return nil
	})
	if !errors.Is(err, errNoSuffix) {
		return tail, r.sizeKnown(), err
	}
	size, err := r.Size(ctx) // this server has no suffix ranges: two requests
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
	err := r.retry(ctx, func() error {
		resp, err := r.send(ctx, nethttp.MethodHead, "")
		if err != nil {
			return err
		}
		resp.Body.Close()
		if resp.StatusCode != nethttp.StatusOK {
			return r.status(resp)
		}
		if resp.ContentLength < 0 {
			return fmt.Errorf("HEAD %s: server does not tell the size", r.name)
		}
		size = resp.ContentLength
		return r.sameVersion(resp, size)
	})
	return size, err
}

// fetch asks for one range and reads what is sent of it into p.
func (r *httpReader) fetch(ctx context.Context, ranges string, p []byte, off int64) (n int, err error) {
	err = r.retry(ctx, func() error {
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
			return fmt.Errorf("GET %s: server does not support range requests", r.name)
		case start+want <= off:
			return storage.CheckRange(off, int64(len(p)), start+want)
		case resp.StatusCode == nethttp.StatusRequestedRangeNotSatisfiable: // though it lies within the object
			return r.status(resp)
		case start != off:
			return fmt.Errorf("GET %s: server sent bytes %d to %d instead of those from %d", r.name, start, start+want-1, off)
		}
		n = int(min(want, int64(len(p))))
		if got, err := io.ReadFull(resp.Body, p[:n]); err != nil {
			if got > 0 { // the next attempt goes on from here
				n = got
				return nil
			}
			return transient{err}
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
	req.Header.Set("Accept-Encoding", "identity") // ranges are of the bytes as they are
	if ranges != "" {
		req.Header.Set("Range", ranges)
		r.mu.Lock()
		if r.validator != "" {
			req.Header.Set("If-Range", r.validator)
		}
		r.mu.Unlock()
	}
	resp, err := r.o.Client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, transient{redact(err, method, r.name)}
	}
	return resp, nil
}

// redact drops the URL from an error of the client, as it may hold credentials.
func redact(err error, method, name string) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		return fmt.Errorf("%s %s: %w", method, name, ue.Err)
	}
	return err
}

// check looks at the head of a response to a range request: it gives the
// place and number of the bytes that follow.
func (r *httpReader) check(resp *nethttp.Response) (start, n int64, err error) {
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return 0, 0, fmt.Errorf("GET %s: server sends the object as %s", r.name, enc)
	}
	switch resp.StatusCode {
	case nethttp.StatusPartialContent:
		start, n, size, ok := parseContentRange(resp.Header.Get("Content-Range"))
		if !ok || resp.ContentLength >= 0 && resp.ContentLength != n {
			return 0, 0, fmt.Errorf("GET %s: bad Content-Range %q", r.name, resp.Header.Get("Content-Range"))
		}
		return start, n, r.sameVersion(resp, size)
	case nethttp.StatusOK:
		// All of the object: it is not the version asked for, or the server
		// does not know ranges.
		if resp.ContentLength < 0 {
			return 0, 0, fmt.Errorf("GET %s: server does not support range requests", r.name)
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

// refused makes sense of a response that there is no such range. It gives the size of
// the object; such a response need not name the version.
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

// parseContentRange takes "bytes 200-299/1000" apart.
func parseContentRange(s string) (start, n, size int64, ok bool) {
	s, ok = strings.CutPrefix(s, "bytes ")
	if strings.HasSuffix(s, "/0") { // the suffix of an empty object, as net/http writes it
		return 0, 0, 0, ok
	}
	span, total, ok2 := strings.Cut(s, "/")
	first, last, ok3 := strings.Cut(span, "-")
	start, err1 := strconv.ParseInt(first, 10, 64)
	end, err2 := strconv.ParseInt(last, 10, 64)
	size, err3 := strconv.ParseInt(total, 10, 64)
	ok = ok && ok2 && ok3 && err1 == nil && err2 == nil && err3 == nil && 0 <= start && start <= end && end < size
	return start, end - start + 1, size, ok
}

// sameVersion remembers the version of the first response, and compares it
// with that of later ones.
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

// status is the error that a status code means.
func (r *httpReader) status(resp *nethttp.Response) error {
	err := fmt.Errorf("%s %s: %s", resp.Request.Method, r.name, resp.Status)
	switch code := resp.StatusCode; {
	case code == nethttp.StatusNotFound || code == nethttp.StatusGone:
		return fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	case code == nethttp.StatusUnauthorized || code == nethttp.StatusForbidden:
		return fmt.Errorf("%w: %w", err, fs.ErrPermission)
	case code == nethttp.StatusPreconditionFailed:
		return fmt.Errorf("%w: %w", err, storage.ErrChanged)
	case code == nethttp.StatusRequestTimeout || code == nethttp.StatusTooManyRequests || code >= 500 && code != nethttp.StatusNotImplemented:
		return transient{err}
	}
	return err
}

// transient marks an error that may go away.
type transient struct{ error }

func (t transient) Unwrap() error { return t.error }

// retry calls f until it gives no transient error, as often as the options say.
func (r *httpReader) retry(ctx context.Context, f func() error) error {
	wait := r.o.Backoff
	for attempt := 1; ; attempt++ {
		err := f()
		var t transient
		if err == nil || !errors.As(err, &t) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if attempt == r.o.Attempts {
			return fmt.Errorf("%w (after %d attempts)", t.error, attempt)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait/2 + rand.N(wait/2+1)):
		}
		wait = min(2*wait, 5*time.Second)
	}
}
