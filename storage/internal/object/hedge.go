package object

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// Pace knows how long the answers of a store took of late, and which are late beside them. The zero value is ready to use.
type Pace struct {
	mu     sync.Mutex
	last   [64]time.Duration // of answers, in a ring
	seen   int
	second int // requests that were sent a second time
}

// A request is late after twice the 95th percentile of the answers, and at least minLate, once paceKnown answers have come. One in paceShare is sent again.
const (
	minLate   = 100 * time.Millisecond
	lookLate  = 20 * time.Millisecond
	paceKnown = 16
	paceShare = 32
)

func (p *Pace) answered(took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last[p.seen%len(p.last)] = took
	p.seen++
}

// again reports whether a request without an answer is to be sent a second time, and counts it.
func (p *Pace) again(waited time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen < paceKnown || p.second*paceShare > p.seen {
		return false
	}
	known := slices.Clone(p.last[:min(p.seen, len(p.last))])
	slices.Sort(known)
	if waited < max(2*known[len(known)*95/100], minLate) {
		return false
	}
	p.second++
	return true
}

// attempt is a request of the same range as another.
type attempt struct {
	began  time.Time
	cancel context.CancelFunc
	c      Content
	err    error
}

// getAgain is Source.Get of a version, sent a second time if the answer is late. The first answer counts, and the other request is cancelled. Both have
// ended when it returns, but for the body.
func (r *Reader) getAgain(ctx context.Context, off, n int64, v storage.Version) (Content, error) {
	answers := make(chan *attempt, 2)
	var sent []*attempt
	send := func() {
		ctx, cancel := context.WithCancel(ctx)
		a := &attempt{began: time.Now(), cancel: cancel}
		sent = append(sent, a)
		go func() {
			defer func() { answers <- a }()
			defer fault.Recover(&a.err)
			a.c, a.err = r.from.Get(ctx, r.key, off, n, v)
		}()
	}
	send()
	timer := time.NewTimer(minLate)
	defer timer.Stop()
	var a *attempt
	for left := 1; left > 0; {
		select {
		case a = <-answers:
			left--
			if a.err != nil && left > 0 && ctx.Err() == nil {
				a.cancel() // the other one may succeed
				continue
			}
			for _, other := range sent {
				if other != a {
					other.cancel()
				}
			}
			for ; left > 0; left-- {
				if loser := <-answers; loser.err == nil {
					loser.c.Body.Close()
				}
			}
		case <-timer.C:
			if len(sent) == 1 && r.pace.again(time.Since(sent[0].began)) {
				send()
				left++
				continue
			}
			timer.Reset(lookLate)
		}
	}
	if a.err != nil {
		a.cancel()
		return a.c, a.err
	}
	r.pace.answered(time.Since(a.began))
	a.c.Body = cancelled{a.c.Body, a.cancel}
	return a.c, nil
}

// cancelled is the body of a request that is cancelled when it is closed.
type cancelled struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (c cancelled) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}
