package object

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"
)

// NewTransport returns a transport for many requests to one host.
func NewTransport() *http.Transport {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
	t.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	t.TLSHandshakeTimeout, t.MaxIdleConnsPerHost, t.IdleConnTimeout = 10*time.Second, 128, 90*time.Second
	t.DisableCompression = true // ranges are of the bytes as they are stored
	return t
}

// NewClient returns a client that follows no redirects: requests are signed for one host.
func NewClient(t http.RoundTripper) *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Unanswered is the error of a request without an answer, for a [Client]: what breaks a connection is transient. It is without
// the URL, which may be signed. The hint tells where the name of the host may come from.
func Unanswered(err error, hint string) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var dns *net.DNSError
	var f Failure
	switch {
	case errors.Is(err, context.Canceled), errors.As(err, &f):
		return err
	case errors.As(err, &dns) && dns.IsNotFound:
		return Failure{Text: "there is no host " + dns.Name, Advice: hint, Err: err}
	}
	return Transient(err)
}
