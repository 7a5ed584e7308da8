package inputs

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/table/provider"
)

// Kept are files and objects that stay open for further questions, with what their formats parsed of them. They are compared with their stores once for
// a [Question]: another version is opened anew. It may be used concurrently.
type Kept struct {
	stay int // how many stay open between questions, those that were used last

	mu    sync.Mutex
	users int
	open  []*artifact // the one that was used last at the end
}

// NewKept keeps some inputs open until Close, each of them the only input of a table.
func NewKept(stay int) *Kept { return &Kept{stay: stay} }

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

// maxKept bounds the inputs, of each of which 64 KiB may be in memory.
const maxKept = 256

// Use keeps all inputs that are opened from now on until end is called.
func (k *Kept) Use() (end func() error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.users++
	return func() error { return k.dropping(func() { k.users-- }) }
}

// Close closes what stays open, and keeps nothing from now on. What is in use is closed by the last who uses it.
func (k *Kept) Close() error { return k.dropping(func() { k.stay = 0 }) }

// dropping makes a change, and closes the inputs that stay open no longer.
func (k *Kept) dropping(change func()) error {
	k.mu.Lock()
	change()
	var unused []*artifact
	for k.users == 0 && len(k.open) > k.stay {
		unused = append(unused, k.drop(k.open[0])...)
	}
	k.mu.Unlock()
	return seq.CloseAll(unused)
}

// drop has nobody use an input any more who does not already. It returns the input if it is to be closed.
func (k *Kept) drop(a *artifact) (unused []*artifact) {
	k.open = slices.DeleteFunc(k.open, func(o *artifact) bool { return o == a })
	if a.users == 0 {
		return []*artifact{a}
	}
	return nil
}

// input is an input at a location: of what is open, if its version is still that of the store, else of what open returns. That of the only input of a table stays open.
func (k *Kept) input(ctx context.Context, location string, only bool, open func() (*artifact, error)) (provider.Input, error) {
	a, err := k.find(ctx, location)
	if a == nil && err == nil {
		now := questions.Load()
		if a, err = open(); err == nil {
			a.checked = now
			k.keep(a, only)
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
	if err == nil && same {
		k.mu.Lock()
		defer k.mu.Unlock()
		a.checked = max(a.checked, now)
		return a, nil
	}
	k.mu.Lock()
	k.drop(a)
	k.mu.Unlock()
	return nil, errors.Join(err, release{k, a}.Close())
}

// keep notes that an input is used, and keeps it open for others if it may be.
func (k *Kept) keep(a *artifact, only bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a.users = 1
	stays := only && k.stay > 0
	if a.body != nil || !stays && k.users == 0 || len(k.open) >= maxKept || slices.ContainsFunc(k.open, func(o *artifact) bool { return o.location == a.location }) {
		return
	}
	if stays {
		a.opened = new(provider.Opened)
	}
	k.open = append(k.open, a)
}

// release is the end of one use of an input.
type release struct {
	k *Kept
	a *artifact
}

func (r release) Close() error {
	var unused []*artifact
	err := r.k.dropping(func() {
		if r.a.users--; r.a.users == 0 && !slices.Contains(r.k.open, r.a) {
			unused = []*artifact{r.a}
		}
	})
	return errors.Join(err, seq.CloseAll(unused))
}
