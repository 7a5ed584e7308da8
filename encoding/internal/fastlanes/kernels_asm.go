//go:build (amd64 || arm64) && !purego

package fastlanes

import "unsafe"

// The kernels read or write 128*width bytes of packed values. width is from 1 to the bits of a value.

//go:noescape
func unpack8(dst *[ChunkLen]uint8, src *byte, base uint64, width int)

//go:noescape
func unpack16(dst *[ChunkLen]uint16, src *byte, base uint64, width int)

//go:noescape
func unpack32(dst *[ChunkLen]uint32, src *byte, base uint64, width int)

//go:noescape
func unpack64(dst *[ChunkLen]uint64, src *byte, base uint64, width int)

//go:noescape
func pack8(dst *byte, src *[ChunkLen]uint8, base uint64, width int)

//go:noescape
func pack16(dst *byte, src *[ChunkLen]uint16, base uint64, width int)

//go:noescape
func pack32(dst *byte, src *[ChunkLen]uint32, base uint64, width int)

//go:noescape
func pack64(dst *byte, src *[ChunkLen]uint64, base uint64, width int)

// unpackFast unpacks if there is a kernel in assembly for this machine. It accesses only src and dst.
func unpackFast[W Word](dst *[ChunkLen]W, src []byte, base W, w int) bool {
	if !fast {
		return false
	}
	p, first := unsafe.Pointer(dst), unsafe.SliceData(src)
	switch unsafe.Sizeof(base) {
	case 1:
		unpack8((*[ChunkLen]uint8)(p), first, uint64(base), w)
	case 2:
		unpack16((*[ChunkLen]uint16)(p), first, uint64(base), w)
	case 4:
		unpack32((*[ChunkLen]uint32)(p), first, uint64(base), w)
	default:
		unpack64((*[ChunkLen]uint64)(p), first, uint64(base), w)
	}
	return true
}

// packFast is the inverse of unpackFast.
func packFast[W Word](dst []byte, src *[ChunkLen]W, base W, w int) bool {
	if !fast {
		return false
	}
	first, p := unsafe.SliceData(dst), unsafe.Pointer(src)
	switch unsafe.Sizeof(base) {
	case 1:
		pack8(first, (*[ChunkLen]uint8)(p), uint64(base), w)
	case 2:
		pack16(first, (*[ChunkLen]uint16)(p), uint64(base), w)
	case 4:
		pack32(first, (*[ChunkLen]uint32)(p), uint64(base), w)
	default:
		pack64(first, (*[ChunkLen]uint64)(p), uint64(base), w)
	}
	return true
}
