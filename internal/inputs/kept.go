package inputs

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/amudai/amudai-go/table/provider"
)

// Kept are files and objects that stay open for further questions until Close, those that were used last, with what formats parsed of those that are the only input of
// a table. They are compared with their stores once for a [Question]: another version is opened anew. It may be used concurrently.
type Kept struct {
	mu     sync.Mutex
	open   []*artifact // the one that was used last at the end
	closed bool        // nothing stays open
}

// The most that stay open: each has up to 64 KiB in memory, and what was parsed of one has caches.
const maxKept, maxParsed = 256, 4

// nothing stays open for who has no Kept.
var nothing = &Kept{closed: true}

type keptKey struct{}

// WithKept returns a context whose tables share what stays open; with nil, each has its own. Only tables whose formats have the same options may share.
func WithKept(ctx context.Context, k *Kept) context.Context {
	return context.WithValue(ctx, keptKey{}, k)
}

// KeptOf is what the tables of a context share, or nil.
func KeptOf(ctx context.Context) *Kept {
	k, _ := ctx.Value(keptKey{}).(*Kept)
	return k
}

type questionKey struct{}

var questions atomic.Uint64

// Question returns a context for one question: what is compared with its store, or opened, is not compared again for it.
func Question(ctx context.Context) context.Context {
	if ctx.Value(questionKey{}) != nil {
		return ctx
	}
	return context.WithValue(ctx, questionKey{}, questions.Add(1))
}

// Close closes what stays open, and keeps nothing from now on. What is in use is closed by the last who uses it.
func (k *Kept) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	return k.trim()
}

// trim closes what stays open no longer, but for what is in use.
func (k *Kept) trim() (err error) {
	parsed := 0
	for i, a := range slices.Backward(k.open) {
		if a.opened != nil {
			parsed++
		}
		if k.closed || parsed > maxParsed || len(k.open)-i > maxKept {
			k.open = slices.Delete(k.open, i, i+1)
			err = errors.Join(err, a.unused())
		}
	}
	return err
}

// input is an input at a location: of what is open, if its version is still that of the store, else of what open returns.
func (k *Kept) input(ctx context.Context, location string, only bool, open func() (*artifact, error)) (provider.Input, error) {
	a, err := k.find(ctx, location)
	if a == nil && err == nil {
		now := questions.Load()
		if a, err = open(); err == nil {
			a.checked, a.users = now, 1
			err = k.keep(a, only)
		}
	}
	if err != nil {
		return provider.Input{}, err
	}
	in := a.input(ctx)
	in.Opened, in.Closer = a.opened, release{k, a}
	return in, nil
}

// find returns an input that is open, nil if there is none of the version that its store has now.
func (k *Kept) find(ctx context.Context, location string) (*artifact, error) {
	k.mu.Lock()
	i := slices.IndexFunc(k.open, func(a *artifact) bool { return a.location == location })
	if i < 0 {
		k.mu.Unlock()
		return nil, nil
	}
	a := k.open[i]
	k.open = append(slices.Delete(k.open, i, i+1), a)
	a.users++
	checked := a.checked
	k.mu.Unlock()

	since, asked := ctx.Value(questionKey{}).(uint64)
	if !asked {
		since = math.MaxUint64
	}
	if checked >= since {
		return a, nil
	}
	now := questions.Load()
	same, err := a.isCurrent(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	if same && err == nil {
		a.checked = max(a.checked, now)
		return a, nil
	}
	k.open = slices.DeleteFunc(k.open, func(o *artifact) bool { return o == a })
	a.users--
	return nil, errors.Join(err, a.unused())
}

// keep keeps an input open for others, if that spares an opening.
func (k *Kept) keep(a *artifact, only bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if a.body != nil || !only && a.local() || slices.ContainsFunc(k.open, func(o *artifact) bool { return o.location == a.location }) {
		return nil
	}
	if only && !k.closed {
		a.opened = new(provider.Opened)
	}
	k.open = append(k.open, a)
	return k.trim()
}

// release is the end of one use of an input.
type release struct {
	k *Kept
	a *artifact
}

func (r release) Close() error {
	r.k.mu.Lock()
	defer r.k.mu.Unlock()
	if r.a.users--; slices.Contains(r.k.open, r.a) {
		return nil
	}
	return r.a.unused()
}

// unused closes what stays open no longer, if it is not in use.
func (a *artifact) unused() error {
	if a.users > 0 {
		return nil
	}
	return a.Close()
}
