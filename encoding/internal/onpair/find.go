package onpair

import (
	"bytes"
	"encoding/binary"
)

var le = binary.LittleEndian

// Marks has a byte for each code.
type Marks [1 << 16]byte

// Cover sets the marks of all tokens: 1 for those that can hold the byte at a place of a needle, and those around it, and 0
// for others. A string that contains the needle has the code of such a token.
func (d *Decoder) Cover(marks *Marks, needle []byte, place int) {
	const each = 0x0101_0101_0101_0101
	sought := uint64(needle[place]) * each
	for c := range d.lengths {
		marks[c] = 0
		low, high := le.Uint64(d.tokens[c][:8])^sought, le.Uint64(d.tokens[c][8:])^sought
		if ((low-each)&^low|(high-each)&^high)&(each<<7) == 0 {
			continue // no byte is the one that is sought
		}
		token := d.tokens[c][:d.lengths[c]]
		for k, b := range token {
			if b == needle[place] && overlaps(token, needle, k-place) {
				marks[c] = 1
				break
			}
		}
	}
}

// Begin sets the marks of all tokens: 1 for those with which strings can begin that begin with some bytes, or are these if whole.
func (d *Decoder) Begin(marks *Marks, with []byte, whole bool) {
	for c, length := range d.lengths {
		marks[c] = 0
		n := min(int(length), len(with))
		if string(d.tokens[c][:n]) == string(with[:n]) && (n == int(length) || !whole) {
			marks[c] = 1
		}
	}
}

// Next is the first code from a place on that has a mark, len(codes) if there is none.
func (m *Marks) Next(codes []uint16, from int) int {
	for ; from+8 <= len(codes); from += 8 {
		c := (*[8]uint16)(codes[from:])
		if m[c[0]]|m[c[1]]|m[c[2]]|m[c[3]]|m[c[4]]|m[c[5]]|m[c[6]]|m[c[7]] != 0 {
			break
		}
	}
	for ; from < len(codes) && m[codes[from]] == 0; from++ {
	}
	return from
}

// Begins reports whether a string of codes begins with some bytes, or is these if whole.
func (d *Decoder) Begins(codes []uint16, with []byte, whole bool) bool {
	return d.beginsWith(codes, with) && (!whole || d.Len(codes) == len(with))
}

// overlaps reports whether a token and a needle, which begins at some place of the token, agree where both are. The place may be
// negative.
func overlaps(token, needle []byte, at int) bool {
	if at < 0 {
		needle, at = needle[-at:], 0
	}
	token = token[at:]
	n := min(len(token), len(needle))
	return bytes.Equal(token[:n], needle[:n])
}

// Contains reports whether a string of codes contains the needle such that the token of codes[i] holds the byte at a place of it.
func (d *Decoder) Contains(codes []uint16, i int, needle []byte, place int) bool {
	token := d.tokens[codes[i]][:d.lengths[codes[i]]]
	for k, b := range token {
		if b == needle[place] && overlaps(token, needle, k-place) &&
			d.endsWith(codes[:i], needle[:max(place-k, 0)]) && d.beginsWith(codes[i+1:], needle[min(place-k+len(token), len(needle)):]) {
			return true
		}
	}
	return false
}

// beginsWith reports whether a string of codes begins with some bytes.
func (d *Decoder) beginsWith(codes []uint16, with []byte) bool {
	for _, c := range codes {
		if len(with) == 0 {
			return true
		}
		n := min(int(d.lengths[c]), len(with))
		if string(d.tokens[c][:n]) != string(with[:n]) {
			return false
		}
		with = with[n:]
	}
	return len(with) == 0
}

// endsWith reports whether a string of codes ends with some bytes.
func (d *Decoder) endsWith(codes []uint16, with []byte) bool {
	for i := len(codes) - 1; i >= 0 && len(with) > 0; i-- {
		token := d.tokens[codes[i]][:d.lengths[codes[i]]]
		n := min(len(token), len(with))
		if string(token[len(token)-n:]) != string(with[len(with)-n:]) {
			return false
		}
		with = with[:len(with)-n]
	}
	return len(with) == 0
}
