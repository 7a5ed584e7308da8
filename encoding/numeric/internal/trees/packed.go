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

// NewPacked checks n values of w bits.
func NewPacked[U word.Uint](base U, w int, data []byte, n int) (Packed[U], error) {
	if w < 1 || w > word.BitsOf[U]() {
		return Packed[U]{}, fault.Corruptf("width of %d bits in values of %d", w, word.BitsOf[U]())
	}
	chunks := (n + fastlanes.ChunkLen - 1) / fastlanes.ChunkLen
	if len(data) != chunks*fastlanes.PackedLen(w) {
		return Packed[U]{}, fault.Corruptf("%d bytes for %d chunks of %d bits", len(data), chunks, w)
	}
	return Packed[U]{Base: base, W: w, Data: data}, nil
}

// PackedSize is the size of n values in w bits.
func PackedSize(n, w int) int {
	return (n + fastlanes.ChunkLen - 1) / fastlanes.ChunkLen * fastlanes.PackedLen(w)
}

// ParsePacked parses a tree of n values if it is nothing but packed values, so that an encoding around it can work on
// each chunk while it is in the cache.
func ParsePacked[U word.Uint](tree []byte, t word.Type, n int, s *Scratch) (p Packed[U], ok bool, err error) {
	r := s.table.find(tree, t)
	if r == nil {
		return p, false, nil
	}
	parse := decoderOf[U](r).Packed
	if parse == nil {
		return p, false, nil
	}
	if p, err = parse(tree, n); err != nil {
		return p, true, fault.In(err, r.Code.String(), -1)
	}
	return p, true, nil
}

// DecodeInChunks decodes a tree of len(dst) values and applies change to all of them in order: chunk by chunk while these are
// in the cache, if it is nothing but packed values.
func DecodeInChunks[U word.Uint](dst []U, tree []byte, t word.Type, s *Scratch, change func(some []U)) error {
	p, ok, err := ParsePacked[U](tree, t, len(dst), s)
	if err != nil {
		return err
	}
	if !ok {
		if err = Decode(dst, tree, t, s); err == nil {
			change(dst)
		}
		return err
	}
	for at := 0; at < len(dst); at += fastlanes.ChunkLen {
		some := dst[at:min(at+fastlanes.ChunkLen, len(dst))]
		p.Chunk(some, at, s)
		change(some)
	}
	return nil
}

// Chunk unpacks up to 1024 values that begin at value at: into dst itself where it has room for a whole chunk, else by
// way of the Scratch.
func (p *Packed[U]) Chunk(dst []U, at int, s *Scratch) {
	size := fastlanes.PackedLen(p.W)
	src := p.Data[at/fastlanes.ChunkLen*size:][:size]
	if len(dst) >= fastlanes.ChunkLen {
		fastlanes.Unpack((*[fastlanes.ChunkLen]U)(dst), src, p.Base, p.W)
		return
	}
	mark := s.Mem.Mark()
	tmp := word.Take[U](&s.Mem, fastlanes.ChunkLen)
	fastlanes.Unpack((*[fastlanes.ChunkLen]U)(tmp), src, p.Base, p.W)
	copy(dst, tmp)
	s.Mem.Release(mark)
}

// Unpack unpacks all of dst.
func (p *Packed[U]) Unpack(dst []U, s *Scratch) {
	for at := 0; at < len(dst); at += fastlanes.ChunkLen {
		p.Chunk(dst[at:min(at+fastlanes.ChunkLen, len(dst))], at, s)
	}
}
