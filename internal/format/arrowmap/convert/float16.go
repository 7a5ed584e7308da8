package convert

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// binary16  sign 1, exponent 5 (bias 15), fraction 10
// binary32  sign 1, exponent 8 (bias 127), fraction 23
//
// Every binary16 is a binary32: normal numbers and subnormal ones as normal
// numbers of equal value, infinities as infinities, and NaNs, quiet or
// signalling, with their fraction in the upper bits of the wider one. All of
// it is done on the bits, because arithmetic would turn signalling NaNs quiet.

// FromFloat16 widens binary16 values. All of them fit.
func FromFloat16(dst []float32, src []uint16) {
	dst = dst[:len(src)]
	for i, h := range src {
		dst[i] = math.Float32frombits(widen(h))
	}
}

func widen(h uint16) uint32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&0x3FF)
	switch {
	case exponent == 31:
		return sign | 0xFF<<23 | fraction<<13
	case exponent != 0:
		return sign | (exponent+127-15)<<23 | fraction<<13
	case fraction == 0:
		return sign
	}
	// fraction * 2^-24: move its first bit to where normal numbers imply it.
	n := uint32(bits.Len32(fraction)) // 1..10
	return sign | (n+127-25)<<23 | fraction<<(24-n)&0x7FFFFF
}

// ToFloat16 is the inverse of [FromFloat16]: an error for a value that no binary16 has.
func ToFloat16(dst []uint16, src []float32, valid bitmap.Bits) error {
	dst = dst[:len(src)]
	for i, f := range src {
		b := math.Float32bits(f)
		h := narrow(b)
		if widen(h) != b {
			if valid.At(i) {
				return &RowError{Row: i, Value: fmt.Sprintf("number %v", f), Reason: "is not a float16"}
			}
			h = 0
		}
		dst[i] = h
	}
	return nil
}

// narrow is correct for widened values only.
func narrow(b uint32) uint16 {
	sign, exponent, fraction := uint16(b>>31)<<15, int(b>>23&0xFF), b&0x7FFFFF
	switch {
	case exponent == 0xFF:
		return sign | 31<<10 | uint16(fraction>>13)
	case exponent > 127-15 && exponent < 127+16:
		return sign | uint16(exponent-127+15)<<10 | uint16(fraction>>13)
	case exponent >= 127-24 && exponent <= 127-15:
		return sign | uint16((fraction|1<<23)>>(127-1-exponent))
	}
	return sign
}
