package layout

import (
	"encoding/binary"
	"slices"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// BlockHead is the start of a block: its header, and the metadata of its columns. The stats and data of columns
// follow, and at the end of the block maybe a trace table.
//
//	┃ magic u32 ┃ version u8 ┃ 0 [3] ┃ span count u32 ┃ column count u32 ┃ trace count u32 ┃ trace table length u32
//	┃ for each column  ┃ name length u16 ┃ name ┃ type u8 ┃ data offset, length u64 ┃ stats offset, length u64 ┃
type BlockHead struct {
	Version          uint8
	Spans            int
	Traces           int   // 0: no trace table
	TraceTableLength int64 // bytes at the end of the block
	Columns          []BlockColumn
	Size             int64 // of the header and the metadata of columns
	Length           int64 // of the block
}

// BlockColumn is the metadata of a column in a block. Offsets are from the start of the block.
type BlockColumn struct {
	Name        string
	Type        column.Type // as stored
	Offset      int64
	Length      int64 // 0: a column of the trace table
	StatsOffset int64
	StatsLength int64 // 0: nothing is known
}

// Key is the name and base type of the column.
func (c *BlockColumn) Key() column.Key { return column.Key{Name: c.Name, Type: c.Type.Base()} }

const (
	blockColumnEntry = 2 + 1 + 4*8
	usualName        = 24 // bytes, to guess the size of a head
)

// ParseBlockHead parses the start of a block of length bytes at an offset of the file. If data, from the start of the
// block, end before the head does, head is nil, and need is the number of bytes to call it again with.
func ParseBlockHead(data []byte, offset, length int64) (head *BlockHead, need int64, err error) {
	c := &cursor{fields.Cursor{Data: data, Base: offset}}
	if int64(len(data)) < length {
		if need := headSize(data); need > int64(len(data)) {
			return nil, min(need, length), nil
		}
	}
	head = c.blockHead(length)
	return head, 0, fault.In(c.Err, "block head", offset)
}

// ReadBlockHead reads the head of a block, with the stats in front of the data of columns. read gives the beginning of the block, of which the first
// call asks for some bytes.
func ReadBlockHead(b *Block, first int64, read func(n int64) ([]byte, error)) (*BlockHead, []byte, error) {
	for n := min(first, b.Length); ; {
		data, err := read(n)
		if err != nil {
			return nil, nil, err
		}
		h, need, err := ParseBlockHead(data, b.Offset, b.Length)
		if err != nil {
			return nil, nil, err
		}
		if h != nil {
			need = min(h.StatsEnd(), b.Length)
		}
		if h != nil && need <= int64(len(data)) {
			return h, data[:need], nil
		}
		if need <= int64(len(data)) {
			return nil, nil, fault.In(fault.Corruptf("block of %d bytes ends in its head", b.Length), "block header", b.Offset)
		}
		n = need
	}
}

// headSize is the size of the head that begins with data, or a guess that is more than len(data). What is not right
// counts as the end: parsing finds it again.
func headSize(data []byte) int64 {
	if len(data) < BlockHeadSize {
		return BlockHeadSize + 16*(blockColumnEntry+usualName)
	}
	columns := int64(binary.LittleEndian.Uint32(data[12:]))
	if columns > MaxColumns {
		return 0
	}
	pos := int64(BlockHeadSize)
	for i := range columns {
		if int64(len(data)) < pos+2 {
			return pos + (columns-i)*(blockColumnEntry+usualName)
		}
		pos += blockColumnEntry + int64(binary.LittleEndian.Uint16(data[pos:]))
	}
	return pos
}

func (c *cursor) blockHead(length int64) *BlockHead {
	c.Magic(Magic)
	h := &BlockHead{Version: c.OneOf("version", Version10, Version11), Length: length}
	if b := c.Take("reserved", 3); b != nil {
		c.Note(3, "reserved", fields.Hex(b))
	}
	h.Spans = c.Limited("span count", MaxSpans)
	columns := c.Limited("column count", MaxColumns)
	h.Traces = c.Limited("trace count", MaxTraces)
	h.TraceTableLength = int64(c.Limited("trace table length", min(length, MaxBlockBytes)))
	if int64(columns)*blockColumnEntry > int64(c.Left()) {
		c.Fail("columns", fault.Corruptf("%d in %d bytes", columns, c.Left()))
	}
	if c.Err != nil {
		return nil
	}
	h.Columns = make([]BlockColumn, columns)
	c.Each("column", columns, func(i int) {
		col := &h.Columns[i]
		col.Name = string(c.Name(column.MaxNameLen))
		col.Type = column.ReadType(&c.Cursor)
		col.Offset, col.Length = c.Extent("data", length)
		col.StatsOffset, col.StatsLength = c.Extent("stats", length)
	})
	if c.Err != nil {
		return nil
	}
	h.Size = int64(c.Pos)
	return h
}

// StatsEnd is the offset in the block behind the head and all stats before the data of columns: a reader that wants
// stats reads up to it. It is Size if stats are elsewhere.
func (h *BlockHead) StatsEnd() int64 {
	data := h.Length - h.TraceTableLength
	for i := range h.Columns {
		if c := &h.Columns[i]; c.Length > 0 {
			data = min(data, c.Offset)
		}
	}
	end := h.Size
	for i := range h.Columns {
		if c := &h.Columns[i]; c.StatsLength > 0 && c.StatsOffset+c.StatsLength <= data {
			end = max(end, c.StatsOffset+c.StatsLength)
		}
	}
	return end
}

// Column gives the number of the first column of a name and base type, or -1.
func (h *BlockHead) Column(name string, t column.Type) int {
	return slices.IndexFunc(h.Columns, func(c BlockColumn) bool { return c.Name == name && c.Type.Base() == t })
}

// Names are the names of all columns.
func (h *BlockHead) Names() []string {
	names := make([]string, len(h.Columns))
	for i := range names {
		names[i] = h.Columns[i].Name
	}
	return names
}

// TraceTable is the extent in the block of the trace table; length is 0 if there is none.
func (h *BlockHead) TraceTable() (offset, length int64) {
	if h.Traces == 0 {
		return h.Length, 0
	}
	return h.Length - h.TraceTableLength, h.TraceTableLength
}

// AppendBlockHead appends the head of a block without a trace table, and its stats. Of columns, Name, Type and Length
// are given, in the order of their data, which follow; it sets the offsets. stats has the bytes for each column, none
// if nothing is known.
func AppendBlockHead(dst []byte, spans int, columns []BlockColumn, stats [][]byte) ([]byte, error) {
	pos := int64(BlockHeadSize)
	for i := range columns {
		if len(columns[i].Name) > column.MaxNameLen {
			return dst, fault.Limitf("column %s: a name of %d bytes, at most %d are possible", fields.Quote([]byte(columns[i].Name)), len(columns[i].Name), column.MaxNameLen)
		}
		pos += blockColumnEntry + int64(len(columns[i].Name))
	}
	for i := range columns {
		columns[i].StatsOffset, columns[i].StatsLength = 0, int64(len(stats[i]))
		if len(stats[i]) > 0 {
			columns[i].StatsOffset = pos
			pos += int64(len(stats[i]))
		}
	}
	for i := range columns {
		columns[i].Offset = pos
		pos += columns[i].Length
	}
	if spans > MaxSpans || len(columns) > MaxColumns || pos > MaxBlockBytes {
		return dst, fault.Limitf("block of %d spans, %d columns and %d bytes, at most %d, %d and %d are possible", spans, len(columns), pos, MaxSpans, MaxColumns, MaxBlockBytes)
	}
	dst = binary.LittleEndian.AppendUint32(dst, Magic)
	dst = append(dst, Version11, 0, 0, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(spans))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(columns)))
	dst = binary.LittleEndian.AppendUint64(dst, 0) // no trace table
	for i := range columns {
		c := &columns[i]
		dst = binary.LittleEndian.AppendUint16(dst, uint16(len(c.Name)))
		dst = append(dst, c.Name...)
		dst = append(dst, byte(c.Type))
		for _, v := range []int64{c.Offset, c.Length, c.StatsOffset, c.StatsLength} {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(v))
		}
	}
	for _, s := range stats {
		dst = append(dst, s...)
	}
	return dst, nil
}

