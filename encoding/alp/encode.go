package alp

import (
	"unsafe"
)

// Bits are had by way of pointers here: functions of package math are calls where generic functions are instantiated by
// packages that do not import it.

// Adding round (2^52 + 2^51) to a value below 2^51 rounds it to an integer, and
// leaves that integer in the low bits of the sum. What becomes of larger values
// does not matter: they are tried like others and found to be exceptions.
const (
	round     = 1<<52 + 1<<51
	roundBits = 0x4338000000000000
)

// toInt is round(v * 10^e * 10^-f), where up and down are those powers.
func toInt[F Float, I Int](v, up, down F) I {
	// The conversions keep a compiler from fusing a product and a sum.
	x := float64(F(F(v*up) * down))
	x += round
	return I(*(*int64)(unsafe.Pointer(&x)) - roundBits)
}

// toFloat is the value of n, where up and down are 10^f and 10^-e.
func toFloat[F Float, I Int](n I, up, down F) F { return F(F(F(n)*up) * down) }

// same reports whether a and b have the same bits. Neither -0.0 and 0.0 do, nor
// any result of toFloat and NaN.
func same[F Float](a, b F) bool {
	if unsafe.Sizeof(a) == 4 {
		return *(*uint32)(unsafe.Pointer(&a)) == *(*uint32)(unsafe.Pointer(&b))
	}
	return *(*uint64)(unsafe.Pointer(&a)) == *(*uint64)(unsafe.Pointer(&b))
}

// Encode sets ints[i] to the integer of src[i] and appends to exc the positions
// of exceptions, ascending. Their slots hold the integer of a neighbour, which
// costs little to pack. ints and src have the same length; p must be valid (see
// [Valid]).
func Encode[F Float, I Int](ints []I, src []F, p Params, exc []uint32) []uint32 {
	up, down := scales[F](p.E, p.F)
	backUp, backDown := scales[F](p.F, p.E)
	ints = ints[:len(src)]
	first := len(exc)
	for i, v := range src {
		n := toInt[F, I](v, up, down)
		ints[i] = n
		if !same(v, toFloat(n, backUp, backDown)) {
			exc = append(exc, uint32(i))
		}
	}
	fillExceptions(ints, exc[first:])
	return exc
}

// fillExceptions replaces the integers at exceptions by the one before, and
// those at the start by the first after them.
func fillExceptions[I Int](ints []I, exc []uint32) {
	lead := 0
	for lead < len(exc) && int(exc[lead]) == lead {
		lead++
	}
	var n I
	if lead < len(ints) {
		n = ints[lead]
	}
	for i := range lead {
		ints[i] = n
	}
	for _, at := range exc[lead:] {
		ints[at] = ints[at-1]
	}
}

// Decode sets dst[i] to the value of ints[i]. Both have the same length; p must
// be valid (see [Valid]). Exceptions are then for the caller to put in place.
func Decode[F Float, I Int](dst []F, ints []I, p Params) {
	up, down := scales[F](p.F, p.E)
	ints = ints[:len(dst)]
	for i := range dst {
		dst[i] = toFloat(ints[i], up, down)
	}
}
