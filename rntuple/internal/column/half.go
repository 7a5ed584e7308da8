package column

import "math"

// halfOverflow is the least number that rounds to infinity as a half.
const halfOverflow = 65520

// fromHalf gives the bits of the float that equals a half.
func fromHalf(h uint16) uint32 {
	bits := uint32(h&0x7FFF) << 13
	if h&0x7C00 == 0x7C00 { // infinite, or not a number
		bits |= 0x7F80_0000
	} else { // the exponents of halves count from 15, those of floats from 127
		bits = math.Float32bits(math.Float32frombits(bits) * 0x1p112)
	}
	return bits | uint32(h&0x8000)<<16
}

// toHalf gives the half nearest to a float, the even one of two. What is not a number stays so.
func toHalf(bits uint32) uint16 {
	sign := uint16(bits>>16) & 0x8000
	bits &= 0x7FFF_FFFF
	f := math.Float32frombits(bits)
	switch {
	case f != f:
		return sign | 0x7E00 | uint16(bits>>13)&0x3FF
	case f >= halfOverflow:
		return sign | 0x7C00
	case f < 0x1p-14: // no normal half: the sum has its bits at the end
		return sign | uint16(math.Float32bits(f+0.5)-math.Float32bits(0.5))
	}
	bits += 0xFFF + bits>>13&1 // rounds when the lower bits are cut
	return sign | uint16((bits-112<<23)>>13)
}
