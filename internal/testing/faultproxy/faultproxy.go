// Package faultproxy is an HTTP proxy before a server, which cuts, delays and refuses some of its answers. It is for tests.
package faultproxy

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Fault is what happens to a request.
type Fault int

// The faults of requests.
const (
	None   Fault = iota
	Refuse       // the server does not get it, the answer is 503
	Cut          // the server does not get it, the connection ends
	Lost         // the server does it, and the connection ends before the answer
	Half         // the connection ends within the body of the answer
	Delay        // the answer comes late
)

// Proxy is a proxy before a server. Fields may be changed when no request is under way (see [Proxy.Wait]).
type Proxy struct {
	URL string
	// Choose chooses the fault of request n, from 1 on. Nil means none.
	Choose func(n int, r *http.Request) Fault
	// Done is called once the server has done request n whose answer is lost. Nil does nothing.
	Done func(n int)

	n       atomic.Int64
	mu      sync.Mutex
	active  int        // requests under way
	idle    *sync.Cond // there are none
	forward *httputil.ReverseProxy
}

// New starts a proxy before a server, which ends with the test.
func New(t testing.TB, server string) *Proxy {
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{forward: &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host }, // Host stays: it may be signed
	}}
	p.idle = sync.NewCond(&p.mu)
	h := httptest.NewServer(p)
	t.Cleanup(h.Close)
	p.URL = h.URL + target.Path
	return p
}

// Requests returns the number of requests since the last call.
func (p *Proxy) Requests() int { return int(p.n.Swap(0)) }

// Wait waits until no request is under way: a client may have left one, whose answer it does not need any more.
func (p *Proxy) Wait() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.active > 0 {
		p.idle.Wait()
	}
}

func (p *Proxy) count(by int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.active += by; p.active == 0 {
		p.idle.Broadcast()
	}
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.count(1)
	defer p.count(-1)
	n := int(p.n.Add(1))
	fault := None
	if p.Choose != nil {
		fault = p.Choose(n, r)
	}
	switch fault {
	case Refuse:
		w.WriteHeader(503)
		return
	case Cut:
		panic(http.ErrAbortHandler)
	case Lost:
		p.forward.ServeHTTP(httptest.NewRecorder(), r)
		if p.Done != nil {
			p.Done(n)
		}
		panic(http.ErrAbortHandler)
	case Half:
		w = &half{w}
	case Delay:
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
