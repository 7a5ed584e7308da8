package session

import (
	"fmt"
	"os"
	"slices"
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
	// extent is how much memory is taken from the system, and given back, at a time: a huge page, which costs a tenth of small ones.
	extent = 2 << 20
)

func roundUp(n int) int { return (n + unit - 1) &^ (unit - 1) }

// file allocates memory in a file. It implements [memory.Allocator].
type file struct {
	*os.File

	mu    sync.Mutex
	parts []part
	end   int64  // of the file
	rest  []byte // of the extents that were taken last
	err   error  // if it cannot grow
}

// part is a part of the file in the memory of this process.
type part struct {
	offset int64
	bytes  []byte
	used   []int // the numbers of buffers in its extents, of which the rest is one
}

// Allocate implements [memory.Allocator]. Small buffers, and all if the file cannot grow, are in Go's memory.
func (f *file) Allocate(size int) []byte {
	if size < smallest {
		return memory.DefaultAllocator.Allocate(size)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	room := roundUp(size)
	if room > len(f.rest) && !f.take(room) {
		return memory.DefaultAllocator.Allocate(size)
	}
	b := f.rest[:size:room]
	f.count(f.rest, -1)
	f.count(b[:room], 1)
	if f.rest = f.rest[room:]; len(f.rest) > 0 {
		f.count(f.rest, 1)
	}
	return b
}

// take makes the rest at least n bytes long: by the extents behind it, by others, or by a new part.
func (f *file) take(n int) bool {
	if len(f.rest) > 0 {
		p, at := f.find(f.rest)
		end, more := (at+len(f.rest))/extent, extents(n-len(f.rest))
		if p.isFree(end, more) {
			f.rest = p.bytes[at : (end+more)*extent]
			p.take(end, more)
			return true
		}
		f.drop(f.rest)
		f.rest = nil
	}
	for i := range f.parts {
		p := &f.parts[i]
		for first := range p.used {
			if p.isFree(first, extents(n)) {
				f.rest = p.take(first, extents(n))
				return true
			}
		}
	}
	if f.err == nil {
		f.err = f.grow(n)
	}
	if f.err == nil {
		f.rest = f.parts[len(f.parts)-1].take(0, extents(n))
	}
	return f.err == nil
}

func extents(n int) int { return (n + extent - 1) / extent }

// isFree reports whether extents from first on are not in use.
func (p *part) isFree(first, n int) bool {
	return first+n <= len(p.used) && !slices.ContainsFunc(p.used[first:first+n], func(used int) bool { return used > 0 })
}

// take has extents be the rest.
func (p *part) take(first, n int) []byte {
	for i := first; i < first+n; i++ {
		p.used[i]++
	}
	b := p.bytes[first*extent : (first+n)*extent]
	fill(b)
	return b
}

// count changes the numbers of buffers in the extents of one.
func (f *file) count(b []byte, by int) {
	p, at := f.find(b)
	for i := at / extent; i < extents(at+len(b)); i++ {
		p.used[i] += by
	}
}

// drop gives the extents of a buffer in which there is no other back to the system.
func (f *file) drop(b []byte) {
	f.count(b, -1)
	p, at := f.find(b)
	for i := at / extent; i < extents(at+len(b)); i++ {
		if e := p.bytes[i*extent : (i+1)*extent]; p.used[i] == 0 && release(e) != nil {
			clear(e)
		}
	}
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

// Free implements [memory.Allocator].
func (f *file) Free(b []byte) {
	if b = b[:cap(b)]; len(b) < smallest || f.offset(b) < 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(b)
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
	f.parts = append(f.parts, part{f.end, b, make([]int, size/extent)})
	f.end += size
	return nil
}

// size is the size of the file.
func (f *file) size() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.end
}

// find returns the part with a buffer, and its place there; or nil if it is in other memory or not aligned.
func (f *file) find(b []byte) (*part, int) {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	for i := range f.parts {
		p := &f.parts[i]
		if begin := uintptr(unsafe.Pointer(unsafe.SliceData(p.bytes))); begin <= at && at < begin+uintptr(len(p.bytes)) && at%8 == 0 {
			return p, int(at - begin)
		}
	}
	return nil, 0
}

// offset is where a buffer is in the file, or -1 if it is in other memory or not aligned.
func (f *file) offset(b []byte) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p, at := f.find(b); p != nil {
		return p.offset + int64(at)
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
