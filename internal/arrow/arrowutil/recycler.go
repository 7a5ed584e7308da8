package arrowutil

import (
	"math/bits"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Recycler is an allocator that uses freed memory again. Memory changes after its Release. A
// Recycler is safe for concurrent use.
type Recycler struct {
	mem   memory.Allocator
	limit int

	mu     sync.Mutex
	free   map[int][][]byte // by capacity
	held   int              // bytes in free
	closed bool
}

// NewRecycler makes an allocator that takes memory from mem, and keeps up to limit bytes of
// freed memory.
func NewRecycler(mem memory.Allocator, limit int64) *Recycler {
	return &Recycler{mem: withoutClearing(mem), limit: int(min(limit, 1<<30)), free: map[int][][]byte{}}
}

// smallest is the least size that is kept.
const smallest = 4 << 10

// roundUp rounds up by at most an eighth, so that buffers of similar sizes are interchangeable.
func roundUp(size int) int {
	step := 1 << max(bits.Len(uint(size-1))-4, 0)
	return (size + step - 1) &^ (step - 1)
}

// Allocate implements memory.Allocator. It clears the memory, because some of Arrow's functions
// rely on that.
func (r *Recycler) Allocate(size int) []byte {
	b := r.take(size)
	clear(b)
	return b
}

// take is Allocate without clearing.
func (r *Recycler) take(size int) []byte {
	if size < smallest || size > r.limit {
		return r.mem.Allocate(size)
	}
	room := roundUp(size)
	r.mu.Lock()
	list := r.free[room]
	if len(list) == 0 {
		r.mu.Unlock()
		return r.mem.Allocate(room)[:size]
	}
	defer r.mu.Unlock()
	b := list[len(list)-1]
	r.free[room] = list[:len(list)-1]
	r.held -= room
	return b[:size]
}

// Reallocate implements memory.Allocator.
func (r *Recycler) Reallocate(size int, b []byte) []byte {
	old := len(b)
	if size > cap(b) {
		b = uncleared{r}.Reallocate(size, b)
	} else {
		b = b[:size]
	}
	clear(b[min(old, size):])
	return b
}

// Free implements memory.Allocator.
func (r *Recycler) Free(b []byte) {
	room := cap(b)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || room < smallest || room > r.limit-r.held || room != roundUp(room) {
		r.mem.Free(b[:room])
		return
	}
	r.free[room] = append(r.free[room], b[:room])
	r.held += room
}

// Close frees the kept memory. Memory that is freed later is not kept.
func (r *Recycler) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, list := range r.free {
		for _, b := range list {
			r.mem.Free(b)
		}
	}
	r.free, r.held, r.closed = nil, 0, true
}
