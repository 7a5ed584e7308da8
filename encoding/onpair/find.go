package onpair

import "bytes"

// Cover sets a byte of dst for each token: 1 if it can hold the byte at a place of a needle, and those around it, and 0 otherwise. A
// string that contains the needle has the code of such a token.
func (d *Decoder) Cover(dst []byte, needle []byte, place int) {
	for c := range d.lengths {
		dst[c] = 0
		token := d.tokens[c][:d.lengths[c]]
		for k, b := range token {
			if b == needle[place] && overlaps(token, needle, k-place) {
				dst[c] = 1
				break
			}
		}
	}
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
