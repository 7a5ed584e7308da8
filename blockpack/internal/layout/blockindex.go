package layout

import (
	"bytes"
	"encoding/binary"
	"iter"
	"slices"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Block is an entry of the block index.
//
//	┃ offset u64 ┃ length u64 ┃ kind u8 (from version 11) ┃ span count u32 ┃ min start u64 ┃ max start u64
//	┃ min trace id [16] ┃ max trace id [16] ┃ names [32] ┃ value stats ┃
type Block struct {
	Offset, Length int64
	Kind           uint8 // 0: a block of spans. Others keep their number, but are skipped
	Spans          int
	MinStart       uint64 // nanoseconds since 1970
	MaxStart       uint64 // both 0: unknown
	MinTrace       TraceID
	MaxTrace       TraceID
	Names          NameBloom
	Values         ValueStatsList
}

// HasSpans reports whether the block is one of spans.
func (b *Block) HasSpans() bool { return b.Kind == 0 }

// MayHaveTrace reports whether the bounds of the block allow a trace. Two zeros are no bounds.
func (b *Block) MayHaveTrace(id TraceID) bool {
	if b.MinTrace == (TraceID{}) && b.MaxTrace == (TraceID{}) {
		return true
	}
	return bytes.Compare(b.MinTrace[:], id[:]) <= 0 && bytes.Compare(id[:], b.MaxTrace[:]) <= 0
}

// MayStart reports whether the bounds of the block allow a span that starts in [from, to], in nanoseconds.
func (b *Block) MayStart(from, to uint64) bool {
	return b.MinStart == 0 && b.MaxStart == 0 || b.MinStart <= to && from <= b.MaxStart
}

// blockEntry is the size of the fixed part of an entry.
func blockEntry(version uint8, v Variant) int {
	n := 8 + 8 + 4 + 8 + 8 + 16 + 16
	if version >= Version11 {
		n++
	}
	if !v.NoNames {
		n += len(NameBloom{})
	}
	if !v.NoValueStats {
		n++
	}
	return n
}

func (c *cursor) blockIndex(version uint8, v Variant, dataEnd int64) []Block {
	defer c.In("block index")
	n := c.Count("block count", blockEntry(version, v), MaxBlocks)
	blocks := make([]Block, n)
	c.Each("block", n, func(i int) { c.blockEntry(&blocks[i], version, v, dataEnd) })
	if c.Err != nil {
		return nil
	}
	c.noOverlap(blocks)
	return blocks
}

func (c *cursor) blockEntry(b *Block, version uint8, v Variant, dataEnd int64) {
	b.Offset, b.Length = c.Extent("block", dataEnd)
	if b.Length > MaxBlockBytes {
		c.Fail("length", fault.Limitf("a block of %d bytes is larger than the limit of %d", b.Length, MaxBlockBytes))
	}
	if version >= Version11 {
		b.Kind = c.U8("kind")
	}
	b.Spans = c.Limited("span count", MaxSpans)
	b.MinStart = c.U64("min start")
	b.MaxStart = c.U64("max start")
	b.MinTrace = c.id("min trace id")
	b.MaxTrace = c.id("max trace id")
	if !v.NoNames {
		if p := c.Take("names", len(b.Names)); p != nil {
			b.Names = NameBloom(p)
			c.Note(len(p), "names", fields.Hex(p))
		}
	}
	if !v.NoValueStats {
		b.Values = c.valueStats()
	}
}

// noOverlap checks that blocks share no bytes. Most writers write them in order.
func (c *cursor) noOverlap(blocks []Block) {
	byOffset := func(a, b Block) int { return int(min(max(a.Offset-b.Offset, -1), 1)) }
	if !slices.IsSortedFunc(blocks, byOffset) {
		blocks = slices.Clone(blocks)
		slices.SortFunc(blocks, byOffset)
	}
	end := int64(0)
	for _, b := range blocks {
		if b.Length == 0 {
			continue
		}
		if b.Offset < end {
			c.Fail("", fault.Corruptf("a block begins at %d, another one ends at %d", b.Offset, end))
			return
		}
		end = b.Offset + b.Length
	}
}

// AppendBlockIndex appends the block index of version 11.
func AppendBlockIndex(dst []byte, blocks []Block) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(blocks)))
	for i := range blocks {
		b := &blocks[i]
		dst = binary.LittleEndian.AppendUint64(dst, uint64(b.Offset))
		dst = binary.LittleEndian.AppendUint64(dst, uint64(b.Length))
		dst = append(dst, b.Kind)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(b.Spans))
		dst = binary.LittleEndian.AppendUint64(dst, b.MinStart)
		dst = binary.LittleEndian.AppendUint64(dst, b.MaxStart)
		dst = append(dst, b.MinTrace[:]...)
		dst = append(dst, b.MaxTrace[:]...)
		dst = append(dst, b.Names[:]...)
		if len(b.Values) == 0 {
			dst = append(dst, 0)
		}
		dst = append(dst, b.Values...)
	}
	return dst
}

// ValueStatsList are the bounds of columns in a block, as stored; empty for none.
//
//	┃ count u8 ┃ name length u16 ┃ name ┃ type u8 ┃ min ┃ max ┃ name length …
//
//	type      min, max
//	0 None    nothing
//	1 String  length u32, bytes
//	2 Int64   i64
//	3 Float64 IEEE bits u64
//	4 Bool    u8
type ValueStatsList []byte

// ValueStats are bounds of a column in a block.
type ValueStats struct {
	Name     string
	Known    bool // Min and Max are bounds. A column of unknown bounds may have any values
	Min, Max column.Value
}

var valueStatsTypes = []column.Type{1: column.String, 2: column.Int64, 3: column.Float64, 4: column.Bool}

func (c *cursor) valueStats() ValueStatsList {
	start := c.Pos
	n := int(c.U8("value stats"))
	for i := 0; i < n && c.Err == nil; i++ {
		c.valueStatsEntry()
		c.In("value stats %d", i)
	}
	if c.Err != nil || n == 0 {
		return nil
	}
	return c.Data[start:c.Pos:c.Pos]
}

func (c *cursor) valueStatsEntry() (s ValueStats) {
	name := c.Name(column.MaxNameLen)
	t := int(c.U8("type"))
	if t == 0 || c.Err != nil {
		return s
	}
	if t >= len(valueStatsTypes) {
		c.Refuse(1, "type", fault.Corruptf("%d is no type of value stats", t))
		return s
	}
	s.Name = string(name)
	s.Min, s.Max, s.Known = column.ReadBounds(&c.Cursor, valueStatsTypes[t])
	return s
}

// All gives the bounds in the order of the file.
func (l ValueStatsList) All() iter.Seq[ValueStats] {
	return func(yield func(ValueStats) bool) {
		c := cursor{fields.Cursor{Data: l}}
		for range c.U8("") {
			if s := c.valueStatsEntry(); c.Err != nil || !yield(s) {
				return
			}
		}
	}
}
