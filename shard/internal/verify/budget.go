package verify

import (
	"context"
	"sync"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
)

// budget limits the work of a verification to the bytes of the artifacts. Otherwise a small file could refer to
// the same long list or buffer many times. Writers never make references that share bytes, except for stripe files
// of equal content.
type budget struct {
	root storage.Reader

	mu    sync.Mutex
	bytes map[storage.Reader]int64 // bytes referred to so far, by artifact
}

func newBudget(f *shardfile.File) *budget {
	return &budget{root: f.Root(), bytes: map[storage.Reader]int64{}}
}

// nextStripe resets the counts of all artifacts except the root.
func (b *budget) nextStripe() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for r := range b.bytes {
		if r != b.root {
			delete(b.bytes, r)
		}
	}
}

// spend subtracts n bytes of an artifact that are to be checked. References may cover each byte twice.
func (b *budget) spend(ctx context.Context, r storage.Reader, n int64) error {
	size, err := r.Size(ctx)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bytes[r] += n; b.bytes[r] > 2*size {
		return fault.Of(fault.Limitf("too many references share the same bytes: the rest was not checked"), r.Name())
	}
	return nil
}

// checkSize checks that a root has enough bytes for its number of columns and stripes: about an entry of a field
// list for each node of each stripe.
func checkSize(f *shardfile.File, nodes int) error {
	const (
		entry = 16      // bytes
		free  = 1 << 16 // entries that are allowed without bytes of their own, because they cost little
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
