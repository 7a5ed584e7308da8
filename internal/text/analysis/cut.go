package analysis

import "unicode/utf8"

// leastCut is the least length of a term that was cut, before it was put in upper case.
const leastCut = MaxTermLen - utf8.UTFMax + 1

// MayBeCut reports whether a term may be the beginning of a longer word: whether the longest text of which it is the upper case is.
func MayBeCut(c Collation, term []byte) bool {
	n := len(term)
	if c == CasePreserving || 2*n < leastCut {
		return n >= leastCut
	}
	for _, b := range term {
		// Those of "ı" and "ſ" are "I" and "S". Of other characters, only some of two bytes are the upper case of one of three.
		if b == 'I' || b == 'S' || b&0xe0 == 0xc0 {
			n++
		}
	}
	return n >= leastCut
}
