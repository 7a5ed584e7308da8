package layout

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// CompactIndex is a trace index with the extents of all blocks, so that a trace is found without the metadata.
//
//	┃ magic u32 ┃ version u8 ┃ block count u32 ┃ for each block  ┃ offset u64 ┃ length u32 ┃ trace index ┃
type CompactIndex struct {
	Traces *TraceIndex
	table  []byte
}

const compactEntry = 8 + 4

// ParseCompact parses the compact index at an offset of a file of size bytes. Entries of traces are checked by the
// first lookup.
func ParseCompact(data []byte, offset, size int64) (*CompactIndex, error) {
	x, err := parseCompact(&cursor{data: data, base: offset}, size, false)
	return x, fault.In(err, "compact index", offset)
}

func parseCompact(c *cursor, size int64, whole bool) (*CompactIndex, error) {
	c.magic(CompactMagic)
	if v := c.u8("version"); c.err == nil && v != CompactVersion {
		c.pos--
		c.fail("version", fault.Unsupportedf("%d where %d is expected", v, CompactVersion))
	}
	n := c.count("block count", compactEntry, MaxBlocks)
	start := c.pos
	for i := range n {
		c.open("block", i)
		at := c.u64("offset")
		length := c.u32("length")
		c.close()
		if c.err == nil && (at > uint64(size) || uint64(length) > uint64(size)-at || length > MaxBlockBytes) {
			c.pos -= compactEntry
			c.fail("", fault.Corruptf("%d bytes at %d in a file of %d bytes", length, at, size))
			c.in("block %d", i)
		}
	}
	x := &CompactIndex{table: c.data[start:c.pos:c.pos]}
	if whole {
		x.Traces = c.traceIndex(n)
	} else if c.err == nil {
		x.Traces = c.traceIndexHead(n)
		c.in("trace index")
	}
	if c.err != nil {
		return nil, c.err
	}
	return x, nil
}

// Blocks is the number of blocks.
func (x *CompactIndex) Blocks() int { return len(x.table) / compactEntry }

// Block gives the extent of a block in the file.
func (x *CompactIndex) Block(i int) (offset, length int64) {
	b := x.table[i*compactEntry:]
	return int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint32(b[8:]))
}

// AppendCompact appends a compact index.
func AppendCompact(dst []byte, blocks []Block, traces *TraceIndexBuilder) ([]byte, error) {
	dst = binary.LittleEndian.AppendUint32(dst, CompactMagic)
	dst = append(dst, CompactVersion)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(blocks)))
	for i := range blocks {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(blocks[i].Offset))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(blocks[i].Length))
	}
	return traces.Append(dst)
}
