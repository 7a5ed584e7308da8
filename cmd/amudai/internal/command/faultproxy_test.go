package command_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"
)

// proxyFault is what happens to a request.
type proxyFault int

// The faults of requests.
const (
	proxyNone   proxyFault = iota
	proxyRefuse            // the server does not get it, the answer is 503
	proxyCut               // the server does not get it, the connection ends
	proxyLost              // the server does it, and the connection ends before the answer
	proxyHalf              // the connection ends within the body of the answer
	proxyDelay             // the answer comes late
)

// proxy is an HTTP proxy before a server under test, which cuts, delays and refuses some of its answers. Fields may be changed between requests.
type proxy struct {
	URL string
	// Choose chooses the fault of request n, from 1 on. Nil means none.
	Choose func(n int, r *http.Request) proxyFault

	n       atomic.Int64
	forward *httputil.ReverseProxy
}

// newProxy starts a proxy before a server, which ends with the test.
func newProxy(t testing.TB, server string) *proxy {
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{forward: &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host }, // Host stays: it may be signed
	}}
	h := httptest.NewServer(p)
	t.Cleanup(h.Close)
	p.URL = h.URL + target.Path
	return p
}

// Requests returns the number of requests since the last call.
func (p *proxy) Requests() int { return int(p.n.Swap(0)) }

// ServeHTTP implements http.Handler.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := int(p.n.Add(1))
	fault := proxyNone
	if p.Choose != nil {
		fault = p.Choose(n, r)
	}
	switch fault {
	case proxyRefuse:
		w.WriteHeader(503)
		return
	case proxyCut:
		panic(http.ErrAbortHandler)
	case proxyLost:
		p.forward.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	case proxyHalf:
		w = &half{w}
	case proxyDelay:
		time.Sleep(300 * time.Millisecond)
	}
	p.forward.ServeHTTP(w, r)
}

// half ends the connection within the first bytes of a body that come.
type half struct{ http.ResponseWriter }

func (h *half) Write(p []byte) (int, error) {
	if _, err := h.ResponseWriter.Write(p[:len(p)/2]); err != nil {
		return 0, err
	}
	if f, ok := h.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
	panic(http.ErrAbortHandler)
}
