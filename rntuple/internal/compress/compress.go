// Package compress packs and unpacks the compression blocks of ROOT files: pages,
// envelopes and the payloads of keys.
//
// A block carries neither its stored nor its uncompressed size; what refers to it knows
// both. If they are equal, the bytes are stored as they are. If not, the block is a run
// of chunks, each of at most 16 MiB - 1 bytes uncompressed:
//
//	0  2 B  algorithm   "ZL" zlib stream, "CS" raw deflate (before ROOT 5), "XZ" xz stream,
//	                    "L4" XXH64 and LZ4 block, "ZS" Zstandard frame
//	2  u8   method      says nothing that the letters do not
//	3  u24  stored      bytes behind this header, little-endian
//	6  u24  size        bytes that they unpack to, little-endian
//	9  …    stored bytes
//
// Behind the header of an LZ4 chunk comes a checksum first, which stored includes:
//
//	 9  u64  XXH64 of the LZ4 block, big-endian
//	17  …    LZ4 block
//
// Example, 100 bytes of zeros:
//
//	5a 4c 08 | 0d 00 00 | 64 00 00 | 78 01 62 60 a0 3d 00 04 00 00 ff ff …
//
// A chunk is smaller than its content, header included. A block of which one is not is
// stored as it is.
package compress

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/internal/base/fault"
)

const (
	headerSize = 9
	// maxChunk is the most bytes of content in one chunk, and of stored bytes.
	maxChunk = 1<<24 - 1
	// lz4Checksum is the size of the XXH64 in front of an LZ4 block.
	lz4Checksum = 8
)

// Algorithm is a kind of compression, by its number in ROOT's settings.
type Algorithm uint8

// The algorithms.
const (
	None    Algorithm = 0
	Zlib    Algorithm = 1
	LZMA    Algorithm = 2
	Deflate Algorithm = 3 // without the frame of zlib; read, never written
	LZ4     Algorithm = 4
	Zstd    Algorithm = 5
)

// algorithms are the letters, method bytes and names.
var algorithms = [...]struct {
	letters string
	method  byte
	name    string
}{
	None:    {"", 0, "none"},
	Zlib:    {"ZL", 8, "zlib"},
	LZMA:    {"XZ", 0, "lzma"},
	Deflate: {"CS", 8, "deflate"},
	LZ4:     {"L4", 1, "lz4"},
	Zstd:    {"ZS", 1, "zstd"},
}

// String is the name in lower case.
func (a Algorithm) String() string {
	if int(a) < len(algorithms) {
		return algorithms[a].name
	}
	return "unknown"
}

// Chunk is a part of a block.
type Chunk struct {
	Algorithm Algorithm
	Size      int    // bytes of content
	Stored    []byte // the bytes behind the header, a part of the block
}

// NextChunk parses the first chunk of src and gives what follows it. Content that the
// stored bytes cannot hold is an error, so that memory may be taken for Size bytes.
func NextChunk(src []byte) (c Chunk, rest []byte, err error) {
	if len(src) < headerSize {
		return c, nil, fault.Corruptf("%d bytes are left of a compressed block, less than a chunk's header", len(src))
	}
	for a := Zlib; a <= Zstd; a++ {
		if string(src[:2]) == algorithms[a].letters {
			c.Algorithm = a
		}
	}
	if c.Algorithm == None {
		return c, nil, fault.Unsupportedf("compression algorithm %q", src[:2])
	}
	stored := int(src[3]) | int(src[4])<<8 | int(src[5])<<16
	c.Size = int(src[6]) | int(src[7])<<8 | int(src[8])<<16
	src = src[headerSize:]
	if stored > len(src) {
		return c, nil, fault.Corruptf("a %s chunk of %d bytes, of which %d are there", c.Algorithm, stored, len(src))
	}
	if most := c.Algorithm.mostFrom(int64(stored)); c.Size == 0 || int64(c.Size) > most {
		return c, nil, fault.Corruptf("a %s chunk of %d bytes claims %d bytes of content", c.Algorithm, stored, c.Size)
	}
	c.Stored = src[:stored]
	return c, src[stored:], nil
}

// mostFrom is an upper bound of what n stored bytes unpack to.
func (a Algorithm) mostFrom(n int64) int64 {
	switch a {
	case Zlib, Deflate:
		return 1032 * n // 258 bytes from two bits
	case LZ4:
		return 255 * n // lengths are sums of bytes
	case LZMA:
		return 8192 * n // 273 bytes from 14 decisions of 0.02 bits
	default:
		return (n/4 + 1) << 17 // 128 KiB from a block of four bytes
	}
}

// Check tells whether the headers in a block agree with n bytes of content. It looks at
// no content. If it passes, memory of n bytes is in proportion to the bytes of src.
func Check(src []byte, n uint64) error {
	if uint64(len(src)) == n {
		return nil
	}
	if uint64(len(src)) > n {
		return fault.Corruptf("%d bytes are stored for %d bytes of content", len(src), n)
	}
	for n > 0 {
		c, rest, err := NextChunk(src)
		if err != nil {
			return err
		}
		if uint64(c.Size) > n {
			return fault.Corruptf("a chunk of %d bytes of content, where %d are left", c.Size, n)
		}
		n -= uint64(c.Size)
		src = rest
	}
	if len(src) > 0 {
		return fault.Corruptf("%d bytes follow the last chunk of a compressed block", len(src))
	}
	return nil
}

var be = binary.BigEndian
