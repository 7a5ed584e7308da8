package layout

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/blockpack/internal/fields"
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

// ParseCompact parses the compact index at an offset of a file of size bytes.
func ParseCompact(data []byte, offset, size int64) (*CompactIndex, error) {
	x, err := parseCompact(&cursor{fields.Cursor{Data: data, Base: offset}}, size)
	return x, fault.In(err, "compact index", offset)
}

func parseCompact(c *cursor, size int64) (*CompactIndex, error) {
	c.Magic(CompactMagic)
	if v := c.U8("version"); v != CompactVersion {
		c.Refuse(1, "version", fault.Unsupportedf("%d where %d is expected", v, CompactVersion))
	}
	n := c.Count("block count", compactEntry, MaxBlocks)
	start := c.Pos
	c.Each("block", n, func(int) {
		at := c.U64("offset")
		length := c.U32("length")
		if at > uint64(size) || uint64(length) > uint64(size)-at || length > MaxBlockBytes {
			c.Refuse(compactEntry, "", fault.Corruptf("%d bytes at %d in a file of %d bytes", length, at, size))
		}
	})
	x := &CompactIndex{table: c.Data[start:c.Pos:c.Pos]}
	x.Traces = c.traceIndex(n)
	if c.Err != nil {
		return nil, c.Err
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
