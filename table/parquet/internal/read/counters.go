package read

import (
	"sync"

	"github.com/amudai/amudai-go/internal/engine/table"
)

// counters implements [table.Counters]: pages are blocks.
type counters struct {
	mu   sync.Mutex
	all  table.Counts
	seen map[pageKey]bool
}

// Counts implements [table.Counters].
func (c *counters) Counts() table.Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
}

// addPage counts a page, of so many bytes if it was read.
func (c *counters) addPage(key pageKey, bytes int64) {
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

func (c *counters) addValues(n int64) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all.Values += n
}
