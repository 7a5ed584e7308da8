package layout

import (
	"bytes"
	"encoding/binary"
	"iter"
	"slices"

	"github.com/amudai/amudai-go/blockpack/internal/column"
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
	defer c.in("block index")
	n := c.count("block count", blockEntry(version, v), MaxBlocks)
	blocks := make([]Block, n)
	for i := range blocks {
		c.open("block", i)
		c.blockEntry(&blocks[i], version, v, dataEnd)
		c.close()
		if c.err != nil {
			c.in("block %d", i)
			return nil
		}
	}
	if c.err == nil {
		c.noOverlap(blocks)
	}
	return blocks
}

func (c *cursor) blockEntry(b *Block, version uint8, v Variant, dataEnd int64) {
	b.Offset, b.Length = c.extent("block", dataEnd)
	if b.Length > MaxBlockBytes {
		c.fail("length", fault.Limitf("%d bytes, at most %d are possible", b.Length, MaxBlockBytes))
	}
	if version >= Version11 {
		b.Kind = c.u8("kind")
	}
	spans := c.u32("span count")
	if spans > MaxSpans {
		c.pos -= 4
		c.fail("span count", fault.Limitf("%d, at most %d are possible", spans, MaxSpans))
	}
	b.Spans = int(spans)
	b.MinStart = c.u64("min start")
	b.MaxStart = c.u64("max start")
	b.MinTrace = c.id("min trace id")
	b.MaxTrace = c.id("max trace id")
	if !v.NoNames {
		if p := c.take("names", len(b.Names)); p != nil {
			b.Names = NameBloom(p)
			c.note(len(p), "names", hexBytes(p))
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
			c.fail("", fault.Corruptf("a block begins at %d, another one ends at %d", b.Offset, end))
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
	Min, Max Value
}

var valueStatsTypes = []column.Type{1: column.String, 2: column.Int64, 3: column.Float64, 4: column.Bool}

func (c *cursor) valueStats() ValueStatsList {
	start := c.pos
	n := int(c.u8("value stats"))
	for i := 0; i < n && c.err == nil; i++ {
		c.valueStatsEntry()
		c.in("value stats %d", i)
	}
	if c.err != nil || n == 0 {
		return nil
	}
	return c.data[start:c.pos:c.pos]
}

func (c *cursor) valueStatsEntry() (s ValueStats) {
	name := c.name()
	t := int(c.u8("type"))
	if t == 0 || c.err != nil {
		return s
	}
	if t >= len(valueStatsTypes) {
		c.pos--
		c.fail("type", fault.Corruptf("%d is no type of value stats", t))
		return s
	}
	s.Name = string(name)
	s.Min, s.Max, s.Known = c.bounds(valueStatsTypes[t])
	return s
}

// All gives the bounds in the order of the file.
func (l ValueStatsList) All() iter.Seq[ValueStats] {
	return func(yield func(ValueStats) bool) {
		c := cursor{data: l}
		for range c.u8("") {
			if s := c.valueStatsEntry(); c.err != nil || !yield(s) {
				return
			}
		}
	}
}

// AppendValueStats appends the bounds of columns of type String, Int64, Float64 or Bool. The format has room for 255
// of them, and no types for others.
func AppendValueStats(dst ValueStatsList, stats []ValueStats) (ValueStatsList, error) {
	if len(stats) > 255 {
		return dst, fault.Limitf("value stats of %d columns, at most 255 are possible", len(stats))
	}
	dst = append(dst, byte(len(stats)))
	for _, s := range stats {
		t := slices.Index(valueStatsTypes[1:], s.Min.Type) + 1
		if !s.Known {
			t = 0
		} else if t == 0 {
			return dst, fault.Unsupportedf("value stats of type %v", s.Min.Type)
		}
		if len(s.Name) > MaxNameLength {
			return dst, fault.Limitf("value stats: a name of %d bytes, at most %d are possible", len(s.Name), MaxNameLength)
		}
		dst = binary.LittleEndian.AppendUint16(dst, uint16(len(s.Name)))
		dst = append(dst, s.Name...)
		dst = append(dst, byte(t))
		if t > 0 {
			dst = appendBounds(dst, s.Min, s.Max)
		}
	}
	return dst, nil
}
