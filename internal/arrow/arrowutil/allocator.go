package arrowutil

import (
	"math/bits"
	"strings"
	"sync"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// alignment of buffers, as Arrow recommends it.
const alignment = 64

// arbitrary is an allocator that can allocate memory without clearing it.
type arbitrary interface {
	memory.Allocator
	// take is Allocate without clearing.
	take(size int) []byte
}

// uncleared is an allocator for code that writes all bytes. Clearing large buffers would take up to a fifth of the time of a scan.
type uncleared struct{ arbitrary }

func (u uncleared) Allocate(size int) []byte { return u.take(size) }

func (u uncleared) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size]
	}
	n := u.take(size)
	copy(n, b)
	u.Free(b)
	return n
}

// withoutClearing returns an allocator that does not clear memory.
func withoutClearing(mem memory.Allocator) memory.Allocator {
	switch m := mem.(type) {
	case *memory.GoAllocator:
		return uncleared{goMemory{m}}
	case arbitrary:
		return uncleared{m}
	}
	return mem
}

// goMemory is Arrow's allocator of Go memory. It never uses memory again, so that retained arrays do not change.
type goMemory struct{ *memory.GoAllocator }

func (m goMemory) take(size int) []byte {
	if size < smallest {
		return m.Allocate(size)
	}
	b := Arbitrary(size + alignment)
	shift := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (alignment - 1))
	return b[shift : shift+size : shift+size]
}

// Arbitrary allocates n > 0 bytes without clearing them. In Go, only strings.Builder allocates so; the string itself is not used.
func Arbitrary(n int) []byte {
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(b.String()), n)
}

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
