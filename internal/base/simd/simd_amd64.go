//go:build !purego

package simd

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// The kernels of lines take a number of values that is a multiple of 8.

//go:noescape
func widenAVX2(dst *[2]uint64, src *uint64, n int, a, b uint64)

//go:noescape
func narrowAVX2(dst *int32, src *uint64, n int, a, b uint64)

//go:noescape
func countAVX2(dst *int32, n int, first, step int32)

//go:noescape
func merge32AVX2(dst *uint32, codes *uint16, n int, entries *[8]uint32) (all uint64)

//go:noescape
func merge64AVX2(dst *uint64, codes *uint16, n int, entries *[8]uint64) (all uint64)

// The kernels of runs write up to 16 values more than a run has: they stop
// before a run that does not leave room for those among n.

//go:noescape
func repeat32AVX2(dst *uint32, n int, values *uint32, lengths *uint32, runs int) (done, room int)

//go:noescape
func repeat64AVX2(dst *uint64, n int, values *uint64, lengths *uint32, runs int) (done, room int)

// The kernels of comparison take words of 64 keys, and find those k for which
// k+by is not above most, as signed numbers.

//go:noescape
func between8AVX2(dst *uint64, keys *uint8, words int, by, most uint64)

//go:noescape
func between16AVX2(dst *uint64, keys *uint16, words int, by, most uint64)

//go:noescape
func between32AVX2(dst *uint64, keys *uint32, words int, by, most uint64)

//go:noescape
func between64AVX2(dst *uint64, keys *uint64, words int, by, most uint64)

//go:noescape
func utf8AVX2(src *byte, n int) (wrong uint64)

// avx2 selects the kernels in assembly.
var avx2 = cpu.X86.HasAVX2

// whole is the number of values, out of n, that a kernel handles.
func whole(n int) int {
	if !avx2 {
		return 0
	}
	return n &^ 7
}

func widenFast(dst [][2]uint64, src []uint64, a, b uint64) int {
	n := whole(len(dst))
	if n > 0 {
		widenAVX2(&dst[0], &src[0], n, a, b)
	}
	return n
}

func narrowFast(dst []int32, src []uint64, a, b uint64) int {
	n := whole(len(dst))
	if n > 0 {
		narrowAVX2(&dst[0], &src[0], n, a, b)
	}
	return n
}

func countFast(dst []int32, first, step int32) int {
	n := whole(len(dst))
	if n > 0 {
		countAVX2(&dst[0], n, first, step)
	}
	return n
}

func mergeFast[W uint32 | uint64](dst []W, codes []uint16, entries *[8]W) (n int, all uint16) {
	if n = whole(len(dst)); n == 0 {
		return 0, 0
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(entries)
	var quarters uint64 // codes of 32 or 64 bits
	if unsafe.Sizeof(dst[0]) == 4 {
		quarters = merge32AVX2((*uint32)(to), &codes[0], n, (*[8]uint32)(from))
	} else {
		quarters = merge64AVX2((*uint64)(to), &codes[0], n, (*[8]uint64)(from))
	}
	return n, uint16(quarters | quarters>>32)
}

func repeatFast[U word](dst, values []U, lengths []uint32) (runs, n int) {
	if !avx2 || len(dst) == 0 || len(values) == 0 {
		return 0, 0
	}
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&values[0])
	room := 0
	if unsafe.Sizeof(dst[0]) == 4 {
		runs, room = repeat32AVX2((*uint32)(to), len(dst), (*uint32)(from), &lengths[0], len(values))
	} else {
		runs, room = repeat64AVX2((*uint64)(to), len(dst), (*uint64)(from), &lengths[0], len(values))
	}
	return runs, len(dst) - room
}

// utf8Fast reports whether the first n bytes are UTF-8, but for the end of the last character.
func utf8Fast(b []byte) (n int, ok bool) {
	if n = len(b) &^ 31; !avx2 || n == 0 {
		return 0, true
	}
	return n, utf8AVX2(&b[0], n) == 0
}

func betweenFast[W Unsigned](dst []uint64, keys []W, low, size W) (words int) {
	words = len(keys) / 64
	if !avx2 || words == 0 {
		return 0
	}
	bits := 8 * unsafe.Sizeof(low)
	sign := W(1) << (bits - 1)
	by, most := uint64(sign-low), uint64(size^sign)
	from := unsafe.Pointer(&keys[0])
	switch bits {
	case 8:
		between8AVX2(&dst[0], (*uint8)(from), words, by, most)
	case 16:
		between16AVX2(&dst[0], (*uint16)(from), words, by, most)
	case 32:
		between32AVX2(&dst[0], (*uint32)(from), words, by, most)
	default:
		between64AVX2(&dst[0], (*uint64)(from), words, by, most)
	}
	return words
}
