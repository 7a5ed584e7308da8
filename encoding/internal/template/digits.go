package template

import "unsafe"

// Digits are packed eighteen to a word of 64 bits: six groups of 10 bits, from
// the lowest, each a number of three digits; the highest four bits are 0.

// WordDigits is the digits of a word.
const WordDigits = 18

const (
	groupDigits = 3
	groupBits   = 10
	groupMask   = 1<<groupBits - 1
)

// groups is the three digits of a number, the first in the lowest byte. The
// highest bit marks those that are not below 1000.
var groups = func() (t [1 << groupBits]uint32) {
	for i := range t {
		t[i] = uint32('0'+i/100) | uint32('0'+i/10%10)<<8 | uint32('0'+i%10)<<16
		if i >= 1000 {
			t[i] |= 1 << 31
		}
	}
	return t
}()

// WordsLen is the bytes of the words for so many digits.
func WordsLen(digits uint64) uint64 { return (digits + WordDigits - 1) / WordDigits * 8 }

// AppendWords appends digits as words. The last one is filled up with zeros.
func AppendWords(dst, digits []byte) []byte {
	for len(digits) >= WordDigits {
		b := (*[WordDigits]byte)(digits)
		dst = le.AppendUint64(dst, group(b[0], b[1], b[2])|group(b[3], b[4], b[5])<<10|group(b[6], b[7], b[8])<<20|
			group(b[9], b[10], b[11])<<30|group(b[12], b[13], b[14])<<40|group(b[15], b[16], b[17])<<50)
		digits = digits[WordDigits:]
	}
	if len(digits) == 0 {
		return dst
	}
	last := [WordDigits]byte{}
	for i := copy(last[:], digits); i < len(last); i++ {
		last[i] = '0'
	}
	return AppendWords(dst, last[:])
}

func group(a, b, c byte) uint64 {
	return uint64(uint32(a)*100 + uint32(b)*10 + uint32(c) - '0'*111)
}

// AllDigits reports whether all bytes are ASCII digits.
func AllDigits(b []byte) bool {
	all := uint64(highs)
	for ; len(b) >= 8; b = b[8:] {
		all &= digitsOf(le.Uint64(b) ^ '0'*ones)
	}
	for _, c := range b {
		if c-'0' >= 10 {
			return false
		}
	}
	return all == highs
}

// UnpackWords writes the digits of all words to dst, WordDigits each, and tells
// whether the words are good.
func UnpackWords(dst, words []byte) (ok bool) {
	const mark = 1<<31 | 1<<55
	var marks, high uint64
	n := len(words) / 8
	_ = dst[:n*WordDigits]
	to, from := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(words))
	g := &groups
	for i := range n {
		d, w := (*[WordDigits]byte)(unsafe.Add(to, i*WordDigits)), le.Uint64((*[8]byte)(unsafe.Add(from, 8*i))[:])
		high |= w
		a := uint64(g[w&groupMask]) | uint64(g[w>>10&groupMask])<<24
		b := uint64(g[w>>20&groupMask]) | uint64(g[w>>30&groupMask])<<24
		c := uint64(g[w>>40&groupMask]) | uint64(g[w>>50&groupMask])<<24
		marks |= a | b | c
		le.PutUint64(d[:], a|b<<48)
		le.PutUint64(d[8:], b>>16|c<<32)
		le.PutUint16(d[16:], uint16(c>>32))
	}
	return marks&mark == 0 && high>>60 == 0
}
