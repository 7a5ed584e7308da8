package learn

import (
	"encoding/binary"
	"math/bits"

	"github.com/amudai/amudai-go/encoding/internal/fields"
)

// Eight bytes of a text at a time, the first in the lowest byte of a word. A mask has the high bit of each byte that it is about.

const (
	eachByte = 0x0101010101010101
	highBits = 0x80 * eachByte
	ascii    = '0' * eachByte
)

// load is the eight bytes of data from a place on; those behind its end are 0.
func load(data []byte, at uint32) uint64 {
	if int(at)+8 <= len(data) {
		return binary.LittleEndian.Uint64(data[at:])
	}
	var b [8]byte
	copy(b[:], data[min(int(at), len(data)):])
	return binary.LittleEndian.Uint64(b[:])
}

// between is the mask of the bytes of a word from least to most, both below 0x80.
func between(w, least, most uint64) uint64 {
	low := w &^ highBits
	return (low + (0x80-least)*eachByte) &^ (low + (0x7f-most)*eachByte) &^ w & highBits
}

// alnums is the mask of the bytes that are in words of letters and digits.
func alnums(w uint64) uint64 {
	return between(w, '0', '9') | between(w|0x20*eachByte, 'a', 'z') | w&highBits
}

// firstBytes has all bits of the first n bytes of a word, n at most 8.
func firstBytes(n int) uint64 { return 1<<(8*n) - 1 }

// decimal8 is the number of n decimal digits, 1 to 8, which a word begins with; ok is false if these are others.
func decimal8(w uint64, n int) (x uint64, ok bool) {
	w = w<<(64-8*n) | ascii&firstBytes(8-n)
	w ^= ascii
	if (w+0x76*eachByte|w)&highBits != 0 {
		return 0, false
	}
	return joinDigits(w), true
}

// digitsOf is the number of n decimal digits, 1 to 8, which a word begins with.
func digitsOf(w uint64, n int) uint64 { return joinDigits(w << (64 - 8*n) & (0x0f * eachByte)) }

// joinDigits is the number of the eight digits in the bytes of a word.
func joinDigits(w uint64) uint64 {
	w = w * (10<<8 + 1) >> 8 & 0x00ff00ff00ff00ff
	w = w * (100<<16 + 1) >> 16 & 0x0000ffff0000ffff
	return w * (10000<<32 + 1) >> 32
}

// decimal is the number of the digits in a field, of MaxDigits at most; ok is false if there are others, or none.
func decimal(data []byte, s span) (x uint64, ok bool) {
	for at := s.from; at < s.to; {
		n := min(int(s.to-at), 8)
		d, digits := decimal8(load(data, at), n)
		if !digits {
			return 0, false
		}
		x = x*fields.Power(n) + d
		at += uint32(n)
	}
	return x, s.from < s.to
}

// hexOf is the number of the n hexadecimal digits, 1 to 8, that a word begins with.
func hexOf(w uint64, n int) uint64 {
	w = bits.ReverseBytes64(w << (64 - 8*n)) // the last digit is lowest
	w = w&(0x0f*eachByte) + w>>6&eachByte*9
	w &= firstBytes(n)
	w = (w | w>>4) & 0x00ff00ff00ff00ff
	w = (w | w>>8) & 0x0000ffff0000ffff
	return (w | w>>16) & 0xffffffff
}
