// Package onpair compresses byte strings by a dictionary of up to 65,535 tokens
// of 1 to 16 bytes, after Gargiulo and Venturini, "OnPair: Short Strings
// Compression for Fast Random Access" (arXiv 2508.02280). See docs/format.md §7.5.
//
// A string is a sequence of codes, and each code stands for a token. No code
// spans two strings, so that each can be decoded by itself.
//
// # Dictionary
//
// Tokens are stored with what they share with the one before. Each has a byte, its
// head: the number of shared bytes in the low 4 bits, and its length less 1 in the high ones.
// The other bytes of all tokens follow each other.
//
// Example: "a", "abc", "abd" have the heads 00 21 22, and the bytes 61 62 63 64.
package onpair

const (
	// MaxTokenLen is the length of the longest tokens.
	MaxTokenLen = 16
	// MaxTokens is the largest number of tokens in a dictionary.
	MaxTokens = 1<<16 - 1
)

// token is a string of 1 to 16 bytes, the first in the low byte of lo; unused
// high bytes are 0.
type token struct {
	lo, hi uint64
	length uint8
}

// first is the first n bytes of a token.
func (t token) first(n int) token {
	return token{low(t.lo, min(n, 8)), low(t.hi, max(n-8, 0)), uint8(n)}
}

// join is a followed by b, together at most 16 bytes.
func join(a, b token) token {
	t := token{a.lo, a.hi, a.length + b.length}
	if s := 8 * uint(a.length); s < 64 {
		t.lo |= b.lo << s
		t.hi |= b.hi<<s | b.lo>>1>>(63-s)
	} else {
		t.hi |= b.lo << (s - 64)
	}
	return t
}
