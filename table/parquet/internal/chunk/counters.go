package chunk

import (
	"sync"

	"github.com/amudai/amudai-go/internal/engine/table"
)

// Counters implements [table.Counters]: pages are blocks.
type Counters struct {
	mu   sync.Mutex
	all  table.Counts
	seen map[pageKey]bool
}

// NewCounters returns counters of nothing.
func NewCounters() *Counters { return &Counters{seen: map[pageKey]bool{}} }

// Counts implements [table.Counters].
func (c *Counters) Counts() table.Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
}

// addPage counts a page, of so many bytes if it was read.
func (c *Counters) addPage(key pageKey, bytes int64) {
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

// AddChunk counts a chunk whose pages are not known, once.
func (c *Counters) AddChunk(chunk *Chunk) {
	if c == nil {
		return
	}
	key := pageKey{chunk.Group, chunk.Leaf, 0}
	c.mu.Lock()
	known := c.seen[key]
	c.mu.Unlock()
	if !known {
		c.addPage(key, chunk.End-chunk.From)
	}
}

// AddValues counts values that are wanted.
func (c *Counters) AddValues(n int64) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all.Values += n
}
