package searchtest

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// inWord reports whether a character belongs to words (docs/format.md §15.1). U+FFFD, which stands for bytes that are not UTF-8, does not.
func inWord(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Lm, unicode.Lo, unicode.Nd, unicode.Nl, unicode.No, unicode.Other_Alphabetic)
}

// Words are the longest runs of letters and digits in a text.
func Words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !inWord(r) })
}

// maxTerm is the most bytes of a term.
const maxTerm = 128

// number is a number of an address.
const number = `(?:25[0-5]|2[0-4][0-9]|[01]?[0-9]{1,2})`

var address = regexp.MustCompile(`^(` + number + `(?:\.` + number + `){3})(?:[^0-9A-Za-z]|$)`)

// Addresses are the IPv4 addresses in a text, those that overlap too.
func Addresses(text string) (out []string) {
	for i := range len(text) {
		if i > 0 && regexp.MustCompile(`[0-9A-Za-z]`).MatchString(text[i-1:i]) {
			continue
		}
		if m := address.FindStringSubmatch(text[i:]); m != nil {
			out = append(out, m[1])
		}
	}
	return out
}

// Upper is a text in upper case, as collations and filters about words see it. Bytes that are not UTF-8 stay.
func Upper(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError:
			b.WriteString(text[i : i+n])
		case r == 'ß':
			b.WriteRune('ẞ')
		case strings.ContainsRune("ᾀᾁᾂᾃᾄᾅᾆᾇᾐᾑᾒᾓᾔᾕᾖᾗᾠᾡᾢᾣᾤᾥᾦᾧᾳῃῳ", r):
			b.WriteRune(r)
		default:
			b.WriteRune(unicode.ToUpper(r))
		}
		i += n
	}
	return b.String()
}
