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
	"iter"
	nethttp "net/http"
	"net/url"
	"strings"
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
	// Attempts is the largest number of times that a request is sent, by default 4, and more within 5 minutes if the server
	// is overloaded (status 429 or 503). Broken connections, responses 408 and 5xx, and half a minute without a byte are retried.
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
type Store struct {
	o    Options
	pace *object.Pace
}

// New returns an HTTP store.
func New(o Options) *Store {
	if o.Client == nil {
		transport := nethttp.DefaultTransport.(*nethttp.Transport).Clone()
		transport.ResponseHeaderTimeout = 30 * time.Second
		transport.MaxIdleConnsPerHost = 128
		o.Client = &nethttp.Client{Transport: transport}
	}
	if o.Client.CheckRedirect == nil {
		client := *o.Client
		client.Transport, client.CheckRedirect = places{client.Transport}, redirect
		o.Client = &client
	}
	return &Store{o, &object.Pace{}}
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
	c := client{s.o, u.String()}
	return &reader{object.NewReader(c, object.Retry{Attempts: s.o.Attempts, Backoff: s.o.Backoff}, s.pace, "", location), c}, ctx.Err()
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
