package layout

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// maxOffset is the largest offset in a structure that is kept as 32 bits.
const maxOffset = math.MaxUint32

// TraceIndex finds the rows of traces. Its methods may be called concurrently.
//
//	┃ format version u8 ┃ trace count u32 ┃ for each trace, ascending
//	    ┃ trace id [16] ┃ block count u16 ┃ for each block
//	        ┃ block id u16 ┃ row count u16 ┃ rows u16… ┃        version 1
//	        ┃ block id u16 ┃                                    version 2: rows are to be looked for
type TraceIndex struct {
	data    []byte // of the entries
	base    int64
	count   int
	version uint8
	blocks  int // blocks of the file

	// Offsets of entries in data, made by the first lookup. They are in the order of ids.
	once    sync.Once
	offsets []uint32
}

// TraceBlock is a block with spans of a trace.
type TraceBlock struct {
	Block int
	Rows  Rows // nil if the index has no rows
}

// Rows are numbers of rows of a block, as stored: 16 bits each, little-endian.
type Rows []byte

// Len is the number of rows.
func (r Rows) Len() int { return len(r) / 2 }

// At is row i of them.
func (r Rows) At(i int) int { return int(binary.LittleEndian.Uint16(r[2*i:])) }

// String is for people: "3, 7, 8".
func (r Rows) String() string {
	return fields.Numbers(r.Len(), func(i int) uint64 { return uint64(r.At(i)) })
}

const traceEntry = 16 + 2 // bytes of an entry without blocks

// traceIndex reads an index up to its end.
func (c *cursor) traceIndex(blocks int) *TraceIndex {
	if c.Err != nil {
		return nil
	}
	defer c.In("trace index")
	v := c.OneOf("format version", TraceVersion, TraceVersion2)
	n := c.Count("trace count", traceEntry, math.MaxInt32)
	if c.Err == nil && int64(c.Left()) > maxOffset {
		c.Fail("", fault.Limitf("the index has %d bytes, more than the %d that its offsets can reach", c.Left(), int64(maxOffset)))
	}
	if c.Err != nil {
		return nil
	}
	x := &TraceIndex{data: c.Data[c.Pos:], base: c.Offset(), count: n, version: v, blocks: blocks}
	start := c.Pos
	c.Each("trace", x.count, func(int) {
		if end, ok := x.skip(c.Pos - start); ok && c.Parts == nil {
			c.Pos = start + end
			return
		}
		c.traceEntry(x, nil)
	})
	if c.Err != nil {
		return nil
	}
	x.data = c.Data[start:c.Pos:c.Pos]
	return x
}

// traceEntry reads an entry, and calls found for its blocks if that is not nil.
func (c *cursor) traceEntry(x *TraceIndex, found func(TraceBlock)) {
	c.id("trace id")
	for range c.U16("block count") {
		block := int(c.U16("block id"))
		if block >= x.blocks {
			c.Refuse(2, "block id", fault.Corruptf("%d in a file of %d blocks", block, x.blocks))
		}
		var rows Rows
		if x.version == TraceVersion {
			rows = c.rows("rows")
		}
		if c.Err != nil {
			return
		}
		if found != nil {
			found(TraceBlock{block, rows})
		}
	}
}

// rows reads a number of rows, and the rows.
func (c *cursor) rows(label string) Rows {
	var rows Rows
	c.Unlisted(func() { rows = c.Take(label, 2*int(c.U16(label))) })
	if c.Parts != nil {
		c.Note(2+len(rows), label, rows)
	}
	return rows
}

// Len is the number of entries.
func (x *TraceIndex) Len() int { return x.count }

// HasRows is false if entries have only blocks, in which rows are to be looked for.
func (x *TraceIndex) HasRows() bool { return x.version == TraceVersion }

// entries are the offsets of the entries, which are sorted unless the file has them in order.
func (x *TraceIndex) entries() []uint32 {
	x.once.Do(func() {
		offsets := make([]uint32, x.count)
		sorted := true
		pos := 0
		for i := range offsets {
			offsets[i] = uint32(pos)
			sorted = sorted && (i == 0 || bytes.Compare(x.id(offsets[i-1]), x.id(offsets[i])) <= 0)
			pos, _ = x.skip(pos)
		}
		if !sorted {
			slices.SortStableFunc(offsets, func(a, b uint32) int { return bytes.Compare(x.id(a), x.id(b)) })
		}
		x.offsets = offsets
	})
	return x.offsets
}

// skip gives the end of the entry at pos. It is traceEntry for the many entries that only have to be right.
func (x *TraceIndex) skip(pos int) (end int, ok bool) {
	if len(x.data)-pos < traceEntry {
		return 0, false
	}
	n := int(binary.LittleEndian.Uint16(x.data[pos+16:]))
	pos += traceEntry
	if x.version != TraceVersion {
		for ; n > 0; n-- {
			if len(x.data)-pos < 2 || int(binary.LittleEndian.Uint16(x.data[pos:])) >= x.blocks {
				return 0, false
			}
			pos += 2
		}
		return pos, true
	}
	for ; n > 0; n-- {
		if len(x.data)-pos < 4 {
			return 0, false
		}
		head := binary.LittleEndian.Uint32(x.data[pos:])
		pos += 4 + 2*int(head>>16)
		if pos > len(x.data) || int(head&0xffff) >= x.blocks {
			return 0, false
		}
	}
	return pos, true
}

