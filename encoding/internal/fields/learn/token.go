package learn

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// A value is cut into tokens: delimiters, and a word of other bytes. What is behind a quotation mark that is closed is one
// word.
type token struct {
	start, word, end uint32 // delimiters, then the word
	class            class
}

// class is the kind of a token's word.
type class uint8

const (
	letters class = iota // no digit
	digits               // nothing else
	mixed
	end // no word: the end of the value
	numClasses
)

// grammar tells words from delimiters.
type grammar struct {
	bytes  [256]byte // kinds of bytes
	quotes bool
}

// The kinds of bytes, as bits.
const (
	letter    = 1
	digit     = 2
	symbol    = 4 // in a word
	delimiter = 8
)

// phrases cuts lines into words; words are cut into runs of letters and digits.
var phrases, words = newGrammar(" \t,;|()[]{}<>\"", true), newGrammar("", false)

func newGrammar(delimiters string, quotes bool) *grammar {
	g := &grammar{quotes: quotes}
	for b := range g.bytes {
		switch {
		case b >= '0' && b <= '9':
			g.bytes[b] = digit
		case b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80:
			g.bytes[b] = letter
		case delimiters == "" || strings.IndexByte(delimiters, byte(b)) >= 0:
			g.bytes[b] = delimiter
		default:
			g.bytes[b] = symbol
		}
	}
	return g
}

func alnum(b byte) bool { return words.bytes[b] != delimiter }

// next is the token of v from a place on, and the shape of its word.
func (g *grammar) next(v []byte, at uint32) (t token, shape uint64) {
	i := at
	for int(i) < len(v) && g.bytes[v[i]] == delimiter {
		i++
	}
	t = token{start: at, word: i, end: i, class: end}
	if int(i) < len(v) {
		t.end, t.class, shape = g.word(v, i, g.quoted(v, at, i))
	}
	return t, shape
}

// quoted tells whether the word at a place, behind delimiters that begin at start, may be between quotation marks.
func (g *grammar) quoted(v []byte, start, at uint32) bool {
	return g.quotes && at > start && v[at-1] == '"'
}

// word is the end, the class and the shape of a word: a hash of its bytes that are neither letters nor digits, without the sign of numbers.
func (g *grammar) word(v []byte, at uint32, quoted bool) (end uint32, c class, shape uint64) {
	stop := uint32(len(v))
	kinds := &g.bytes
	if quoted {
		if n := bytes.IndexByte(v[at:], '"'); n > 0 {
			stop, kinds = at+uint32(n), &inQuotes.bytes
		}
	}
	seen, before := byte(0), byte(symbol)
	for end = at; end < stop; end++ {
		b := v[end]
		k := kinds[b]
		if k >= symbol {
			if k == delimiter {
				break
			}
			if b != '-' || before != symbol {
				shape = (shape ^ uint64(b)) * 0x9e3779b97f4a7c15
			}
		}
		seen |= k
		before = k
	}
	switch {
	case seen&digit == 0:
		return end, letters, 0
	case seen == digit:
		return end, digits, 0
	}
	return end, mixed, shape
}

// wordEnd is the end of a word.
func (g *grammar) wordEnd(v []byte, at uint32, quoted bool) uint32 {
	if quoted {
		if n := bytes.IndexByte(v[at:], '"'); n > 0 {
			return at + uint32(n)
		}
	}
	for int(at) < len(v) && g.bytes[v[at]] != delimiter {
		at++
	}
	return at
}

// inQuotes has the bytes between quotation marks, none of which is a delimiter.
var inQuotes = newGrammar("\"", false)

// hash is a hash of bytes, which begins with seed.
func hash(seed uint64, b []byte) uint64 {
	const k = 0x9e3779b97f4a7c15
	h := (seed ^ uint64(len(b))) * k
	for ; len(b) >= 8; b = b[8:] {
		h = (h ^ h>>29 ^ binary.LittleEndian.Uint64(b)) * k
	}
	if len(b) > 0 {
		var last uint64
		for i, c := range b {
			last |= uint64(c) << (8 * i)
		}
		h = (h ^ h>>29 ^ last) * k
	}
	return h ^ h>>32
}

// hashes are those of the delimiters of a token, and of the token: of its word, or of its word's shape if that has a
// digit.
func (t *token) hashes(v []byte, shape uint64) (delimiters, all uint64) {
	delimiters = hash(0, v[t.start:t.word])
	switch t.class {
	case end:
		return delimiters, delimiters + 1
	case letters:
		return delimiters, hash(delimiters, v[t.word:t.end])
	}
	return delimiters, delimiters + shape
}
