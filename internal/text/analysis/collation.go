package analysis

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amudai/amudai-go/internal/base/ascii"
)

// Collation is an order of terms.
type Collation uint8

// The collations.
const (
	// CaseInsensitive compares terms character by character in upper case: "Straße" and "STRASSE" differ, "a" and "A" do not.
	CaseInsensitive Collation = iota
	// CasePreserving does so, too, and compares the characters as they are if there is no difference.
	CasePreserving
)

// collations are their names in an index.
var collations = [...]string{CaseInsensitive: "unicode-case-insensitive", CasePreserving: "unicode-case-preserving"}

// String is the name of the collation in an index.
func (c Collation) String() string { return collations[c] }

// CollationByName returns the collation of a name, in which case does not matter; ok is false if there is none.
func CollationByName(name string) (c Collation, ok bool) {
	i := slices.IndexFunc(collations[:], func(s string) bool { return strings.EqualFold(s, name) })
	return Collation(max(i, 0)), i >= 0
}

// Compare is negative if term a comes before b, positive if b comes first, and 0 if they are equal.
func (c Collation) Compare(a, b []byte) int {
	x, y := a, b
	for len(x) > 0 && len(y) > 0 {
		r, n := utf8.DecodeRune(x)
		s, m := utf8.DecodeRune(y)
		if r != s {
			if r, s = Upper(r), Upper(s); r != s {
				return int(r) - int(s)
			}
		}
		x, y = x[n:], y[m:]
	}
	if d := len(x) - len(y); d != 0 || c == CaseInsensitive {
		return d
	}
	return bytes.Compare(a, b) // the order of code points is that of their UTF-8
}

// HasPrefix reports whether a term begins with a prefix.
func (c Collation) HasPrefix(term, prefix []byte) bool {
	if c == CasePreserving {
		return bytes.HasPrefix(term, prefix)
	}
	for len(prefix) > 0 {
		if len(term) == 0 {
			return false
		}
		r, n := utf8.DecodeRune(term)
		s, m := utf8.DecodeRune(prefix)
		if r != s && Upper(r) != Upper(s) {
			return false
		}
		term, prefix = term[n:], prefix[m:]
	}
	return true
}

// Upper is a character in upper case, if that is one character and not a ligature of Greek vowels with iota, which the reference
// leaves as they are.
func Upper(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	case r == 'ß':
		return 'ẞ'
	case 0x1f80 <= r && r <= 0x1ff3 && withIota(r):
		return r
	}
	return unicode.ToUpper(r)
}

// withIota reports whether r is a lower-case Greek vowel with iota that has an upper-case form of one character.
func withIota(r rune) bool {
	switch {
	case r <= 0x1fa7:
		return r&8 == 0
	case r == 0x1fb3, r == 0x1fc3, r == 0x1ff3:
		return true
	}
	return false
}

// AppendUpper appends a text in upper case to dst. Bytes that are not UTF-8 stay as they are.
func AppendUpper(dst, text []byte) []byte {
	dst = slices.Grow(dst, len(text))
	for len(text) >= 8 {
		w := binary.LittleEndian.Uint64(text)
		if !ascii.Only8(w) {
			break
		}
		dst, text = binary.LittleEndian.AppendUint64(dst, ascii.Upper8(w)), text[8:]
	}
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r == utf8.RuneError && n == 1 {
			dst = append(dst, text[0])
		} else {
			dst = utf8.AppendRune(dst, Upper(r))
		}
		text = text[n:]
	}
	return dst
}