// id is the trace id of the entry at an offset.
func (x *TraceIndex) id(offset uint32) []byte { return x.data[offset : int(offset)+16] }

// Lookup appends the blocks of a trace to dst: ascending, each once, with ascending rows.
func (x *TraceIndex) Lookup(dst []TraceBlock, id TraceID) []TraceBlock {
	start := len(dst)
	for i := x.search(id[:]); x.has(i, id[:]); i++ {
		dst = x.entry(dst, x.offsets[i])
		if len(dst)-start > 2*MaxIndexed { // the trace is there many times
			dst = dst[:start+len(tidy(dst[start:]))]
		}
	}
	return dst[:start+len(tidy(dst[start:]))]
}

// Find gives the number of the entry of a trace, in the order of ids; -1 if there is none.
func (x *TraceIndex) Find(id []byte) int {
	if i := x.search(id); x.has(i, id) {
		return i
	}
	return -1
}

// OfRows gives for each row of the file, of which blocks begin at firstRows, one more than the number of the entry of its trace; 0 where the index has none.
func (x *TraceIndex) OfRows(firstRows []int64) []uint32 {
	of := make([]uint32, firstRows[len(firstRows)-1])
	for i, pos := range x.entries() {
		at := x.data[pos+traceEntry-2:]
		n := binary.LittleEndian.Uint16(at)
		for at = at[2:]; n > 0; n-- {
			head := binary.LittleEndian.Uint32(at)
			block, size := head&0xffff, 2*int(head>>16)
			rows := of[firstRows[block]:firstRows[block+1]]
			for list := at[4 : 4+size]; len(list) > 0; list = list[2:] {
				if row := int(binary.LittleEndian.Uint16(list)); row < len(rows) {
					rows[row] = uint32(i) + 1
				}
			}
			at = at[4+size:]
		}
	}
	return of
}

// ID is the trace id of the entry of a number.
func (x *TraceIndex) ID(i int) []byte { return x.id(x.offsets[i]) }

// search gives the number of the first entry whose id is not less.
func (x *TraceIndex) search(id []byte) int {
	offsets := x.entries()
	return sort.Search(len(offsets), func(i int) bool { return bytes.Compare(x.id(offsets[i]), id) >= 0 })
}

// has tells whether an entry is of a trace.
func (x *TraceIndex) has(i int, id []byte) bool {
	return i < len(x.offsets) && bytes.Equal(x.id(x.offsets[i]), id)
}

// entry appends the blocks of an entry, which was read before without an error.
func (x *TraceIndex) entry(dst []TraceBlock, offset uint32) []TraceBlock {
	c := cursor{fields.Cursor{Data: x.data[offset:], Base: x.base + int64(offset)}}
	c.traceEntry(x, func(b TraceBlock) { dst = append(dst, b) })
	return dst
}

// tidy sorts blocks and rows, and joins those of one block.
func tidy(list []TraceBlock) []TraceBlock {
	byBlock := func(a, b TraceBlock) int { return cmp.Compare(a.Block, b.Block) }
	if !slices.IsSortedFunc(list, byBlock) {
		slices.SortStableFunc(list, byBlock)
	}
	n := 0
	for _, b := range list {
		if n > 0 && list[n-1].Block == b.Block {
			list[n-1].Rows = append(list[n-1].Rows, b.Rows...) // a copy: there is no room behind them
			continue
		}
		list[n] = b
		n++
	}
	for i := range list[:n] {
		list[i].Rows = list[i].Rows.sorted()
	}
	return list[:n]
}

// sorted gives the rows ascending, each once: the same memory if they are so.
func (r Rows) sorted() Rows {
	ok := true
	for i := 1; i < r.Len() && ok; i++ {
		ok = r.At(i-1) < r.At(i)
	}
	if ok {
		return r
	}
	rows := make([]uint16, r.Len())
	for i := range rows {
		rows[i] = uint16(r.At(i))
	}
	slices.Sort(rows)
	var out Rows
	for _, row := range slices.Compact(rows) {
		out = binary.LittleEndian.AppendUint16(out, row)
	}
	return out
}

// All gives the entries by ascending id. The list of blocks is valid until the next one.
func (x *TraceIndex) All() iter.Seq2[TraceID, []TraceBlock] {
	return func(yield func(TraceID, []TraceBlock) bool) {
		var list []TraceBlock
		for _, offset := range x.entries() {
			list = x.entry(list[:0], offset)
			if !yield(TraceID(x.id(offset)), list) {
				return
			}
		}
	}
}
