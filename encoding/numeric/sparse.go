package numeric

import (
	"encoding/binary"
	"math/bits"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Sparse, code 19, all types: only the slots that hold a value.
//
//	0  2  13 00
//	2  4  u32 number of values C
//	6  4  u32 size of the positions in bytes
//	10 1  the positions are a tree (not 0) or raw (0)
//	11 1  the values are a tree, or raw
//	12 4  zeros
//	16    positions, ascending: tree of C u32, or C u32
//	      zeros up to a multiple of 8
//	      values: tree of C T, or C little-endian T; to the end
//
// All other slots read as zero. (RunLength has size before count.) Example,
// int64 42 at position 7, all raw:
//
//	13 00 | 01 00 00 00 | 04 00 00 00 | 00 | 00 | 4 zeros | 07 00 00 00 | 4 zeros | 2a 00 00 00 00 00 00 00
type sparse struct {
	count                         int
	positions, values             []byte
	positionsNested, valuesNested bool
}

func parseSparse(tree []byte, n int) (p sparse, err error) {
	header, payload, err := split(tree, 10)
	if err != nil {
		return p, err
	}
	count := binary.LittleEndian.Uint32(header)
	size := binary.LittleEndian.Uint32(header[4:])
	if uint64(count) > uint64(n) {
		return p, fault.Corruptf("%d positions for %d values", count, n)
	}
	p.count = int(count)
	p.positionsNested, p.valuesNested = header[8] != 0, header[9] != 0
	p.positions, p.values, err = cutPadded(payload, size)
	return p, err
}

func decodeSparse[U word](dst []U, tree []byte, t Type, s *Scratch) error {
	p, err := parseSparse(tree, len(dst))
	if err != nil {
		return err
	}
	clear(dst)
	if p.count == 0 { // nothing follows, whatever the flags say
		return nil
	}
	positions := take[uint32](s, p.count)
	if err := decodePart(positions, p.positions, p.positionsNested, U32, s); err != nil {
		return err
	}
	values := take[U](s, p.count)
	if err := decodePart(values, p.values, p.valuesNested, t, s); err != nil {
		return err
	}
	return scatter(dst, positions, values)
}

// scatter puts values at ascending positions.
func scatter[U word](dst []U, positions []uint32, values []U) error {
	last := int64(-1)
	values = values[:len(positions)]
	for i, p := range positions {
		if int64(p) <= last || uint64(p) >= uint64(len(dst)) {
			return fault.Corruptf("position %d after %d of %d", p, last, len(dst))
		}
		last = int64(p)
		dst[p] = values[i]
	}
	return nil
}

// appendSparse writes the slots that hold a value and, if it is not zero or a
// null made it one, no other: in.values is zero at nulls only if it happens to be.
func appendSparse[U word](e *enc, dst []byte, in input[U], p *plan) []byte {
	mark := e.scratch.mark()
	positions := take[uint32](&e.scratch, len(in.values))
	values := take[U](&e.scratch, len(in.values))
	count := 0
	for i := 0; i < len(in.values); i += 64 {
		w := in.validWord(i)
		for ; w != 0; w &= w - 1 {
			at := i + bits.TrailingZeros64(w)
			v := in.values[at]
			positions[count], values[count] = uint32(at), v
			if v != 0 {
				count++
			}
		}
	}
	start := len(dst)
	dst = appendHeader(dst, encoding.Sparse, 10)
	var flags [2]byte
	size := 0
	if count > 0 {
		dst, flags[0] = appendPart(e, dst, childOf[U, uint32](in, positions[:count], U32, encoding.Sparse, 0), p.kids[0])
		size = len(dst) - start - 16
		dst = padTree(dst, start)
		dst, flags[1] = appendPart(e, dst, in.child(values[:count], in.t, encoding.Sparse, 1), p.kids[1])
	}
	header := dst[start+2:]
	binary.LittleEndian.PutUint32(header, uint32(count))
	binary.LittleEndian.PutUint32(header[4:], uint32(size))
	header[8], header[9] = flags[0], flags[1]
	e.scratch.release(mark)
	return dst
}
