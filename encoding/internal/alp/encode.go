package alp

import (
	"unsafe"
)

// Pointer casts convert floats to bits here. The functions of package math are calls if generic functions are
// instantiated by packages that do not import it.

// Adding round (2^52 + 2^51) to a value below 2^51 rounds it to an integer, which is then in the low bits of the sum.
// Larger values give arbitrary integers, and are therefore found to be exceptions.
const (
	round     = 1<<52 + 1<<51
	roundBits = 0x4338000000000000
)

// toInt returns round(v * 10^e * 10^-f), where up and down are those powers.
func toInt[F Float, I Int](v, up, down F) I {
	// The conversions prevent the compiler from fusing a product and a sum.
	x := float64(F(F(v*up) * down))
	x += round
	return I(*(*int64)(unsafe.Pointer(&x)) - roundBits)
}

// toFloat returns the value of n, where up and down are 10^f and 10^-e.
func toFloat[F Float, I Int](n I, up, down F) F { return F(F(F(n)*up) * down) }

// same reports whether a and b have the same bits. -0.0 and 0.0 do not, nor do NaN and any result of toFloat.
func same[F Float](a, b F) bool {
	if unsafe.Sizeof(a) == 4 {
		return *(*uint32)(unsafe.Pointer(&a)) == *(*uint32)(unsafe.Pointer(&b))
	}
	return *(*uint64)(unsafe.Pointer(&a)) == *(*uint64)(unsafe.Pointer(&b))
}

// Encode sets ints[i] to the integer of src[i], and appends the positions of exceptions to exc, in ascending order.
// The integers at exceptions are those of a neighbour, which take little space when packed. ints and src have the
// same length. p must be valid (see [Valid]).
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

// fillExceptions replaces the integers at exceptions by the preceding integer. Those at the start get the first one
// that is not an exception.
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

// Decode sets dst[i] to the value of ints[i]. Both have the same length. p must be valid (see [Valid]). The caller
// then writes the exceptions.
func Decode[F Float, I Int](dst []F, ints []I, p Params) {
	up, down := scales[F](p.F, p.E)
	ints = ints[:len(dst)]
	for i := range dst {
		dst[i] = toFloat(ints[i], up, down)
	}
}
