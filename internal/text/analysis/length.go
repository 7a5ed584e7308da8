package analysis

import "math/bits"

// MaxFrequency is the most times that a term counts in a row.
const MaxFrequency = 255

// A length code is the number of terms in a row: exact below 32, and else with five significant bits, as a logarithm with steps of a sixteenth. The greatest
// code is that of 507,904 terms and more.
const exactLengths = 32

// LengthCode is the code of a number of terms.
func LengthCode(terms int) uint8 {
	if terms < exactLengths {
		return uint8(max(terms, 0))
	}
	e := bits.Len(uint(terms)) - 1
	return uint8(min(exactLengths+(e-5)*16+(terms>>(e-4)&15), 255))
}

// Length is the least number of terms of a code.
func Length(code uint8) int {
	if code < exactLengths {
		return int(code)
	}
	e := int(code-exactLengths) / 16
	return (16 + int(code-exactLengths)%16) << (e + 1)
}
