package trees

import (
	"github.com/amudai/amudai-go/encoding/internal/fastlanes"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Packed is a sequence of FastLanes chunks whose size was checked, with the base to add to each value.
type Packed[U word.Uint] struct {
	Base U
	W    int    // bits of a packed value
	Data []byte // ceil(n/1024) chunks of 128*W bytes
}

// PackedSize is the size of n values in w bits.
func PackedSize(n, w int) int {
	return (n + fastlanes.ChunkLen - 1) / fastlanes.ChunkLen * fastlanes.PackedLen(w)
}

// SetPacked makes a view one of n packed values of w bits, to each of which base is to be added.
func (v *View[U]) SetPacked(base U, w int, data []byte, n int) error {
	if w < 1 || w > word.BitsOf[U]() {
		return fault.Corruptf("width of %d bits in values of %d", w, word.BitsOf[U]())
	}
	if len(data) != PackedSize(n, w) {
		return fault.Corruptf("%d bytes for %d values of %d bits", len(data), n, w)
	}
	v.Form, v.Chunks.Packed, v.Chunks.Step = InChunks, Packed[U]{base, w, data}, 1
	return nil
}

// ParsePacked parses a tree of n values if it is nothing but packed values.
func ParsePacked[U word.Uint](tree []byte, t word.Type, n int, s *Scratch) (p Packed[U], ok bool, err error) {
	if r := s.table.find(tree, t); r == nil || !r.Packed {
		return p, false, nil
	}
	v, err := ParseView[U](nil, tree, t, n, nil, s)
	return v.Chunks.Packed, true, err
}

// Unpack unpacks the chunk that begins at value at, with another base.
func (p *Packed[U]) Unpack(dst *[fastlanes.ChunkLen]U, base U, at int) {
	size := fastlanes.PackedLen(p.W)
	fastlanes.Unpack(dst, p.Data[at/fastlanes.ChunkLen*size:][:size], base, p.W)
}
