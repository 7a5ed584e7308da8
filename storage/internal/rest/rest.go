// Package rest sends the HTTP requests of stores of clouds whose own clients would be larger than what they are needed for.
package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/amudai/amudai-go/storage/internal/object"
)

// maxError is the most that is read of an answer that is an error, maxAnswer of another one that is no object.
const (
	maxError  = 64 << 10
	maxAnswer = 64 << 20
)

// NewTransport returns a transport for many requests to one host.
func NewTransport() *http.Transport {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
	t.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	t.TLSHandshakeTimeout, t.MaxIdleConnsPerHost, t.IdleConnTimeout = 10*time.Second, 16, 90*time.Second
	t.DisableCompression = true // ranges are of the bytes as they are stored
	return t
}

// NewClient returns a client that follows no redirects.
func NewClient(t http.RoundTripper) *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Error is an answer with a status that is an error.
type Error struct {
	Status int
	Header http.Header
	Body   []byte // its beginning
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("the server answers with status %d", e.Status) }

// Do sends a request. The body of the answer is the caller's to close. A status from 300 on is an [Error], unless it is expected;
// what breaks a connection is transient.
func Do(c *http.Client, r *http.Request, expected ...int) (*http.Response, error) {
	resp, err := c.Do(r)
	if err != nil {
		return nil, connection(err)
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	for _, s := range expected {
		if s == resp.StatusCode {
			return resp, nil
		}
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxError)) // what has arrived will do
	return nil, errors.Join(&Error{resp.StatusCode, resp.Header, body}, resp.Body.Close())
}

// ReadAll reads the body of an answer that is no object, and closes it.
func ReadAll(ctx context.Context, resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, object.Transient(err)
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	}
	return body, nil
}

// connection is the error of a request without an answer.
func connection(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // without the URL, which may be signed
	}
	var dns *net.DNSError
	var f object.Failure
	switch {
	case errors.Is(err, context.Canceled), errors.As(err, &f):
		return err
	case errors.As(err, &dns) && dns.IsNotFound:
		return object.Failure{Text: "there is no host " + dns.Name, Advice: "check the name of the account, and the endpoint in the environment", Err: err}
	}
	return object.Transient(err)
}

// Content returns the body of an answer to a range request, the offset of its first byte, and the size of the object.
func Content(resp *http.Response) (object.Content, error) {
	c := object.Content{Body: resp.Body}
	c.Size = resp.ContentLength // of the whole object, from a server without ranges
	if ranges := resp.Header.Get("Content-Range"); ranges != "" {
		var ok bool
		if c.Offset, _, c.Size, ok = object.ParseContentRange(ranges); !ok {
			return c, fmt.Errorf("bad Content-Range %q", ranges)
		}
	}
	if c.Size < 0 {
		return c, errors.New("the server does not send the size")
	}
	return c, nil
}
