package numeric

import (
	"github.com/amudai/amudai-go/encoding/internal/fastlanes"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
)

// ChunkLen is the number of values of a chunk.
const ChunkLen = fastlanes.ChunkLen

// Chunks is a tree of uint16 that is bit-packed in chunks, which can be unpacked one by one. It refers to the bytes
// of the tree.
type Chunks struct{ packed trees.Packed[uint16] }

// ParseChunks parses a tree of n values. ok is false if it is not bit-packed in chunks.
func ParseChunks(tree []byte, n int, s *Scratch) (c Chunks, ok bool, err error) {
	s.begin()
	c.packed, ok, err = trees.ParsePacked[uint16](tree, Of[uint16](), n, &s.s)
	return c, ok && err == nil, err
}

// Unpack unpacks chunk i. After the last value of the tree, dst has arbitrary values.
func (c *Chunks) Unpack(dst *[ChunkLen]uint16, i int) {
	c.packed.Unpack(dst, c.packed.Base, i*ChunkLen)
}
