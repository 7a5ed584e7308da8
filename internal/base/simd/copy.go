package simd

import "unsafe"

// Copy32 copies 32 bytes, by halves: for more than 16 the compiler calls memmove. The bytes do not overlap.
func Copy32(to, from unsafe.Pointer) {
	*(*[16]byte)(to) = *(*[16]byte)(from)
	*(*[16]byte)(unsafe.Add(to, 16)) = *(*[16]byte)(unsafe.Add(from, 16))
}
