package arrowutil

import (
	"strings"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// unzeroed is Arrow's allocator of Go memory without clearing what it gives, for those
// who write all bytes: clearing large buffers first costs a scan up to a fifth
// of its time. Nothing is ever used twice, so that arrays that somebody keeps do
// not change.
type unzeroed struct{ memory.Allocator }

// alignment of buffers, as Arrow recommends it.
const alignment = 64

func (a unzeroed) Allocate(size int) []byte {
	if size < smallest {
		return a.Allocator.Allocate(size)
	}
	b := Arbitrary(size + alignment)
	shift := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (alignment - 1))
	return b[shift : shift+size : shift+size]
}

func (a unzeroed) Reallocate(size int, b []byte) []byte {
	if cap(b) >= size {
		return b[:size]
	}
	n := a.Allocate(size)
	copy(n, b)
	return n
}

// withoutClearing gives an allocator whose memory may hold anything.
func withoutClearing(mem memory.Allocator) memory.Allocator {
	switch m := mem.(type) {
	case *memory.GoAllocator:
		return unzeroed{m}
	case *Recycler:
		return uncleared{m}
	}
	return mem
}

// Arbitrary allocates n > 0 bytes of any content. Only the builder of strings does so without
// clearing them; its string is not used any further.
func Arbitrary(n int) []byte {
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(b.String()), n)
}
