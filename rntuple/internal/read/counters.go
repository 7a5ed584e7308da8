package read

import (
	"sync"

	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
	"github.com/amudai/amudai-go/storage"
)

// input is what a read begins with: bytes that were read before, and the counters of its work.
type input struct {
	have     storage.Prefetched
	counters *counters // nil for none
}

// counters implements [table.Counters]: pages are its blocks. A page that comes from the cache is not read.
type counters struct {
	mu   sync.Mutex
	all  table.Counts
	seen map[uint64]bool // offsets of the pages that were read
}

func (c *counters) Counts() table.Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
}

// addPage counts a page that is read.
func (c *counters) addPage(p envelope.Page) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all.Blocks++
	c.all.BlockBytes += int64(p.Size)
	if !c.seen[p.Offset] {
		c.seen[p.Offset] = true
		c.all.Distinct++
	}
}

// addValues counts values that are wanted of a page: n of them, or all.
func (c *counters) addValues(n int64, all bool) {
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
