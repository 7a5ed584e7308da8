package text

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable escapes the characters of s that are not letters, marks, numbers, punctuation,
// symbols or the space, as Go does in quoted strings: controls, and the invisible
// characters that set the direction of text. Joiners stay where they shape what they join: in
// emoji, and within words of scripts that need them. Bytes that are not UTF-8 become U+FFFD.
func Printable(s string) string {
	if printable(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		if unicode.IsPrint(r) || shapes(s, i, r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError })
}

const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
	blackFlag = '\U0001f3f4'
	endOfTag  = '\U000e007f'
)

// shapes reports whether the invisible character r at s[i] is a joiner between two characters that it shapes, or part
// of a flag such as that of Scotland.
func shapes(s string, i int, r rune) bool {
	switch {
	case r == joiner || r == nonJoiner:
		after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		before := baseBefore(s[:i])
		if unicode.In(before, joining...) && unicode.In(after, joining...) {
			return true
		}
		return r == joiner && isEmoji(before) && isEmoji(after)
	case r > 0xe0020 && r <= endOfTag:
		flag := strings.LastIndex(s[:i], string(blackFlag))
		return flag >= 0 && i < flag+len(string(blackFlag))+tagLen(s[flag+len(string(blackFlag)):])
	}
	return false
}

// baseBefore is the last character of s without the marks that are common to all scripts: variation selectors, colours
// of skin, and vowels.
func baseBefore(s string) rune {
	for {
		r, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
		isMark := unicode.In(r, unicode.Inherited, unicode.Sk) && r != joiner && r != nonJoiner
		if s == "" || !isMark {
			return r
		}
	}
}

// tagLen is the number of bytes of the tag at the beginning of s: up to six characters and their end, or 0.
func tagLen(s string) int {
	n := 0
	for i, r := range s {
		if r == endOfTag && n > 0 {
			return i + utf8.RuneLen(r)
		}
		if n++; n > 6 || r <= 0xe0020 || r >= endOfTag {
			break
		}
	}
	return 0
}

// isEmoji reports whether a character may be joined to another one in an emoji.
func isEmoji(r rune) bool {
	return r >= 0x1f300 && r <= 0x1faff || r >= 0x2190 && r <= 0x2bff && unicode.Is(unicode.So, r) || r >= 0x2190 && r <= 0x21ff
}

// joining are the scripts whose words have joiners in them.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mandaic, unicode.Mongolian, unicode.Adlam, unicode.Hanifi_Rohingya,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
	unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

// OneLine joins the lines of a text, for errors of several lines.
func OneLine(s string) string {
	lines := strings.FieldsFunc(strings.TrimSpace(s), func(r rune) bool { return r == '\n' || r == '\r' })
	return Printable(strings.Join(lines, "; "))
}