// ColumnStats are bounds of the values of a column in a block.
//
//	┃ has values u8 ┃ if 1: min ┃ max ┃       length u32 and bytes, 64 bits, or a byte for Bool
type ColumnStats struct {
	Known    bool // Min and Max are bounds. NaNs are not within them
	Empty    bool // the column has no values, it says; believe it only if no row is present
	Min, Max column.Value
}

// UUIDHint tells by the stats of a column of a type, which are taken before UUIDs are packed, whether they are.
func (s ColumnStats) UUIDHint(t column.Type) column.UUIDHint {
	switch {
	case !s.Known || t.Base() != column.String:
		return column.UUIDUnknown
	case isUUID(s.Min.Data) && isUUID(s.Max.Data):
		return column.UUIDPacked
	}
	return column.UUIDPlain
}

// isUUID reports whether a string is a UUID of 36 characters.
func isUUID(s []byte) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range s {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
		if dash && c != '-' || !dash && !hex {
			return false
		}
	}
	return true
}

// ParseColumnStats parses the stats of a column of type t. Range types are as their base types. No bytes mean that
// nothing is known.
func ParseColumnStats(data []byte, t column.Type) (ColumnStats, error) {
	c := &cursor{fields.Cursor{Data: data}}
	s := c.columnStats(t)
	return s, fault.In(c.Err, "stats", 0)
}

func (c *cursor) columnStats(t column.Type) (s ColumnStats) {
	if len(c.Data) == 0 {
		return s
	}
	switch has := c.U8("has values"); has {
	case 0:
		s.Empty = c.Err == nil
	case 1:
		s.Min, s.Max, s.Known = column.ReadBounds(&c.Cursor, t.Base())
	default:
		c.Refuse(1, "has values", fault.Corruptf("the mark is %d, neither 0 nor 1", has))
	}
	c.End("stats")
	if c.Err != nil {
		return ColumnStats{}
	}
	return s
}

// AppendColumnStats appends stats. Those that are neither known nor empty take no bytes.
func AppendColumnStats(dst []byte, s ColumnStats) []byte {
	switch {
	case s.Known:
		return s.Max.Append(s.Min.Append(append(dst, 1)))
	case s.Empty:
		return append(dst, 0)
	}
	return dst
}
