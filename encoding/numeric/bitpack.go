package numeric

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/fastlanes"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// FLBitPack, code 2, unsigned integers:
//
//	02 00 | u8 W | 5 zeros | ceil(n/1024) chunks of 128*W bytes (package fastlanes)
//
// 1 <= W <= bits of the type. What fills the last chunk up to 1024 values has no
// meaning. Example, uint32 1, 2, 3 in 2 bits:
//
//	02 00 | 02 | 00 00 00 00 00 | 01 00 00 00 02 00 00 00 03 00 00 00 and 244 zeros
func decodeBitPack[U word](dst []U, tree []byte, s *Scratch) error {
	p, err := parseBitPack[U](tree, len(dst))
	if err != nil {
		return err
	}
	p.unpack(dst, s)
	return nil
}

// packed is a sequence of FastLanes chunks whose size was checked, with the base
// to add to each value.
type packed[U word] struct {
	base U
	w    int
	data []byte
}

func parseBitPack[U word](tree []byte, n int) (packed[U], error) {
	header, payload, err := split(tree, 1)
	if err != nil {
		return packed[U]{}, err
	}
	return newPacked[U](0, int(header[0]), payload, n)
}

func newPacked[U word](base U, w int, data []byte, n int) (packed[U], error) {
	if w < 1 || w > 8*sizeOf[U]() {
		return packed[U]{}, fault.Corruptf("width of %d bits in values of %d", w, 8*sizeOf[U]())
	}
	chunks := (n + fastlanes.ChunkLen - 1) / fastlanes.ChunkLen
	if len(data) != chunks*fastlanes.PackedLen(w) {
		return packed[U]{}, fault.Corruptf("%d bytes for %d chunks of %d bits", len(data), chunks, w)
	}
	return packed[U]{base: base, w: w, data: data}, nil
}

// parsePacked parses a tree of n values if it is nothing but packed values, so
// that an encoding around it can work on each chunk while it is in the cache.
func parsePacked[U word](tree []byte, t Type, n int) (p packed[U], ok bool, err error) {
	switch code := peek(tree); {
	case code == encoding.FLBitPack && t.Unsigned():
		p, err = parseBitPack[U](tree, n)
	case code == encoding.FFOR && !t.Float():
		p, err = parseFFOR[U](tree, n)
	default:
		return p, false, nil
	}
	if err != nil {
		return p, true, fault.In(err, peek(tree).String(), -1)
	}
	return p, true, nil
}

// chunk unpacks up to 1024 values that begin at value at: into dst itself where
// it has room for a whole chunk, else by way of tmp, which is made when needed.
func (p *packed[U]) chunk(dst []U, at int, s *Scratch) {
	size := fastlanes.PackedLen(p.w)
	src := p.data[at/fastlanes.ChunkLen*size:][:size]
	if len(dst) >= fastlanes.ChunkLen {
		fastlanes.Unpack((*[fastlanes.ChunkLen]U)(dst), src, p.base, p.w)
		return
	}
	mark := s.mark()
	tmp := take[U](s, fastlanes.ChunkLen)
	fastlanes.Unpack((*[fastlanes.ChunkLen]U)(tmp), src, p.base, p.w)
	copy(dst, tmp)
	s.release(mark)
}

// unpack unpacks all of dst.
func (p *packed[U]) unpack(dst []U, s *Scratch) {
	for at := 0; at < len(dst); at += fastlanes.ChunkLen {
		p.chunk(dst[at:min(at+fastlanes.ChunkLen, len(dst))], at, s)
	}
}

// bitsOf is the number of bits of a word type.
func bitsOf[U word]() int {
	var v U
	return 8 * int(unsafe.Sizeof(v))
}

// appendBitPack packs values, which are unsigned.
func appendBitPack[U word](e *enc, dst []byte, in input[U], p *plan) []byte {
	if p.width > 0 {
		return appendBitPackAs(e, dst, in.values, p.width)
	}
	var all U
	for _, v := range in.values {
		all |= v
	}
	if all == 0 {
		return appendSingleValue(e, dst, in)
	}
	return appendBitPackAs(e, dst, in.values, bits.Len64(uint64(all)))
}

func appendBitPackAs[U word](e *enc, dst []byte, values []U, w int) []byte {
	dst = append(appendCode(dst, encoding.FLBitPack), byte(w), 0, 0, 0, 0, 0)
	return appendChunks(e, dst, values, 0, w)
}

// appendChunks packs values less base; what fills the last chunk packs to zeros.
func appendChunks[U word](e *enc, dst []byte, values []U, base U, w int) []byte {
	size := fastlanes.PackedLen(w)
	chunks := (len(values) + fastlanes.ChunkLen - 1) / fastlanes.ChunkLen
	at := len(dst)
	dst = slices.Grow(dst, chunks*size)[:at+chunks*size]
	for ; len(values) >= fastlanes.ChunkLen; values = values[fastlanes.ChunkLen:] {
		fastlanes.Pack(dst[at:at+size], (*[fastlanes.ChunkLen]U)(values), base, w)
		at += size
	}
	if len(values) > 0 {
		mark := e.scratch.mark()
		last := take[U](&e.scratch, fastlanes.ChunkLen)
		fill(last[copy(last, values):], base)
		fastlanes.Pack(dst[at:at+size], (*[fastlanes.ChunkLen]U)(last), base, w)
		e.scratch.release(mark)
	}
	return dst
}
