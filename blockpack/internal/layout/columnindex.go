package layout

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// ColumnIndex has the extents of columns in their blocks. It is a hint: what blocks say of themselves counts.
//
//	for each block  ┃ column count u32 ┃ for each column  ┃ name length u16 ┃ name ┃ offset u32 ┃ length u32 ┃
type ColumnIndex struct {
	data    []byte
	base    int64
	offsets []uint32 // of blocks in data
}

// ColumnExtent is where the data of a column are in a block.
type ColumnExtent struct {
	Name   string
	Offset uint32 // from the start of the block
	Length uint32
}

// ExtentsOf are the extents of columns of a block.
func ExtentsOf(columns []BlockColumn) []ColumnExtent {
	out := make([]ColumnExtent, len(columns))
	for i, c := range columns {
		out[i] = ColumnExtent{Name: c.Name, Offset: uint32(c.Offset), Length: uint32(c.Length)}
	}
	return out
}

const extentEntry = 2 + 4 + 4

func (c *cursor) columnIndex(blocks int) *ColumnIndex {
	if c.Err != nil {
		return nil
	}
	defer c.In("column index")
	if int64(blocks)*4 > int64(c.Left()) {
		c.Fail("", fault.Corruptf("%d blocks in %d bytes", blocks, c.Left()))
		return nil
	}
	x := &ColumnIndex{base: c.Offset(), offsets: make([]uint32, blocks)}
	start := c.Pos
	c.Each("block", blocks, func(i int) {
		if int64(c.Pos-start) > maxOffset {
			c.Fail("", fault.Limitf("more than %d bytes", int64(maxOffset)))
		}
		x.offsets[i] = uint32(c.Pos - start)
		c.extents(nil)
	})
	if c.Err != nil {
		return nil
	}
	x.data = c.Data[start:c.Pos:c.Pos]
	return x
}

// extents reads the columns of a block, and calls found if that is not nil.
func (c *cursor) extents(found func(name []byte, offset, length uint32)) {
	for range c.Count("column count", extentEntry, MaxColumns) {
		name := c.Name(column.MaxNameLen)
		offset := c.U32("offset")
		length := c.U32("length")
		if c.Err != nil {
			return
		}
		if found != nil {
			found(name, offset, length)
		}
	}
}

// Block gives the extents of the columns of a block; nil if the file does not tell.
func (x *ColumnIndex) Block(block int) ([]ColumnExtent, error) {
	start := int64(x.offsets[block])
	c := cursor{fields.Cursor{Data: x.data[start:], Base: x.base + start}}
	var list []ColumnExtent
	c.extents(func(name []byte, offset, length uint32) {
		list = append(list, ColumnExtent{string(name), offset, length})
	})
	c.In("column index/block %d", block)
	return list, c.Err
}

// Column gives the extent of the first column of a name in a block, without a look at the others. ok is false if the
// file does not tell.
func (x *ColumnIndex) Column(block int, name string) (extent ColumnExtent, ok bool) {
	start := int64(x.offsets[block])
	c := cursor{fields.Cursor{Data: x.data[start:], Base: x.base + start}}
	c.extents(func(n []byte, offset, length uint32) {
		if !ok && string(n) == name {
			extent, ok = ColumnExtent{name, offset, length}, true
		}
	})
	return extent, ok && c.Err == nil
}

// AppendColumnIndex appends a column index: the extents in each block.
func AppendColumnIndex(dst []byte, blocks [][]ColumnExtent) []byte {
	for _, columns := range blocks {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(columns)))
		for _, e := range columns {
			dst = binary.LittleEndian.AppendUint16(dst, uint16(len(e.Name)))
			dst = append(dst, e.Name...)
			dst = binary.LittleEndian.AppendUint32(dst, e.Offset)
			dst = binary.LittleEndian.AppendUint32(dst, e.Length)
		}
	}
	return dst
}
