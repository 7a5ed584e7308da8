package write

import "sync"

// chunkScratch is memory that a node writer needs only while it handles a chunk. Kept
// in each of many columns it would add up.
type chunkScratch struct {
	offsets []int64
	words   []uint64
	data    []byte
	ids     []uint32
}

var chunkScratches = sync.Pool{New: func() any { return new(chunkScratch) }}

func getScratch() *chunkScratch { return chunkScratches.Get().(*chunkScratch) }

func (s *chunkScratch) put() { chunkScratches.Put(s) }
