// Package analysis divides texts into the terms of a term index, and compares terms (docs/format.md §15.1).
//
// A tokenizer names the parts of a text that are terms. A collation says which terms are equal, and which comes first. Both are
// part of an index, by name, so that whoever asks it takes a question apart in the same way.
package analysis

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"
)

// MaxTermLen is the most bytes of a term. A longer one is cut after its last whole character within this length.
const MaxTermLen = 128

// Span is the place of a term in a text: its first byte, and the byte behind its last.
type Span struct{ From, To uint32 }

// Tokenizer is a way to find the terms of a text.
type Tokenizer uint8

// The tokenizers.
const (
	// Word finds words: runs of letters and digits of any script.
	Word Tokenizer = iota
	// Log finds IPv4 addresses, and words, those of the addresses too.
	Log
	// Trivial takes the whole text for one term. An empty text has none.
	Trivial
	// Folded finds words without marks and widths: "Zürich" is "Zurich", and "ﬁ" is "fi". Of Han, Kana and Hangul it finds pairs of characters.
	Folded
	// English and German find the stems of such words, as Snowball does.
	English
	German
)

// tokenizers are their names in an index.
var tokenizers = [...]string{Word: "unicode-word", Log: "unicode-log", Trivial: "trivial", Folded: "unicode-folded", English: "english", German: "german"}

// String is the name of the tokenizer in an index.
func (t Tokenizer) String() string { return tokenizers[t] }

// TokenizerByName returns the tokenizer of a name; ok is false if there is none.
func TokenizerByName(name string) (t Tokenizer, ok bool) {
	i := slices.Index(tokenizers[:], name)
	return Tokenizer(max(i, 0)), i >= 0
}

// AppendWords appends the places of all words of a text to dst, the terms of [Word] before they are cut.
func AppendWords(dst []Span, text []byte) []Span { return appendWords(dst, text, len(text)) }

// IsWord reports whether a text is a single word.
func IsWord(text []byte) bool {
	words := AppendWords(nil, text)
	return len(words) == 1 && int(words[0].To-words[0].From) == len(text)
}

// cut is the end of a term of up to size bytes that would end at to.
func cut(text []byte, from, to, size int) uint32 {
	if to-from <= size {
		return uint32(to)
	}
	most := from + size
	for to = most; to > most-utf8.UTFMax; to-- {
		if utf8.RuneStart(text[to]) {
			return uint32(to)
		}
	}
	return uint32(most) // not UTF-8
}

// Classes of bytes.
const (
	separator = iota
	alphanumeric
	more // of a character of several bytes
)

var classes = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= utf8.RuneSelf:
			t[c] = more
		case 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9':
			t[c] = alphanumeric
		}
	}
	return t
}()

func appendWords(dst []Span, text []byte, size int) []Span {
	for i := 0; i < len(text); {
		c := classes[text[i]]
		if c == separator {
			i++
			continue
		}
		from := i
		for i < len(text) && classes[text[i]] == alphanumeric {
			i++
		}
		if i < len(text) && text[i] >= utf8.RuneSelf {
			i = endOfWord(text, i)
		}
		if i == from { // a character that is no part of a word
			_, n := utf8.DecodeRune(text[i:])
			i += n
			continue
		}
		dst = append(dst, Span{uint32(from), cut(text, from, i, size)})
	}
	return dst
}

// endOfWord is the end of a word that goes on at i if there is a letter or digit.
func endOfWord(text []byte, i int) int {
	for i < len(text) {
		r, n := utf8.DecodeRune(text[i:])
		if !IsWordRune(r) {
			break
		}
		i += n
	}
	return i
}

// IsWordRune reports whether a character belongs to words: if it is alphabetic, or a number, as Unicode says.
func IsWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 0 && classes[r] == alphanumeric
	}
	return unicode.IsLetter(r) || unicode.In(r, unicode.Nd, unicode.Nl, unicode.No, unicode.Other_Alphabetic)
}

// appendAddresses finds IPv4 addresses: four numbers up to 255, of up to three digits, with neither a letter nor a digit of ASCII
// before and behind.
func appendAddresses(dst []Span, text []byte) []Span {
	for at := 0; ; {
		dot := bytes.IndexByte(text[at:], '.')
		if dot < 0 {
			return dst
		}
		dot += at
		at = dot + 1
		from := dot
		for from > 0 && isDigit(text[from-1]) {
			from--
		}
		if from > 0 && classes[text[from-1]] == alphanumeric {
			continue
		}
		if to, ok := address(text, from); ok {
			dst = append(dst, Span{uint32(from), uint32(to)})
		}
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// address is the end of the address that begins at i.
func address(text []byte, i int) (to int, ok bool) {
	for octet := range 4 {
		if octet > 0 {
			if i == len(text) || text[i] != '.' {
				return 0, false
			}
			i++
		}
		from, n := i, 0
		for i < len(text) && isDigit(text[i]) {
			if i-from == 3 {
				return 0, false
			}
			n = 10*n + int(text[i]-'0')
			i++
		}
		if i == from || n > 255 {
			return 0, false
		}
	}
	return i, i == len(text) || classes[text[i]] != alphanumeric
}

// InsideWord reports whether a word goes on from the byte before at to that at at.
func InsideWord(value []byte, at int) bool {
	before, n := utf8.DecodeLastRune(value[:at])
	after, m := utf8.DecodeRune(value[at:])
	return n > 0 && m > 0 && IsWordRune(before) && IsWordRune(after)
}
