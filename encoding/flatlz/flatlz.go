// Package flatlz compresses bytes by copies of earlier ones, as LZ4 does, in a
// form that is made to be unpacked fast: docs/format.md §7.5.
//
// A stream is a list of sequences, each a number of literal bytes and a match, a
// copy of earlier bytes. All sequences have the same size, and literals are kept
// apart, so that where the next ones lie does not depend on what the last ones
// say; and no match begins less than 16 bytes back, so that 16 bytes can be
// copied at a time. A sequence is four bytes:
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
	// SequenceLen is the bytes of a sequence.
	SequenceLen = 4
	// MaxRatio is the most bytes that one byte of sequences and literals stands for.
	MaxRatio = (maxLiterals + maxMatch) / SequenceLen

	maxLiterals = 255
	maxMatch    = 255
	minBack     = 16
	maxBack     = 1<<16 - 1
)

var le = binary.LittleEndian
