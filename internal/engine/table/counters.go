package table

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amudai/amudai-go/storage"
)

// BlockCounters are [Counters] of blocks that have keys. A nil one counts nothing.
type BlockCounters[K comparable] struct {
	mu   sync.Mutex
	all  Counts
	seen map[K]bool
}

// NewBlockCounters returns counters of nothing.
func NewBlockCounters[K comparable]() *BlockCounters[K] { return &BlockCounters[K]{seen: map[K]bool{}} }

// Counts implements [Counters].
func (c *BlockCounters[K]) Counts() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
}

// AddBlock counts a block, of so many bytes if it was read.
func (c *BlockCounters[K]) AddBlock(key K, bytes int64) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all.Blocks++
	c.all.BlockBytes += bytes
	if !c.seen[key] {
		c.seen[key] = true
		c.all.Distinct++
	}
}

// Has reports whether a block was counted.
func (c *BlockCounters[K]) Has(key K) bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[key]
}

// AddValues counts values that are wanted of a block: n of them, or all.
func (c *BlockCounters[K]) AddValues(n int64, all bool) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all.Values += n
	if all {
		c.all.Whole++
	}
}

// Counted is a reader of the bytes of a table that counts its requests.
type Counted struct {
	storage.Reader
	n, bytes, took atomic.Int64
}

// ReadAt implements [storage.Reader].
func (c *Counted) ReadAt(ctx context.Context, p []byte, off int64) error {
	defer c.add(len(p), time.Now())
	return c.Reader.ReadAt(ctx, p, off)
}

// ReadSuffix implements [storage.Reader].
func (c *Counted) ReadSuffix(ctx context.Context, n int) ([]byte, int64, error) {
	begin := time.Now()
	tail, size, err := c.Reader.ReadSuffix(ctx, n)
	c.add(len(tail), begin)
	return tail, size, err
}

func (c *Counted) add(bytes int, begin time.Time) {
	c.n.Add(1)
	c.bytes.Add(int64(bytes))
	c.took.Add(int64(time.Since(begin)))
}

// Requests are those so far.
func (c *Counted) Requests() Requests {
	return Requests{N: c.n.Load(), Bytes: c.bytes.Load(), Took: time.Duration(c.took.Load())}
}
