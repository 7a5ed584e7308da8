package encoding

import (
	"encoding/binary"
	"math"
	"sort"

	"github.com/amudai/amudai-go/internal/base/fault"
)

const (
	segmentBlocks = 1024 // blocks per segment of the writer
	segmentHeader = 28
	footerLen     = 40
	dataAlign     = 16 // the map starts at a multiple of this
)

var le = binary.LittleEndian

// BlockEntry describes one block.
type BlockEntry struct {
	First  uint64 // position of its first value
	N      int    // number of values
	Offset int64  // from the start of the buffer
	Size   int    // bytes, checksum and padding included
}

// BlockMap is a parsed block map of an encoded buffer: the number of values of each block, and the range of its bytes (docs/format.md §6.2). It is a
// view of the bytes given to [ParseBlockMap], which must not change while it is in use. It may be used concurrently.
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
type BlockMap struct {
	b          []byte
	lists      int // offset of the segment lists
	blocks     int
	segments   int
	perSegment int
	values     uint64
	dataSize   int64

	regular uint64   // values of each block but the last, which has no more; 0 if blocks differ
	starts  []uint64 // offset of each block whose index is a multiple of startsEvery, if there are several
}

const startsEvery = 32

// ParseBlockMap checks a whole map and returns it. dataSize is the number of bytes in front of it in its buffer, which the
// blocks must fill except for padding. It allocates only the BlockMap, and for many blocks a quarter of a byte for each.
func ParseBlockMap(b []byte, dataSize int64) (*BlockMap, error) {
	if len(b) < footerLen {
		return nil, fault.Corruptf("block map of %d bytes: shorter than its footer", len(b))
	}
	footer := b[len(b)-footerLen:]
	values, blocks := le.Uint64(footer), le.Uint64(footer[8:])
	segments, perSegment := le.Uint64(footer[16:]), le.Uint64(footer[24:])
	room := uint64(len(b)-footerLen) / 16
	switch {
	case room < 1 || segments > room-1:
		return nil, fault.Corruptf("block map of %d bytes lists %d segments", len(b), segments)
	case values < blocks || blocks < segments || blocks > uint64(len(b)):
		return nil, fault.Corruptf("block map counts %d values, %d blocks, %d segments", values, blocks, segments)
	case values > math.MaxInt64:
		return nil, fault.Corruptf("block map counts %d values", values)
	case segments > 0 && (perSegment == 0 || (blocks+perSegment-1)/perSegment != segments || perSegment > math.MaxInt64):
		return nil, fault.Corruptf("block map has %d blocks in %d segments of %d", blocks, segments, perSegment)
	case segments == 0 && blocks != 0:
		return nil, fault.Corruptf("block map has %d blocks in no segment", blocks)
	}
	m := &BlockMap{
		b: b, lists: len(b) - footerLen - 16*int(segments+1), blocks: int(blocks), segments: int(segments),
		perSegment: int(min(perSegment, blocks)), values: values,
	}
	if err := m.check(dataSize); err != nil {
		return nil, err
	}
	if m.dataSize != int64(le.Uint64(footer[32:])) {
		return nil, fault.Corruptf("block map covers %d bytes, its footer says %d", m.dataSize, le.Uint64(footer[32:]))
	}
	return m, nil
}

// SingleBlockMap returns the map of a buffer of one block, which has no map: values in size bytes.
func SingleBlockMap(values uint64, size int64) (*BlockMap, error) {
	if values < 1 || values >= 1<<32-1 || size < 1 || size >= 1<<32-1 {
		return nil, fault.Corruptf("one block of %d values in %d bytes", values, size)
	}
	if values > math.MaxInt32 || size > math.MaxInt32 {
		return nil, fault.Limitf("one block of %d values in %d bytes", values, size)
	}
	var b BlockMapBuilder
	b.Add(int(values), int(size))
	return ParseBlockMap(b.Append(nil), size)
}

