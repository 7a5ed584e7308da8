package arrowutil

import (
	"strings"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// alignment of buffers, as Arrow recommends it.
const alignment = 64

// arbitrary is an allocator that can leave out clearing what it gives.
type arbitrary interface {
	memory.Allocator
	// take is Allocate without clearing.
	take(size int) []byte
}

// uncleared is an allocator for those who write all bytes: clearing large buffers first
// costs a scan up to a fifth of its time.
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

// withoutClearing gives an allocator whose memory may hold anything.
func withoutClearing(mem memory.Allocator) memory.Allocator {
	switch m := mem.(type) {
	case *memory.GoAllocator:
		return uncleared{goMemory{m}}
	case arbitrary:
		return uncleared{m}
	}
	return mem
}

// goMemory is Arrow's allocator of Go memory. Nothing is ever used twice, so that arrays
// that somebody keeps do not change.
type goMemory struct{ *memory.GoAllocator }

func (m goMemory) take(size int) []byte {
	if size < smallest {
		return m.Allocate(size)
	}
	b := Arbitrary(size + alignment)
	shift := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (alignment - 1))
	return b[shift : shift+size : shift+size]
}

// Arbitrary allocates n > 0 bytes of any content. Only the builder of strings does so without
// clearing them; its string is not used any further.
func Arbitrary(n int) []byte {
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(b.String()), n)
}
