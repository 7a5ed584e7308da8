// Package flatlz compresses bytes with copies of earlier bytes, like LZ4, in a format for fast unpacking:
// docs/format.md §7.5.
//
// A stream is a list of sequences. Each is a number of literal bytes and a match, which is a copy of earlier bytes.
// All sequences have the same size, and literals are stored separately, so that the position of a sequence does not
// depend on earlier ones. Matches begin at least 16 bytes back, so that 16 bytes can be copied at a time. A sequence
// is four bytes:
//
//	0  u8   literals
//	1  u8   length of the match, 0 if there is none
//	2  u16  how far back the match begins, at least 16; 16 is written if there is none
//
// Example, "abcdefghijklmnopabcdefghijkl!":
//
//	sequences: 10 0c 10 00 | 01 00 10 00
//	literals:  abcdefghijklmnop!
package flatlz

import "encoding/binary"

const (
	// SequenceLen is the size of a sequence in bytes.
	SequenceLen = 4
	// MaxRatio is the maximum ratio of unpacked bytes to bytes of sequences and literals.
	MaxRatio = (maxLiterals + maxMatch) / SequenceLen

	maxLiterals = 255
	maxMatch    = 255
	minBack     = 16
	maxBack     = 1<<16 - 1
)

var le = binary.LittleEndian
