// Package blockmap has the block map of an encoded buffer: the number of values of each block, and the range of its
// bytes (docs/format.md §6.2).
//
//	map     = segment... | logical u64[S+1] | record u64[S+1] | footer (40 bytes)
//
//	segment = up to 1024 blocks, starts at a multiple of 8 from the map's start
//	   0  u64  position of its first value
//	   8  u64  offset of its first block in the buffer
//	  16  u32  smallest number of values
//	  20  u32  smallest block size
//	  24  u8   width of the value counts in bits: 8, 16 or 32
//	  25  u8   width of the block sizes in bits
//	  26  u16  blocks
//	  28  value counts less the smallest | pad to 4 | block sizes less the smallest | pad to 8
//
//	logical = position of the first value of each segment, last the number of values
//	record  = offset of each segment in the map, last the end of the last one
//
//	footer  = values u64 | blocks u64 | segments u64 | blocks per segment u64 | bytes of all blocks u64
//
// Two blocks, of 100 values in 200 bytes and 150 values in 250 bytes, make 112 bytes:
//
//	00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00    first value 0, offset 0
//	64 00 00 00  c8 00 00 00  08  08  02 00             smallest 100 and 200, 8 and 8 bits, 2 blocks
//	00 32 | 00 00 | 00 32 | 00 00 00 00 00 00           +0 +50, pad, +0 +50, pad
//	0, 250 | 0, 40 | 250, 2, 1, 1024, 450               each as u64
//
// No checksum covers a map. Readers therefore check that counts add up, that segments are adjacent, and that the
// blocks fill the data in front of the map.
package blockmap

import "encoding/binary"

const (
	segmentBlocks = 1024 // blocks per segment of the writer
	segmentHeader = 28
	footerLen     = 40
	dataAlign     = 16 // the map starts at a multiple of this
)

var le = binary.LittleEndian

// Entry describes one block.
type Entry struct {
	First  uint64 // position of its first value
	N      int    // number of values
	Offset int64  // from the start of the buffer
	Size   int    // bytes, checksum and padding included
}
