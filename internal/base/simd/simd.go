// Package simd has loops over numbers that are several times as fast with AVX2 as compiled Go:
// loops that write more than they read, with little computation, and a check of UTF-8. Each has a version in plain
// Go, which defines its result. And it has a copy of a fixed size that stays inline.
package simd

//go:generate go run -C ../../../tools ./simdasm -out ../internal/base/simd/simd_amd64.s -pkg simd

import "unicode/utf8"

// ValidUTF8 is utf8.Valid.
func ValidUTF8(b []byte) bool {
	n, ok := utf8Fast(b)
	for k := 1; k <= min(n, 3); k++ {
		if utf8.RuneStart(b[n-k]) { // a character that may end behind n
			n -= k
			break
		}
	}
	return ok && utf8.Valid(b[n:])
}

// Widen sets dst[i] to the 128 bits, the low half first, of the signed number
// a + b*src[i], which is modulo 2^64. src is at least as long as dst.
func Widen(dst [][2]uint64, src []uint64, a, b uint64) {
	src = src[:len(dst)]
	n := widenFast(dst, src, a, b)
	dst, src = dst[n:], src[n:]
	for i, v := range src {
		v = a + b*v
		dst[i] = [2]uint64{v, uint64(int64(v) >> 63)}
	}
}

// Narrow sets dst[i] to a + b*src[i] modulo 2^32. src is at least as long as dst.
func Narrow(dst []int32, src []uint64, a, b uint64) {
	src = src[:len(dst)]
	n := narrowFast(dst, src, a, b)
	dst, src = dst[n:], src[n:]
	for i, v := range src {
		dst[i] = int32(a + b*v)
	}
}

// Count sets dst to first, first + step, first + 2*step and so on, modulo 2^32.
func Count(dst []int32, first, step int32) {
	n := countFast(dst, first, step)
	first += int32(n) * step
	dst = dst[n:]
	for i := range dst {
		dst[i] = first
		first += step
	}
}

// Merge ORs to each value of dst the entry that the low three bits of its code tell, and returns the OR of the codes. codes
// is at least as long as dst.
func Merge[W uint32 | uint64](dst []W, codes []uint16, entries *[8]W) (all uint16) {
	codes = codes[:len(dst)]
	n, all := mergeFast(dst, codes, entries)
	dst, codes = dst[n:], codes[n:]
	for i, code := range codes {
		dst[i] |= entries[code%8]
		all |= code
	}
	return all
}
