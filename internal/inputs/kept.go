package inputs

import (
	"sync"

	"github.com/amudai/amudai-go/internal/base/seq"
)

// Kept are inputs of stores that stay open while questions use them: one that opens a table several times sends the first request of an input once. It may be used
// concurrently.
type Kept struct {
	mu    sync.Mutex
	users int
	open  map[string]*tailed // by location
}

// maxKept bounds the inputs, of each of which 64 KiB may be in memory.
const maxKept = 256

// Use keeps inputs that are opened from now on until end is called.
func (k *Kept) Use() (end func() error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.users++
	return k.unuse
}

func (k *Kept) unuse() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.users--; k.users > 0 {
		return nil
	}
	var all []*tailed
	for _, t := range k.open {
		all = append(all, t)
	}
	k.open = nil
	return seq.CloseAll(all)
}

// find returns an input that is open, with so many bytes at its end in memory; nil if there is none.
func (k *Kept) find(location string, tail int) *tailed {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if t := k.open[location]; t != nil && int64(len(t.tail)) >= min(int64(tail), t.size) {
		return t
	}
	return nil
}

// keep reports whether an input stays open when who opened it does not need it any more.
func (k *Kept) keep(location string, t *tailed) bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.users == 0 || len(k.open) == maxKept || k.open[location] != nil {
		return false
	}
	if k.open == nil {
		k.open = map[string]*tailed{}
	}
	k.open[location] = t
	return true
}
