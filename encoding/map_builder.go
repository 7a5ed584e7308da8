package encoding

import (
	"encoding/binary"
	"fmt"
)

// BlockMapBuilder collects the blocks of a buffer. The zero value is ready to use.
type BlockMapBuilder struct {
	counts, sizes []uint32
	values, bytes uint64
}

// Add appends a block of n values in size bytes. Both must be at least 1 and below 2³²-1, otherwise Add panics.
func (b *BlockMapBuilder) Add(n, size int) {
	if n < 1 || size < 1 || uint64(n) >= 1<<32-1 || uint64(size) >= 1<<32-1 {
		panic(fmt.Sprintf("block map: block of %d values in %d bytes", n, size))
	}
	b.counts = append(b.counts, uint32(n))
	b.sizes = append(b.sizes, uint32(size))
	b.values += uint64(n)
	b.bytes += uint64(size)
}

// Len is the number of blocks.
func (b *BlockMapBuilder) Len() int { return len(b.counts) }

// Values is the number of values in all blocks.
func (b *BlockMapBuilder) Values() uint64 { return b.values }

// DataSize is the number of bytes of all blocks, without the padding before the map.
func (b *BlockMapBuilder) DataSize() int64 { return int64(b.bytes) }

// Reset removes all blocks and keeps the memory.
func (b *BlockMapBuilder) Reset() { *b = BlockMapBuilder{counts: b.counts[:0], sizes: b.sizes[:0]} }

// Append appends the map to dst.
func (b *BlockMapBuilder) Append(dst []byte) []byte {
	start := len(dst)
	var logical, record []byte
	var pos, off uint64
	segments := 0
	for from := 0; from < len(b.counts); from += segmentBlocks {
		to := min(from+segmentBlocks, len(b.counts))
		logical = le.AppendUint64(logical, pos)
		record = le.AppendUint64(record, uint64(len(dst)-start))
		dst = appendSegment(dst, start, pos, off, b.counts[from:to], b.sizes[from:to])
		for i := from; i < to; i++ {
			pos += uint64(b.counts[i])
			off += uint64(b.sizes[i])
		}
		segments++
	}
	logical = le.AppendUint64(logical, pos)
	record = le.AppendUint64(record, uint64(len(dst)-start))
	dst = append(append(dst, logical...), record...)
	dst, _ = binary.Append(dst, le, []uint64{b.values, uint64(len(b.counts)), uint64(segments), segmentBlocks, b.bytes}) // never fails
	return dst
}

func appendSegment(dst []byte, start int, pos, off uint64, counts, sizes []uint32) []byte {
	minCount, countBits := bounds(counts)
	minSize, sizeBits := bounds(sizes)
	dst = le.AppendUint64(dst, pos)
	dst = le.AppendUint64(dst, off)
	dst = le.AppendUint32(dst, minCount)
	dst = le.AppendUint32(dst, minSize)
	dst = append(dst, countBits, sizeBits)
	dst = le.AppendUint16(dst, uint16(len(counts)))
	dst = padTo(appendDeltas(dst, counts, minCount, countBits), start, 4)
	return padTo(appendDeltas(dst, sizes, minSize, sizeBits), start, 8)
}

// bounds returns the minimum of v, and the width that holds the differences from it.
func bounds(v []uint32) (smallest uint32, width uint8) {
	lo, hi := v[0], v[0]
	for _, x := range v {
		lo, hi = min(lo, x), max(hi, x)
	}
	switch d := hi - lo; {
	case d <= 0xff:
		return lo, 8
	case d <= 0xffff:
		return lo, 16
	}
	return lo, 32
}

func appendDeltas(dst []byte, v []uint32, base uint32, width uint8) []byte {
	for _, x := range v {
		switch d := x - base; width {
		case 8:
			dst = append(dst, byte(d))
		case 16:
			dst = le.AppendUint16(dst, uint16(d))
		default:
			dst = le.AppendUint32(dst, d)
		}
	}
	return dst
}

func padTo(dst []byte, start, n int) []byte {
	for (len(dst)-start)%n != 0 {
		dst = append(dst, 0)
	}
	return dst
}
