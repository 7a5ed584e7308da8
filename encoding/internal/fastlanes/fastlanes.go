// Package fastlanes packs chunks of 1024 unsigned values into w bits each, in
// the transposed order of the FastLanes layout (Afroozeh and Boncz, "The
// FastLanes Compression Layout", VLDB 2023), with a base subtracted and added
// in the same pass (docs/format.md §7.3).
//
// # Layout
//
// A word has T = 8, 16, 32 or 64 bits. The chunk is T rows of L = 1024/T lanes;
// row r of lane l holds the value with index
//
//	i(r, l) = 16*order[r/8] + 128*(r%8) + l,   order = 0 4 2 6 1 5 3 7
//
// Lane l owns w words: number l, L+l, 2L+l, ... (w-1)L+l of the chunk. Laid end
// to end, least significant bit first, these are a string of w*T bits, in which
// row r has the bits [r*w, (r+1)*w). Words are little-endian. So a packed chunk
// takes 128*w bytes, whatever T is.
//
// Example: uint32 values 1, 2, 3, 0, 0, ... in 2 bits are 256 bytes; byte 0 is
// 01 (lane 0), byte 4 is 02 (lane 1), byte 8 is 03 (lane 2), all others are 00.
package fastlanes

// ChunkLen is the number of values in a chunk, whatever their width.
const ChunkLen = 1024

// Word is a type that can be packed; signed values and floats are packed as the
// unsigned type of their width.
type Word interface {
	uint8 | uint16 | uint32 | uint64
}

// PackedLen is the number of bytes of a chunk packed to w bits a value, the same
// for all types.
func PackedLen(w int) int { return ChunkLen / 8 * w }
