package blocks

import (
	"sync"

	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
)

// Counters count blocks and bytes that were read, as [table.Counters]. Several goroutines may add to them.
type Counters struct {
	mu     sync.Mutex
	counts table.Counts       // but for Distinct
	seen   map[place]struct{} // places of the blocks read
	others map[table.Table]table.Counters
}

// place is where a block lies.
type place struct {
	r      storage.Reader
	offset int64
}

// Counts implements [table.Counters].
func (c *Counters) Counts() table.Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.counts
	out.Distinct = int64(len(c.seen))
	for _, o := range c.others {
		n := o.Counts()
		out.Blocks, out.Distinct, out.BlockBytes = out.Blocks+n.Blocks, out.Distinct+n.Distinct, out.BlockBytes+n.BlockBytes
		out.Whole, out.Values = out.Whole+n.Whole, out.Values+n.Values
	}
	return out
}

// Of are the counters of another table that has columns of the shard. What they count is counted here, too.
func (c *Counters) Of(t table.Table) table.Counters {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.others[t] == nil {
		if c.others == nil {
			c.others = map[table.Table]table.Counters{}
		}
		c.others[t] = t.NewCounters()
	}
	return c.others[t]
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
		c.counts.Blocks++
		c.counts.BlockBytes += int64(p.Size)
		c.counts.Values += int64(p.Count)
		if p.Whole() {
			c.counts.Whole++
		}
	}
}
