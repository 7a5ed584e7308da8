// Package xrootd reads artifacts at root:// and roots:// locations, those of XRootD servers. Importing it registers a [Store] with package storage:
//
//	import _ "github.com/amudai/amudai-go/storage/xrootd"
package xrootd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/url"
	"strings"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/internal/object"
)

// Options are the options of [New]. The zero value is the default.
type Options struct {
	// TLS configures connections to roots:// locations. By default certificates are those that the system trusts.
	TLS *tls.Config
	// Retry limits the attempts of a request. Broken connections are retried.
	Attempts int
}

// Store reads root:// and roots:// locations. It cannot write or list.
//
//	root://user@host:1094//path/of/file?authz=token
//
// A server that asks who the user is gets the user of the location, or "anon", by the protocols unix and host, which prove nothing. Kerberos, X.509
// and other secrets of the machine are never sent. The query is sent to the host of the location alone. Redirects, which are how XRootD finds the
// server of a file, are followed up to ten times: the other server gets what the redirect tells to send, and neither the user nor the query. Behind
// roots:// all connections have TLS.
//
// A [storage.Reader] only returns bytes of a file of the size and time that it had at first: these are asked for with each read, and the error is
// [storage.ErrChanged] if they differ. As times are whole seconds, they are no [storage.Version].
type Store struct {
	o    Options
	pace *object.Pace
}

// New returns a store of XRootD locations.
func New(o Options) *Store { return &Store{o, &object.Pace{}} }

// address is where a file is.
type address struct {
	host   string // and port
	secure bool
	user   string
	path   string
	query  string // sent behind the path
	token  string // of a redirect, for the login
}

const defaultPort = "1094"

func parse(location string) (a address, err error) {
	u, err := url.Parse(location)
	if err != nil {
		return a, fmt.Errorf("bad location %s", storage.Redact(location))
	}
	a = address{host: u.Host, secure: u.Scheme == "roots", user: u.User.Username(), path: u.Path, query: u.RawQuery}
	switch scheme := strings.ToLower(u.Scheme); {
	case scheme != "root" && scheme != "roots" || u.Host == "":
		return a, fmt.Errorf("%s is not a root:// or roots:// location", storage.Redact(location))
	case len(a.path) < 2 || len(a.path) > maxPath || strings.ContainsAny(a.path, "?\x00"):
		return a, fmt.Errorf("%s has no path of a file", storage.Redact(location))
	case strings.HasPrefix(a.path, "//"): // root://host//path, as it is usually written
		a.path = a.path[1:]
	}
	if u.Port() == "" {
		a.host = net.JoinHostPort(u.Hostname(), defaultPort)
	}
	return a, nil
}

const maxPath = 4096

// Open implements [storage.Store]. It sends no request: a missing file is an error of the first read.
func (s *Store) Open(ctx context.Context, location string) (storage.Reader, error) {
	a, err := parse(location)
	if err != nil {
		return nil, err
	}
	c := &client{o: s.o, address: a}
	return &reader{object.NewReader(c, object.Retry{Attempts: s.o.Attempts}, s.pace, "", location), c}, ctx.Err()
}

// reader is the [storage.Reader] of a location.
type reader struct {
	*object.Reader
	client *client
}

// Version implements [storage.Reader]: times of whole seconds do not promise equal bytes.
func (r *reader) Version(ctx context.Context) (storage.Version, error) {
	_, err := r.Reader.Version(ctx)
	if err == nil {
		err = fmt.Errorf("%s has no version: %w", r.Name(), errors.ErrUnsupported)
	}
	return "", err
}

// Close implements [storage.Reader].
func (r *reader) Close() error { return r.client.close() }

// Create implements [storage.Store]. It always fails, with errors.ErrUnsupported.
func (s *Store) Create(_ context.Context, location string, _ storage.CreateOptions) (storage.Writer, error) {
	return nil, fmt.Errorf("cannot write to %s: XRootD locations are read-only: %w", storage.Redact(location), errors.ErrUnsupported)
}

// Remove implements [storage.Store]. It always fails, with errors.ErrUnsupported.
func (s *Store) Remove(_ context.Context, location string) error {
	return fmt.Errorf("cannot remove %s: XRootD locations are read-only: %w", storage.Redact(location), errors.ErrUnsupported)
}

// List implements [storage.Store]. It always fails, with errors.ErrUnsupported.
func (s *Store) List(_ context.Context, prefix string) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		yield(storage.Info{}, fmt.Errorf("cannot list %s: XRootD locations are read one by one: %w", storage.Redact(prefix), errors.ErrUnsupported))
	}
}

func init() {
	s := New(Options{})
	storage.Register("root", s)
	storage.Register("roots", s)
}
