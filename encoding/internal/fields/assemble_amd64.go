//go:build !purego

package fields

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate go run -C ../../../tools ./fieldsasm -out ../encoding/internal/fields/assemble_amd64.s -pkg fields

//go:noescape
func assemble32AVX2(a *byte, order *uint32, n int)

//go:noescape
func assemble64AVX2(a *byte, order *uint32, n int)

// avx2 tells to use assembly.
var avx2 = cpu.X86.HasAVX2

// run does steps.
func run[O int32 | int64](a *assembler, order []uint32) {
	switch {
	case !avx2 || len(order) == 0:
		runGo[O](a, order)
	case offsetLen[O]() == 4:
		assemble32AVX2((*byte)(unsafe.Pointer(a)), &order[0], len(order))
	default:
		assemble64AVX2((*byte)(unsafe.Pointer(a)), &order[0], len(order))
	}
}
