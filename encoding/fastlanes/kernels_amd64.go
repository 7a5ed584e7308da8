//go:build !purego

package fastlanes

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate go run -C ../../tools ./fastlanesasm -out ../encoding/fastlanes/kernels_amd64.s -pkg fastlanes

// The kernels read or write 128*width bytes of packed values; width is 1 to the
// bits of a value.

//go:noescape
func unpack8avx2(dst *[ChunkLen]uint8, src *byte, base uint64, width int)

//go:noescape
func unpack16avx2(dst *[ChunkLen]uint16, src *byte, base uint64, width int)

//go:noescape
func unpack32avx2(dst *[ChunkLen]uint32, src *byte, base uint64, width int)

//go:noescape
func unpack64avx2(dst *[ChunkLen]uint64, src *byte, base uint64, width int)

//go:noescape
func pack8avx2(dst *byte, src *[ChunkLen]uint8, base uint64, width int)

//go:noescape
func pack16avx2(dst *byte, src *[ChunkLen]uint16, base uint64, width int)

//go:noescape
func pack32avx2(dst *byte, src *[ChunkLen]uint32, base uint64, width int)

//go:noescape
func pack64avx2(dst *byte, src *[ChunkLen]uint64, base uint64, width int)

// avx2 tells to use the kernels in assembly.
var avx2 = cpu.X86.HasAVX2

// unpackFast unpacks if there is a kernel in assembly for this machine. It
// touches nothing but src and dst.
func unpackFast[W Word](dst *[ChunkLen]W, src []byte, base W, w int) bool {
	if !avx2 {
		return false
	}
	p, first := unsafe.Pointer(dst), unsafe.SliceData(src)
	switch unsafe.Sizeof(base) {
	case 1:
		unpack8avx2((*[ChunkLen]uint8)(p), first, uint64(base), w)
	case 2:
		unpack16avx2((*[ChunkLen]uint16)(p), first, uint64(base), w)
	case 4:
		unpack32avx2((*[ChunkLen]uint32)(p), first, uint64(base), w)
	default:
		unpack64avx2((*[ChunkLen]uint64)(p), first, uint64(base), w)
	}
	return true
}

// packFast is the inverse of unpackFast.
func packFast[W Word](dst []byte, src *[ChunkLen]W, base W, w int) bool {
	if !avx2 {
		return false
	}
	first, p := unsafe.SliceData(dst), unsafe.Pointer(src)
	switch unsafe.Sizeof(base) {
	case 1:
		pack8avx2(first, (*[ChunkLen]uint8)(p), uint64(base), w)
	case 2:
		pack16avx2(first, (*[ChunkLen]uint16)(p), uint64(base), w)
	case 4:
		pack32avx2(first, (*[ChunkLen]uint32)(p), uint64(base), w)
	default:
		pack64avx2(first, (*[ChunkLen]uint64)(p), uint64(base), w)
	}
	return true
}
