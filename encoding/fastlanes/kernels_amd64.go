//go:build !purego

package fastlanes

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate go run -C ../../tools ./fastlanesasm -out ../encoding/fastlanes/unpack_avx2_amd64.s -pkg fastlanes

// The kernels take 128*width bytes from src on; width is 1 to the bits of a value.

//go:noescape
func unpack16avx2(dst *[ChunkLen]uint16, src *byte, base uint64, width int)

//go:noescape
func unpack32avx2(dst *[ChunkLen]uint32, src *byte, base uint64, width int)

//go:noescape
func unpack64avx2(dst *[ChunkLen]uint64, src *byte, base uint64, width int)

// avx2 tells to use the kernels in assembly.
var avx2 = cpu.X86.HasAVX2

// unpackFast unpacks if there is a kernel in assembly for it. It touches nothing
// but src[:PackedLen(w)] and dst.
func unpackFast[W Word](dst *[ChunkLen]W, src []byte, base W, w int) bool {
	size := unsafe.Sizeof(base)
	if !avx2 || size == 1 || w < 1 || w > int(8*size) {
		return false
	}
	p, first := unsafe.Pointer(dst), &src[:PackedLen(w)][0]
	switch size {
	case 2:
		unpack16avx2((*[ChunkLen]uint16)(p), first, uint64(base), w)
	case 4:
		unpack32avx2((*[ChunkLen]uint32)(p), first, uint64(base), w)
	default:
		unpack64avx2((*[ChunkLen]uint64)(p), first, uint64(base), w)
	}
	return true
}
