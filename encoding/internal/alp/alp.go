// Package alp converts floats to integers and back, bit for bit, after Afroozeh, Kuffo and Boncz, "ALP: Adaptive
// Lossless floating-Point Compression" (SIGMOD 2024).
//
// Floats that were decimals are integers times a power of ten: with an exponent e and a factor f, which are constant
// in a block,
//
//	integer = round(value * 10^e * 10^-f)
//	value   = integer * 10^f * 10^-e
//
// Products are rounded one by one, from left to right. Values that do not come back with the same bits (among them
// NaN, infinities and -0.0) are exceptions, which the caller stores separately. Floats that are not decimals can be
// split by their bits instead: see [SearchRD].
package alp

import (
	"unsafe"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// Float is the type of a value.
type Float interface{ float32 | float64 }

// Int is the integer type of a [Float]: int32 for float32, int64 for float64. Other pairs must not be used.
type Int interface{ int32 | int64 }

// Params are the exponent E and the factor F of a block: value = integer *
// 10^F * 10^-E (docs/format.md §7.4).
type Params struct{ E, F uint8 }

// The largest exponents in the tables.
const (
	max32 = 10
	max64 = 23
)

// Powers of ten and their inverses. Each literal is rounded by itself.
var (
	pow32 = [max32 + 1]float32{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10}
	inv32 = [max32 + 1]float32{1e-0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10}
	pow64 = [max64 + 1]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
		1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23}
	inv64 = [max64 + 1]float64{1e-0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11,
		1e-12, 1e-13, 1e-14, 1e-15, 1e-16, 1e-17, 1e-18, 1e-19, 1e-20, 1e-21, 1e-22, 1e-23}
)

// size is the number of bytes of a value.
func size[F Float]() int {
	var v F
	return int(unsafe.Sizeof(v))
}

// Valid returns an error for invalid parameters of values of type F, as read from a file.
func Valid[F Float](p Params) error {
	limit := uint8(max64)
	if size[F]() == 4 {
		limit = max32
	}
	if p.E > limit || p.F > limit {
		return fault.Corruptf("ALP exponent %d and factor %d: at most %d", p.E, p.F, limit)
	}
	return nil
}

// scales returns 10^up and 10^-down.
func scales[F Float](up, down uint8) (F, F) {
	if size[F]() == 4 {
		return F(pow32[up]), F(inv32[down])
	}
	return F(pow64[up]), F(inv64[down])
}

// bitsOf returns the bits of v.
func bitsOf[F Float](v F) uint64 {
	if size[F]() == 4 {
		return uint64(*(*uint32)(unsafe.Pointer(&v)))
	}
	return *(*uint64)(unsafe.Pointer(&v))
}
