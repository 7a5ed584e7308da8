package arrowutil

import (
	"strings"
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
