package arrowutil

import (
	"sync"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// chunks is Go memory cut from chunks of one size, for buffers that live about as long
// as each other. Each by itself would leave holes of all sizes in the heap, and the
// heap would take more pages; those that are free at a time the runtime gives back to
// the system, and each of them costs microseconds when it is written again.
type chunks struct {
	goMemory
	mu   sync.Mutex
	rest []byte // of the newest chunk
}

const (
	chunkSize = 4 << 20
	// leastCut is the least size that is cut from a chunk, so that who keeps one buffer does
	// not keep many times its size alive.
	leastCut = chunkSize / 64
	// mostCut is the greatest. Memory of its own for more comes in steps, which leaves
	// fewer holes.
	mostCut  = chunkSize / 2
	ownSteps = chunkSize / 8
)

// Chunks gives an allocator of Go memory that is cut from chunks of 4 MiB, and is safe for
// concurrent use. A buffer keeps its chunk alive. An allocator of other memory
// stays as it is.
func Chunks(mem memory.Allocator) memory.Allocator {
	if m, ok := mem.(*memory.GoAllocator); ok {
		return &chunks{goMemory: goMemory{m}}
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
		c.rest = c.goMemory.take(chunkSize - alignment)
	}
	b := c.rest[:size:room]
	c.rest = c.rest[room:]
	return b
}

// roundTo gives the next multiple of step, a power of two.
func roundTo(n, step int) int { return (n + step - 1) &^ (step - 1) }
