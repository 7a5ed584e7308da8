package arrowutil

import (
	"sync"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// chunks allocates buffers of similar lifetime from chunks of one size. Separate allocations
// would leave holes of all sizes in the heap, which would take more pages. The runtime returns
// free pages to the system, and each costs microseconds when it is written again.
type chunks struct {
	goMemory
	reusable *Recycler

	mu    sync.Mutex
	rest  []byte // of the newest chunk
	taken int    // bytes of all chunks
}

const (
	// chunkSize is the size of chunks. The first ones are smaller: a chunk is no larger than those before it together,
	// so that a small table takes little more memory than its values.
	chunkSize = 4 << 20
	// leastCut is the least size that is cut from a chunk, so that a retained buffer does not keep
	// many times its size alive.
	leastCut = chunkSize / 64
	// mostCut is the greatest size that is cut from a chunk. Larger buffers have separate memory,
	// in steps that leave fewer holes.
	mostCut  = chunkSize / 2
	ownSteps = chunkSize / 8
)

// Chunks wraps the Go allocator so that buffers are cut from chunks of up to 4 MiB, and so that
// [Reusable] memory comes from r. The result is safe for concurrent use. A buffer keeps its chunk
// alive. Chunks returns any other allocator unchanged.
func Chunks(mem memory.Allocator, r *Recycler) memory.Allocator {
	if m, ok := mem.(*memory.GoAllocator); ok {
		return &chunks{goMemory: goMemory{m}, reusable: r}
	}
	return mem
}

// Reusable is the allocator for buffers of numbers, offsets and bits. Callers copy these out of an
// array, whereas a Go string refers to the array's memory and is easily kept beyond Release. It is
// mem itself unless that is of [Chunks].
func Reusable(mem memory.Allocator) memory.Allocator {
	if c, ok := mem.(*chunks); ok {
		return c.reusable
	}
	return mem
}

func (c *chunks) take(size int) []byte {
	if size < leastCut {
		return c.goMemory.take(size)
	}
	if size > mostCut {
		return c.goMemory.take(roundTo(size+alignment, ownSteps) - alignment)[:size]
	}
	room := roundTo(size, alignment)
	c.mu.Lock()
	defer c.mu.Unlock()
	if room > len(c.rest) {
		n := max(room, min(c.taken, chunkSize-alignment))
		c.rest = c.goMemory.take(n)
		c.taken += n
	}
	b := c.rest[:size:room]
	c.rest = c.rest[room:]
	return b
}

// roundTo is the next multiple of step, a power of two.
func roundTo(n, step int) int { return (n + step - 1) &^ (step - 1) }
