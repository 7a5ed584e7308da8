package table

import "sync"

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
