package numeric

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/fault"
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