// check checks all segments: lists ascend, counts add up, blocks are adjacent.
func (m *BlockMap) check(dataSize int64) error {
	if m.logical(0) != 0 || m.record(0) != 0 || m.logical(m.segments) != m.values {
		return fault.Corruptf("block map lists values from %d to %d of %d", m.logical(0), m.logical(m.segments), m.values)
	}
	var offset uint64
	if m.blocks > startsEvery {
		m.starts = make([]uint64, 0, (m.blocks+startsEvery-1)/startsEvery)
	}
	for i := range m.segments {
		if m.logical(i) >= m.logical(i+1) || m.record(i) >= m.record(i+1) || m.record(i+1) > uint64(m.lists) {
			return fault.Corruptf("block map segment %d: its place in the lists does not ascend", i)
		}
		s, err := m.parse(i)
		if err != nil {
			return err
		}
		if !s.counts.fit(s.minCount, s.count) || !s.sizes.fit(s.minSize, s.count) {
			return fault.Corruptf("block map segment %d: a block size is 0 or out of range", i)
		}
		want := min(m.perSegment, m.blocks-i*m.perSegment)
		if s.count != want || s.first != m.logical(i) || s.offset != offset {
			return fault.Corruptf("block map segment %d: %d blocks from value %d at offset %d, expected %d from %d at %d",
				i, s.count, s.first, s.offset, want, m.logical(i), offset)
		}
		if values := s.valuesBefore(s.count); values != m.logical(i+1)-s.first {
			return fault.Corruptf("block map segment %d: blocks hold %d values, expected %d", i, values, m.logical(i+1)-s.first)
		}
		m.index(i, &s)
		offset += s.bytesBefore(s.count)
	}
	if dataSize < 0 || offset > uint64(dataSize) || uint64(dataSize)-offset >= dataAlign {
		return fault.Corruptf("block map covers %d bytes of %d", offset, dataSize)
	}
	m.dataSize = int64(offset)
	return nil
}

// index makes blocks of segment i quick to find.
func (m *BlockMap) index(i int, s *segment) {
	begin := i * m.perSegment
	for at := len(m.starts) * startsEvery; m.blocks > startsEvery && at < begin+s.count; at += startsEvery {
		m.starts = append(m.starts, m.offset(s, i, at-begin))
	}
	if i == 0 {
		m.regular = uint64(s.countAt(0))
	}
	for k := range s.count {
		if n := uint64(s.countAt(k)); n != m.regular && (n > m.regular || begin+k < m.blocks-1) {
			m.regular = 0
			break
		}
	}
}

// offset is the offset of block k of segment i.
func (m *BlockMap) offset(s *segment, i, k int) uint64 {
	begin := i * m.perSegment
	from := (begin+k)/startsEvery*startsEvery - begin
	if from < 0 || (begin+from)/startsEvery >= len(m.starts) {
		return s.offset + s.bytesBefore(k)
	}
	return m.starts[(begin+from)/startsEvery] + uint64(k-from)*uint64(s.minSize) + s.sizes.sum(from, k)
}

// first is the position of the first value of block k of segment i.
func (m *BlockMap) first(s *segment, i, k int) uint64 {
	if m.regular > 0 {
		return uint64(i*m.perSegment+k) * m.regular
	}
	return s.first + s.valuesBefore(k)
}

func (m *BlockMap) logical(i int) uint64 { return le.Uint64(m.b[m.lists+8*i:]) }
func (m *BlockMap) record(i int) uint64  { return le.Uint64(m.b[m.lists+8*(m.segments+1+i):]) }

// Len is the number of blocks.
func (m *BlockMap) Len() int { return m.blocks }

// Values is the number of values in all blocks.
func (m *BlockMap) Values() uint64 { return m.values }

// DataSize is the number of bytes of all blocks, without the padding before the map.
func (m *BlockMap) DataSize() int64 { return m.dataSize }

// Find returns the index of the block with the value at pos, or Len if there is none.
func (m *BlockMap) Find(pos uint64) int {
	if pos >= m.values {
		return m.blocks
	}
	if m.regular > 0 {
		return int(pos / m.regular)
	}
	i := sort.Search(m.segments, func(i int) bool { return m.logical(i+1) > pos })
	s := m.segment(i)
	return i*m.perSegment + s.find(pos-s.first)
}

// Block returns the position of the first value, the number of values, the offset in the buffer and the size in bytes
// of block i. For many blocks, use [BlockMap.Append].
func (m *BlockMap) Block(i int) (first uint64, n int, offset int64, size int) {
	s := m.segment(i / m.perSegment)
	k := i % m.perSegment
	return m.first(&s, i/m.perSegment, k), s.countAt(k), int64(m.offset(&s, i/m.perSegment, k)), s.sizeAt(k)
}

// Append appends the entries of the blocks from up to (not including) to.
func (m *BlockMap) Append(dst []BlockEntry, from, to int) []BlockEntry {
	for from < to {
		s := m.segment(from / m.perSegment)
		k := from % m.perSegment
		end := min(s.count, k+to-from)
		pos, off := m.first(&s, from/m.perSegment, k), m.offset(&s, from/m.perSegment, k)
		for ; k < end; k++ {
			n, size := s.countAt(k), s.sizeAt(k)
			dst = append(dst, BlockEntry{First: pos, N: n, Offset: int64(off), Size: size})
			pos += uint64(n)
			off += uint64(size)
			from++
		}
	}
	return dst
}
