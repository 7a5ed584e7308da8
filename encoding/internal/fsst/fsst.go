// Package fsst compresses byte strings with a table of up to 255 symbols of 1 to 8 bytes, after Boncz, Neumann and
// Leis, "FSST: Fast Random Access String Compression" (VLDB 2020). See docs/format.md §7.5.
//
// # Stream
//
// Each byte of a stream is a code. Code c < 255 stands for symbol c; 255 is an
// escape, and the byte after it stands for itself.
//
// Example: with the one symbol "abc" as code 0, "abcabcX" is 00 00 ff 58.
package fsst

const (
	// MaxSymbols is the maximum number of symbols in a table.
	MaxSymbols = 255
	// MaxSymbolLen is the length of the longest symbols.
	MaxSymbolLen = 8

	escape = 255
)

// symbol is a string of 1 to 8 bytes, with the first one in the low byte of value. Unused high bytes are 0.
type symbol struct {
	value  uint64
	length uint8
}

// concat is a followed by b, truncated to 8 bytes.
func concat(a, b symbol) symbol {
	return symbol{a.value | b.value<<(a.length*8), min(a.length+b.length, MaxSymbolLen)}
}
