package numeric

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/fastlanes"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// BlockDictionary, code 14, all types:
//
//	0  2  0e 00
//	2  4  u32 size of the codes in bytes
//	6  4  u32 number of dictionary values D
//	10 1  the dictionary values are a tree (not 0) or raw (0)
//	11 5  zeros
//	16    codes: tree of n u32
//	      dictionary values, without zeros before them: tree of D T, or D little-endian T
//
// Code 0 stands for null and reads as zero, code k for dictionary value k-1.
// Example, int16 7, 9, 7, codes as Plain:
//
//	0e 00 | 0e 00 00 00 | 02 00 00 00 | 00 | 5 zeros | 01 00 01 00 00 00 02 00 00 00 01 00 00 00 | 07 00 09 00
type blockDictionary struct {
	count         int
	codes, values []byte
	valuesNested  bool
}

func parseDictionary(tree []byte, n int) (d blockDictionary, err error) {
	header, payload, err := split(tree, 9)
	if err != nil {
		return d, err
	}
	size := binary.LittleEndian.Uint32(header)
	count := binary.LittleEndian.Uint32(header[4:])
	if uint64(count) > uint64(n) {
		return d, fault.Corruptf("dictionary of %d values for %d", count, n)
	}
	if uint64(size) > uint64(len(payload)) {
		return d, fault.Corruptf("codes of %d bytes in %d", size, len(payload))
	}
	d.count, d.valuesNested = int(count), header[8] != 0
	d.codes, d.values = payload[:size], payload[size:]
	return d, nil
}

func decodeDictionary[U word](dst []U, tree []byte, t Type, s *Scratch) error {
	table, codes, err := readDictionary[U](tree, t, len(dst), s)
	if err != nil {
		return err
	}
	return gatherCodes(dst, &codes, table, s)
}

// readDictionary reads the dictionary of a tree of n values. The table begins
// with what code 0 stands for.
func readDictionary[U word](tree []byte, t Type, n int, s *Scratch) (table []U, c codes, err error) {
	d, err := parseDictionary(tree, n)
	if err != nil {
		return nil, c, err
	}
	table = take[U](s, d.count+1)
	table[0] = 0
	if err := decodePart(table[1:], d.values, d.valuesNested, t, s); err != nil {
		return nil, c, err
	}
	c, err = readCodes(d.codes, n, s)
	return table, c, err
}

// gatherCodes sets dst to what its codes stand for, a chunk at a time.
func gatherCodes[D any](dst []D, c *codes, table []D, s *Scratch) error {
	tmp := (*[fastlanes.ChunkLen]uint32)(take[uint32](s, fastlanes.ChunkLen))
	for at := 0; at < len(dst); at += fastlanes.ChunkLen {
		part := c.chunk(tmp, at, len(dst))
		if err := gather(dst[at:at+len(part)], part, table); err != nil {
			return err
		}
	}
	return nil
}

// gather sets each value of dst to the one that its code stands for.
func gather[U any](dst []U, codes []uint32, table []U) error {
	codes = codes[:len(dst)]
	for i, c := range codes {
		if uint64(c) >= uint64(len(table)) {
			return fault.Corruptf("code %d in a dictionary of %d values", c, len(table)-1)
		}
		dst[i] = table[c]
	}
	return nil
}

// appendDictionary writes the distinct values in ascending order, and the codes
// of the slots. It falls back to Plain if more than p.limit values are distinct.
func appendDictionary[U word](e *enc, dst []byte, in input[U], p *plan) []byte {
	n := len(in.values)
	limit := p.limit
	if limit == 0 {
		limit = n
	}
	mark := e.scratch.mark()
	defer e.scratch.release(mark)
	codes := take[uint32](&e.scratch, n)
	distinct, ok := number(e, codes, in.values, limit)
	if !ok {
		return appendPlain(dst, in.values)
	}
	values := sortDistinct(e, codes, distinct, in.flip())

	start := len(dst)
	dst = appendHeader(dst, encoding.BlockDictionary, 9)
	dst = appendTree(e, dst, childOf[U, uint32](in, codes, U32, encoding.BlockDictionary, 0), p.kids[0])
	size := len(dst) - start - 16
	kid := p.kids[1]
	if size%8 != 0 && e.features == 0 { // the reference reads a tree only where it is aligned
		kid = &plan{}
	}
	dst, flag := appendPart(e, dst, in.child(values, in.t, encoding.BlockDictionary, 1), kid)
	header := dst[start+2:]
	binary.LittleEndian.PutUint32(header, uint32(size))
	binary.LittleEndian.PutUint32(header[4:], uint32(len(values)))
	header[8] = flag
	return dst
}
