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

// Bounds are those of the frequencies and lengths of a term's rows, so that no row has a higher score than one of three: of frequency 1 and the first
// length, of 2 and the second, and of the greatest frequency and the third.
type Bounds struct {
	Frequency uint8    // the greatest
	Lengths   [3]uint8 // the least codes of the rows with a frequency of at least 1, 2 and 3; 255 if there are none
}

// NoRows are the bounds of no rows.
var NoRows = Bounds{Lengths: [3]uint8{255, 255, 255}}

// Add adds a row.
func (b *Bounds) Add(frequency, length uint8) {
	b.Frequency = max(b.Frequency, frequency)
	for i := range min(int(frequency), len(b.Lengths)) {
		b.Lengths[i] = min(b.Lengths[i], length)
	}
}
