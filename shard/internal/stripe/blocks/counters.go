package blocks

import (
	"sync"
	"sync/atomic"

	"github.com/amudai/amudai-go/storage"
)

// Counters count blocks and bytes that were read. Several goroutines may add to them.
type Counters struct {
	Blocks atomic.Int64 // blocks read
	Bytes  atomic.Int64 // bytes of these blocks
	Whole  atomic.Int64 // blocks of which all values were needed
	Values atomic.Int64 // values needed

	mu   sync.Mutex
	seen map[place]struct{} // places of the blocks read
}

// place is where a block lies.
type place struct {
	r      storage.Reader
	offset int64
}

// Distinct is the number of different blocks that were read.
func (c *Counters) Distinct() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(len(c.seen))
}

func (c *Counters) add(r *Reader, parts []Part) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[place]struct{}{}
	}
	for i := range parts {
		p := &parts[i]
		c.seen[place{r.artifact, r.start + p.Offset}] = struct{}{}
		c.Blocks.Add(1)
		c.Bytes.Add(int64(p.Size))
		c.Values.Add(int64(p.Count))
		if p.Whole() {
			c.Whole.Add(1)
		}
	}
}
