package fields

import "bytes"

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
	bytes  [256]byte // classes of bytes
	quotes bool
}

const (
	other     = 0
	digit     = 1
	delimiter = 2
)

// phrases cuts lines into words; words are cut into runs of letters and digits.
var phrases, words = newGrammar(" \t,;|()[]{}<>\"", true), newGrammar("", false)

func newGrammar(delimiters string, quotes bool) *grammar {
	g := &grammar{quotes: quotes}
	for b := range g.bytes {
		alnum := b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
		if delimiters == "" && !alnum {
			g.bytes[b] = delimiter
		}
		if b >= '0' && b <= '9' {
			g.bytes[b] = digit
		}
	}
	for i := range len(delimiters) {
		g.bytes[delimiters[i]] = delimiter
	}
	return g
}

// next is the token of v from a place on.
func (g *grammar) next(v []byte, at uint32) token {
	t := token{start: at}
	i := int(at)
	for i < len(v) && g.bytes[v[i]] == delimiter {
		i++
	}
	t.word = uint32(i)
	if i == len(v) {
		t.end, t.class = t.word, end
		return t
	}
	if g.quotes && i > int(at) && v[i-1] == '"' {
		if n := bytes.IndexByte(v[i:], '"'); n > 0 {
			t.end = uint32(i + n)
			t.class = classOf(v[i : i+n])
			return t
		}
	}
	seen := byte(0) // 1: others, 2: digits
	for i < len(v) {
		k := g.bytes[v[i]]
		if k == delimiter {
			break
		}
		seen |= 1 + k
		i++
	}
	t.end, t.class = uint32(i), [4]class{0, letters, digits, mixed}[seen]
	return t
}

func classOf(word []byte) class {
	seen := byte(0)
	for _, b := range word {
		if b-'0' < 10 {
			seen |= 2
		} else {
			seen |= 1
		}
	}
	return [4]class{letters, letters, digits, mixed}[seen]
}

// hash is a hash of bytes, which begins with seed.
func hash(seed uint64, b []byte) uint64 {
	const k = 0x9e3779b97f4a7c15
	h := (seed ^ uint64(len(b))) * k
	for ; len(b) >= 8; b = b[8:] {
		h = (h ^ h>>29 ^ le.Uint64(b)) * k
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
func (g *grammar) hashes(v []byte, t *token) (delimiters, all uint64) {
	delimiters = hash(0, v[t.start:t.word])
	switch t.class {
	case end:
		return delimiters, delimiters + 1
	case letters:
		return delimiters, hash(delimiters, v[t.word:t.end])
	case digits:
		return delimiters, delimiters + 2
	}
	return delimiters, shape(delimiters+2, v[t.word:t.end])
}

// shape is a hash of the bytes of a word that are neither letters nor digits, without the sign of numbers.
func shape(h uint64, word []byte) uint64 {
	before := byte(delimiter)
	for _, b := range word {
		k := words.bytes[b]
		if k == delimiter && (b != '-' || before != delimiter) {
			h = (h ^ uint64(b)) * 0x9e3779b97f4a7c15
		}
		before = k
	}
	return h
}
