// Package faultproxy is an HTTP proxy before a server, which cuts, delays, refuses and changes some of its answers. It is for tests.
package faultproxy

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"sync"
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
	Short        // the body is half of what the server sends, and its length says so
	Flip         // a bit of the body is another one
)

// Proxy is a proxy before a server.
type Proxy struct {
	URL     string
	forward *httputil.ReverseProxy

	mu     sync.Mutex
	faults Faults
	n      int        // requests since the faults began
	active int        // requests under way
	idle   *sync.Cond // there are none
}

// Faults are those of the requests to a proxy, which count from 1. The zero value has none.
type Faults struct {
	Choose func(n int) Fault // may be nil
	Done   func(n int)       // is called once the server has done a request whose answer is lost; may be nil
}

// At is a fault of request k.
func At(k int, fault Fault) Faults {
	return Faults{Choose: func(n int) Fault {
		if n == k {
			return fault
		}
		return None
	}}
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

// OneWrite sends one write at a time, for servers that look at the condition of a write and write in two steps.
func (p *Proxy) OneWrite() { p.forward.Transport = new(oneWrite) }

type oneWrite struct{ mu sync.Mutex }

// RoundTrip implements [http.RoundTripper].
func (o *oneWrite) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		o.mu.Lock()
		defer o.mu.Unlock()
	}
	return http.DefaultTransport.RoundTrip(r)
}

// Begin has the requests that follow meet faults.
func (p *Proxy) Begin(f Faults) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults, p.n = f, 0
}

// End ends the faults, and returns the number of requests since they began. It waits for all of them: a client may have left one, whose answer it does not need
// any more.
func (p *Proxy) End() (requests int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.active > 0 {
		p.idle.Wait()
	}
	requests, p.faults, p.n = p.n, Faults{}, 0
	return requests
}

// enter counts a request.
func (p *Proxy) enter() (n int, f Faults) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
	p.active++
	return p.n, p.faults
}

func (p *Proxy) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.active--; p.active == 0 {
		p.idle.Broadcast()
	}
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, f := p.enter()
	defer p.leave()
	fault := None
	if f.Choose != nil {
		fault = f.Choose(n)
	}
	switch fault {
	case Refuse:
		w.WriteHeader(503)
		return
	case Cut:
		panic(http.ErrAbortHandler)
	case Lost:
		p.forward.ServeHTTP(httptest.NewRecorder(), r)
		if f.Done != nil {
			f.Done(n)
		}
		panic(http.ErrAbortHandler)
	case Half, Short, Flip:
		w = &spoilt{ResponseWriter: w, fault: fault}
	case Delay:
		time.Sleep(300 * time.Millisecond)
	}
	p.forward.ServeHTTP(w, r)
}

// spoilt sends another body, or not all of it.
type spoilt struct {
	http.ResponseWriter
	fault Fault
	left  int // of a short body
}

func (s *spoilt) WriteHeader(status int) {
	if n, err := strconv.Atoi(s.Header().Get("Content-Length")); s.fault == Short && err == nil {
		s.left = n / 2
		s.Header().Set("Content-Length", strconv.Itoa(s.left))
	}
	s.ResponseWriter.WriteHeader(status)
}

func (s *spoilt) Write(p []byte) (int, error) {
	out := p
	switch s.fault {
	case Half: // the connection ends within the first bytes that come
		out = p[:len(p)/2]
	case Short:
		out = p[:min(len(p), s.left)]
		s.left -= len(out)
	case Flip:
		out = slices.Clone(p)
		out[len(p)/2] ^= 1
		s.fault = None
	}
	if _, err := s.ResponseWriter.Write(out); err != nil {
		return 0, err
	}
	if s.fault == Half {
		if f, ok := s.ResponseWriter.(http.Flusher); ok {
			f.Flush()
		}
		panic(http.ErrAbortHandler)
	}
	return len(p), nil
}
