package session

import (
	"fmt"
	"os"
	"sync"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

const (
	// unit is what places of buffers in the file are multiples of.
	unit = 64
	// smallest is the least size of a buffer in the file. Smaller ones are cheap to copy.
	smallest = 4 << 10
	// leastGrowth is the size of the first part of the file. Each further part doubles it: the other process maps the
	// whole file again when it has grown. What is not written takes no memory.
	leastGrowth = 16 << 20
)

func roundUp(n int) int { return (n + unit - 1) &^ (unit - 1) }

// file allocates memory in a file. It implements [memory.Allocator].
type file struct {
	*os.File

	mu    sync.Mutex
	parts []part
	end   int64            // of the file
	rest  []byte           // of the last part
	free  map[int][][]byte // by capacity: places without memory
	err   error            // if it cannot grow
}

// part is a part of the file in the memory of this process.
type part struct {
	offset int64
	bytes  []byte
}

// Allocate implements [memory.Allocator]. Small buffers, and all if the file cannot grow, are in Go's memory.
func (f *file) Allocate(size int) []byte {
	if size < smallest {
		return memory.DefaultAllocator.Allocate(size)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	room := roundUp(size)
	if list := f.free[room]; len(list) > 0 {
		f.free[room] = list[:len(list)-1]
		return list[len(list)-1][:size]
	}
	if room > len(f.rest) {
		if f.err == nil {
			f.err = f.grow(room)
		}
		if f.err != nil {
			return memory.DefaultAllocator.Allocate(size)
		}
	}
	b := f.rest[:size:room]
	f.rest = f.rest[room:]
	return b
}

// Reallocate implements [memory.Allocator].
func (f *file) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size]
	}
	n := f.Allocate(size)
	copy(n, b)
	return n
}

// Free implements [memory.Allocator]. It gives the memory back to the system, and keeps the place for another buffer.
func (f *file) Free(b []byte) {
	b = b[:cap(b)]
	if len(b) < smallest || f.offset(b) < 0 {
		return
	}
	if err := release(b); err != nil {
		clear(b)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.free[len(b)] = append(f.free[len(b)], b)
}

// grow appends a part with room for n bytes.
func (f *file) grow(n int) error {
	size := max(int64(n), f.end, leastGrowth)
	size = (size + leastGrowth - 1) &^ (leastGrowth - 1)
	if err := f.Truncate(f.end + size); err != nil {
		return fmt.Errorf("shared memory: %w", err)
	}
	b, err := mapFile(f.File, f.end, int(size))
	if err != nil {
		return fmt.Errorf("map shared memory: %w", err)
	}
	f.parts = append(f.parts, part{f.end, b})
	f.end, f.rest = f.end+size, b
	return nil
}

// size is the size of the file.
func (f *file) size() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.end
}

// offset is where a buffer is in the file, or -1 if it is in other memory or not aligned.
func (f *file) offset(b []byte) int64 {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	if at%8 != 0 {
		return -1
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.parts {
		if begin := uintptr(unsafe.Pointer(unsafe.SliceData(p.bytes))); begin <= at && at < begin+uintptr(len(p.bytes)) {
			return p.offset + int64(at-begin)
		}
	}
	return -1
}

// reserve allocates n bytes, all in the file.
func (f *file) reserve(mem *arrowutil.Recycler, n int) ([]byte, error) {
	b := mem.Allocate(max(n, smallest))
	if f.offset(b) < 0 {
		f.mu.Lock()
		defer f.mu.Unlock()
		return nil, f.err
	}
	return b, nil
}
