package verify

import (
	"context"
	"sync"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/shardfile"
	"github.com/amudai/amudai-go/storage"
)

// budget bounds the work of a verification by the bytes that there are. In what writers
// make no two references share bytes, except for stripe files of equal content. A small
// file could otherwise refer to the same long list or buffer many times over.
type budget struct {
	root storage.Reader

	mu    sync.Mutex
	bytes map[storage.Reader]int64 // referred to so far, by artifact
}

func newBudget(f *shardfile.File) *budget {
	return &budget{root: f.Root(), bytes: map[storage.Reader]int64{}}
}

// nextStripe forgets what other artifacts than the root were asked for.
func (b *budget) nextStripe() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for r := range b.bytes {
		if r != b.root {
			delete(b.bytes, r)
		}
	}
}

// spend takes n bytes of an artifact for something that is to be checked. References may
// cover it twice.
func (b *budget) spend(ctx context.Context, r storage.Reader, n int64) error {
	size, err := r.Size(ctx)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bytes[r] += n; b.bytes[r] > 2*size {
		return fault.Of(fault.Limitf("references share the same bytes many times over: the rest is not looked at"), r.Name())
	}
	return nil
}

// checkSize checks that a root has the bytes for as many columns and stripes as it claims: an
// entry of a field list for each node of each stripe, or nearly so.
func checkSize(f *shardfile.File, nodes int) error {
	const (
		entry = 16      // bytes
		free  = 1 << 16 // entries that cost little even if they are shared
	)
	lists := int64(0) // in the root
	for i := range f.NumStripes() {
		if f.Stripe(i).Directory().FieldListRef.GetUrl() == "" {
			lists++
		}
	}
	if n := lists * int64(nodes); lists > 1 && n > free && n > f.Size()/entry {
		return fault.Of(fault.Limitf("%d stripes of %d schema nodes in %d bytes", lists, nodes, f.Size()), f.Root().Name())
	}
	return nil
}
