package http

import (
	"cmp"
	nethttp "net/http"
	"net/url"

	"github.com/amudai/amudai-go/storage/internal/object"
)

// maxRedirects is how many redirects of a request are followed.
const maxRedirects = 10

// placeHeader has the place of a redirect.
const placeHeader = "Amudai-Location"

// unfollowed is a transport for a client that follows no redirects, nor parses their places, which it would quote in errors.
type unfollowed struct{ nethttp.RoundTripper }

func (u unfollowed) RoundTrip(r *nethttp.Request) (*nethttp.Response, error) {
	t := cmp.Or(u.RoundTripper, nethttp.DefaultTransport)
	resp, err := t.RoundTrip(r)
	if err == nil && resp.StatusCode >= 300 && resp.StatusCode <= 399 {
		resp.Header.Set(placeHeader, resp.Header.Get("Location"))
		resp.Header.Del("Location")
	}
	return resp, err
}

// follow sends a request and follows redirects. The standard client would tell other hosts the address that the redirect comes
// from, which may be signed, as the Referer, and headers such as an API key; it would quote places in errors. Once a redirect
// has led to another host, or from https to http, only headers that ask for a range are sent, and no user and password. Errors do not
// tell the place of a redirect, which may be signed.
func follow(c *nethttp.Client, req *nethttp.Request) (*nethttp.Response, error) {
	first, away := req.URL, false
	for range maxRedirects {
		resp, err := c.Do(req)
		if err != nil || resp.Header.Get(placeHeader) == "" || resp.StatusCode < 300 || resp.StatusCode > 399 {
			return resp, err
		}
		resp.Body.Close()
		at, err := req.URL.Parse(resp.Header.Get(placeHeader))
		if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
			return nil, object.Failure{Text: "the server redirects to a place that is no http:// or https:// location"}
		}
		away = away || !sameOrigin(first, at)
		req = next(req, first, at, away)
	}
	return nil, object.Failure{Text: "the server redirects more than 10 times"}
}

// next is the request for the place of a redirect.
func next(req *nethttp.Request, first, at *url.URL, away bool) *nethttp.Request {
	req = req.Clone(req.Context())
	req.URL, req.Host = at, ""
	if !away {
		at.User = first.User
		return req
	}
	at.User = nil
	all := req.Header
	req.Header = nethttp.Header{}
	for _, name := range []string{"Range", "If-Range", "Accept-Encoding"} {
		if values := all.Values(name); values != nil {
			req.Header[name] = values
		}
	}
	return req
}

// sameOrigin reports whether two URLs have the same scheme, host and port.
func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }
