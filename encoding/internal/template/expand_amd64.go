//go:build !purego

package template

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate go run -C ../../../tools ./templateasm -out ../encoding/internal/template/expand_amd64.s -pkg template

//go:noescape
func expandAVX2(dst *byte, codes *uint32, n int, digits *byte, chunks *[2][16]byte, sizes *[4]uint32)

// avx2 tells to use chunks instead of pieces.
var avx2 = cpu.X86.HasAVX2 && cpu.X86.HasPOPCNT

// expandChunks is Expand of a set that has chunks.
func (s *Set) expandChunks(dst []byte, codes []uint32, digits []byte) {
	if len(codes) > 0 && len(s.chunks) > 0 {
		expandAVX2(unsafe.SliceData(dst), &codes[0], len(codes), unsafe.SliceData(digits), &s.chunks[0], (*[4]uint32)(unsafe.Pointer(&s.sizes[0])))
	}
}
