package filter

import (
	"unicode"
	"unicode/utf8"
)

// appendFolded appends s with every character replaced by the least of those
// that differ from it in case only, by Unicode's simple case folding: "ſtraße"
// and "STRAßE" become "STRAßE". Bytes that are no UTF-8 stay.
func appendFolded(dst, s []byte) []byte {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			dst = append(dst, upper[c])
			i++
			continue
		}
		r, n := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError && n == 1 {
			dst = append(dst, s[i])
		} else {
			dst = utf8.AppendRune(dst, folded1(r))
		}
		i += n
	}
	return dst
}

// upper folds ASCII, of whose letters the upper-case ones are the least.
var upper = func() (t [utf8.RuneSelf]byte) {
	for c := range t {
		t[c] = byte(c)
		if 'a' <= c && c <= 'z' {
			t[c] = byte(c) - 'a' + 'A'
		}
	}
	return t
}()

// folded1 is the least character that differs from r in case only.
func folded1(r rune) rune {
	least := r
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		least = min(least, c)
	}
	return least
}
