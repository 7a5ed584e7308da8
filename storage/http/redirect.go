package http

import (
	"cmp"
	"maps"
	nethttp "net/http"
	"net/url"
	"slices"

	"github.com/amudai/amudai-go/storage/internal/object"
)

// maxRedirects is how many redirects of a request are followed.
const maxRedirects = 10

// places is a transport that fails for redirects to places that cannot be followed, which the standard client would quote in its error: they may be signed.
type places struct{ nethttp.RoundTripper }

func (p places) RoundTrip(r *nethttp.Request) (*nethttp.Response, error) {
	resp, err := cmp.Or(p.RoundTripper, nethttp.DefaultTransport).RoundTrip(r)
	if err != nil || resp.Header.Get("Location") == "" || resp.StatusCode < 300 || resp.StatusCode > 399 {
		return resp, err
	}
	at, err := r.URL.Parse(resp.Header.Get("Location"))
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		resp.Body.Close()
		return nil, object.Failure{Text: "the server redirects to a place that is no http:// or https:// location"}
	}
	return resp, nil
}

// redirect makes the request for the place of a redirect. Other hosts do not learn the address that the redirect comes from, which may be signed, as the
// Referer, and no headers such as an API key. Once a redirect has led to another host, or from https to http, only headers that ask for a range are
// sent, and no user and password.
func redirect(req *nethttp.Request, before []*nethttp.Request) error {
	if len(before) > maxRedirects {
		return object.Failure{Text: "the server redirects more than 10 times"}
	}
	first := before[0].URL
	req.Header.Del("Referer")
	away := func(r *nethttp.Request) bool { return !sameOrigin(first, r.URL) }
	if req.URL.User = first.User; away(req) || slices.ContainsFunc(before, away) {
		req.URL.User = nil
		maps.DeleteFunc(req.Header, func(name string, _ []string) bool {
			return !slices.Contains([]string{"Range", "If-Range", "Accept-Encoding"}, name)
		})
	}
	return nil
}

// sameOrigin reports whether two URLs have the same scheme, host and port.
func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }
