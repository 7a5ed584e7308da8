package pattern

import (
	"encoding/binary"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/amudai/amudai-go/internal/base/ascii"
)

// appendFolded appends s with every character replaced by the least character that differs from it only in case, by
// Unicode's simple case folding: "ſtraße" and "STRAßE" both become "STRAßE". Bytes that are not UTF-8 stay. The text never
// becomes longer, because a lesser character takes no more bytes.
func appendFolded(dst, s []byte) []byte {
	dst = slices.Grow(dst, len(s))
	out, n := dst[len(dst):cap(dst)], 0
	for i := 0; i < len(s); {
		if len(s)-i >= 8 {
			if w := binary.LittleEndian.Uint64(s[i:]); ascii.Only8(w) {
				binary.LittleEndian.PutUint64(out[n:], ascii.Upper8(w))
				i, n = i+8, n+8
				continue
			}
		}
		if c := s[i]; c < utf8.RuneSelf {
			out[n] = upper[c]
			i, n = i+1, n+1
			continue
		}
		r, k := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError && k == 1 {
			out[n] = s[i]
			n++
		} else {
			n += utf8.EncodeRune(out[n:], foldRune(r))
		}
		i += k
	}
	return dst[:len(dst)+n]
}

// upper folds ASCII. Upper-case letters come before lower-case ones.
var upper = func() (t [utf8.RuneSelf]byte) {
	for c := range t {
		t[c] = byte(c)
		if 'a' <= c && c <= 'z' {
			t[c] = byte(c) - 'a' + 'A'
		}
	}
	return t
}()

// foldRune is the least character that differs from r only in case.
func foldRune(r rune) rune {
	least := r
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		least = min(least, c)
	}
	return least
}
