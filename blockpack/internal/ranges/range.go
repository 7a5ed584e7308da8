// Package ranges is the range index of a Blockpack file, which tells the blocks of values: parsed, looked up in, and built.
package ranges

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"sync"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Index tells the blocks of values. Its methods may be called concurrently.
//
//	┃ column count u32 ┃ for each column
//	    ┃ name length u16 ┃ name ┃ type u8 ┃ min i64 ┃ max i64 ┃ boundary count u32 ┃ boundaries i64…
//	    ┃ typed boundary count u32 ┃ typed boundaries… ┃ key count u32 ┃ for each key
//	        ┃ key ┃ block count u32 ┃ block ids u32… ┃
//
// A key is the lower bound of a bucket, which ends at the next key:
//
//	RangeInt64, RangeUint64, RangeDuration, RangeFloat64   ┃ 8 u8 ┃ 64 bits ┃
//	RangeString, RangeBytes, String, Bytes                 ┃ length u32 ┃ bytes ┃
//	Int64, Uint64, Float64                                 ┃ 64 bits ┃
//	Bool                                                   ┃ u8 ┃
//
// Values may be missing in the indexes that other writers made, as their keys are not always lower bounds. So an
// index is believed only if it has the mark of our writer.
type Index struct {
	data    []byte // of all columns
	base    int64
	offsets []uint32 // of columns in data
	blocks  int      // of the file
	flags   bool     // of Parse
	mark    string

	mu    sync.Mutex
	known map[string]*Column // by Column; nil values: names of no column, or of several
}

// Names of columns without values, whose typed boundaries have another meaning.
const (
	MarkColumn    = "file:writer"  // the module and version of the writer
	ColumnsColumn = "file:columns" // the columns of the file
	TracesColumn  = "file:traces"  // the sections with summaries of traces: "offset length"
	TreesColumn   = "file:trees"   // likewise, those with the places of spans in the trees of their traces
	SumColumn     = "file:sum"     // the checksum of the trace index, CRC-32C
)

var pseudoColumns = []string{MarkColumn, ColumnsColumn, TracesColumn, TreesColumn, SumColumn}

// Column is a column of the range index.
type Column struct {
	Name     string
	Type     column.Type // as stored
	Min, Max int64       // as stored: in files of other writers no bounds
	Keys     int         // number of keys

	boundaries []byte // 8 bytes each
	typed      []byte
	typedCount int
	data       []byte // the keys and their blocks
	base       int64
	blocks     int // of the file

	once    sync.Once
	offsets []uint32 // of keys in data, ascending by key
	err     error
}

// Limits of the format, and of what is kept as 32 bits.
const (
	maxKey    = 50 // bytes of a String or Bytes key
	maxOffset = math.MaxUint32
)

const (
	rangeColumnEntry = 2 + 1 + 8 + 8 + 4 + 4 + 4
	rangeKeyEntry    = 1 + 4
)

// Parse reads an index of a file with some blocks. With flags, columns have a byte behind their type, as in the diagram of the specification. The error
// is that of the cursor.
func Parse(c *fields.Cursor, blocks int, flags bool) *Index {
	if c.Err != nil {
		return nil
	}
	defer c.In("range index")
	n := c.Count("column count", rangeColumnEntry, math.MaxInt32)
	if c.Err == nil && int64(c.Left()) > maxOffset {
		c.Fail("", fault.Limitf("the index has %d bytes, more than the %d that its offsets can reach", c.Left(), int64(maxOffset)))
	}
	x := &Index{base: c.Offset(), offsets: make([]uint32, n), blocks: blocks, flags: flags, known: map[string]*Column{}}
	start := c.Pos
	c.Each("column", n, func(i int) {
		x.offsets[i] = uint32(c.Pos - start)
		readColumn(c, blocks, flags)
	})
	if c.Err != nil {
		return nil
	}
	x.data = c.Data[start:c.Pos:c.Pos]
	x.mark = x.text(MarkColumn)
	return x
}

func readColumn(c *fields.Cursor, blocks int, flags bool) *Column {
	name := c.Name(column.MaxNameLen)
	col := &Column{Name: string(name), blocks: blocks}
	col.Type = column.ReadType(c)
	if flags {
		if flag := c.U8("has buckets"); flag != 1 {
			c.Refuse(1, "has buckets", fault.Corruptf("%d where 1 is expected", flag))
		}
	}
	col.Min = int64(c.U64("min"))
	col.Max = int64(c.U64("max"))
	n := c.Count("boundary count", 8, math.MaxInt32)
	col.boundaries = c.Take("boundaries", 8*n)
	noteValues(c, col)
	typedBoundaries(c, col)
	skipKeys(c, col)
	return col
}

// noteValues lists the boundaries.
func noteValues(c *fields.Cursor, col *Column) {
	if c.Parts != nil && len(col.boundaries) > 0 && c.Err == nil {
		first := column.Value{Type: col.number(), Bits: binary.LittleEndian.Uint64(col.boundaries)}
		last := column.Value{Type: col.number(), Bits: binary.LittleEndian.Uint64(col.boundaries[len(col.boundaries)-8:])}
		c.Note(len(col.boundaries), "boundaries", first.String()+" to "+last.String())
	}
}

// number is the type of boundaries: those of strings are zeros.
func (col *Column) number() column.Type {
	if col.Type.Textual() {
		return column.Int64
	}
	return col.Type.Base()
}

func typedBoundaries(c *fields.Cursor, col *Column) {
	size := 0
	switch t := col.Type.Base(); {
	case col.Type.Textual():
		size = 4
	case t == column.Float64:
		size = 8
	}
	col.typedCount = c.Count("typed boundary count", size, math.MaxInt32)
	if size == 0 && col.typedCount > 0 {
		c.Refuse(4, "typed boundary count", fault.Corruptf("%d in a column of type %v, which has none", col.typedCount, col.Type))
		return
	}
	start := c.Pos
	for i := 0; i < col.typedCount && c.Err == nil; i++ {
		if size == 4 {
			c.Block("typed boundary")
		} else {
			column.ReadValue(c, "typed boundary", column.Float64)
		}
	}
	if c.Err == nil {
		col.typed = c.Data[start:c.Pos:c.Pos]
	}
}

// skipKeys skips the keys of a column.
func skipKeys(c *fields.Cursor, col *Column) {
	col.Keys = c.Count("key count", rangeKeyEntry, math.MaxInt32)
	start := c.Pos
	col.base = c.Offset()
	for i := 0; i < col.Keys && c.Err == nil; i++ {
		readKey(c, col.Type)
		blockIDs(c)
		c.In("key %d", i)
	}
	if c.Err == nil {
		col.data = c.Data[start:c.Pos:c.Pos]
	}
}

// readKey reads a key. ok is false for one of another size than the type has, as in old files.
func readKey(c *fields.Cursor, t column.Type) (v column.Value, ok bool) {
	base := t.Base()
	if t.Textual() || t == base {
		return column.ReadValue(c, "key", base), true
	}
	var b []byte
	c.Unlisted(func() { b = c.Take("key", int(c.U8("key length"))) })
	if len(b) != 8 {
		c.NoteBytes(1+len(b), "key", b)
		return column.Value{}, false
	}
	v = column.Value{Type: base, Bits: binary.LittleEndian.Uint64(b)}
	if c.Parts != nil {
		c.Note(9, "key", v)
	}
	return v, true
}

// blockIDs reads the blocks of a key, 32 bits each.
func blockIDs(c *fields.Cursor) (ids []byte) {
	c.Unlisted(func() { ids = c.Take("block ids", 4*c.Count("block count", 4, math.MaxInt32)) })
	if c.Parts != nil {
		c.Note(4+len(ids), "blocks", fields.Numbers(len(ids)/4, func(i int) uint64 { return uint64(binary.LittleEndian.Uint32(ids[4*i:])) }))
	}
	return ids
}

// Mark is the text of the mark of our writer, "module/version"; "" in files of other writers.
func (x *Index) Mark() string { return x.mark }

// Sum is the text of the checksum of the trace index; "" if there is none.
func (x *Index) Sum() string { return x.text(SumColumn) }

// text is the only text of a pseudo column.
func (x *Index) text(name string) (text string) {
	if m := x.Column(name); m != nil && m.Keys == 0 && m.typedCount == 1 {
		for v := range m.TypedBoundaries() {
			text = string(v.Data)
		}
	}
	return text
}

// maxKnown is the number of names that a range index keeps.
const maxKnown = 1 << 14

// All gives the columns in the order of the file.
func (x *Index) All() iter.Seq[*Column] {
	return func(yield func(*Column) bool) {
		for i := range x.offsets {
			if !yield(x.at(i)) {
				return
			}
		}
	}
}

// at parses column i again, which was parsed before without an error.
func (x *Index) at(i int) *Column {
	c := &fields.Cursor{Data: x.data[x.offsets[i]:], Base: x.base + int64(x.offsets[i])}
	return readColumn(c, x.blocks, x.flags)
}

// Column gives the column of a name; nil if there is none, or more than one.
func (x *Index) Column(name string) *Column {
	x.mu.Lock()
	defer x.mu.Unlock()
	col, ok := x.known[name]
	if ok {
		return col
	}
	found := 0
	for i, offset := range x.offsets {
		c := &fields.Cursor{Data: x.data[offset:]}
		if string(c.Name(column.MaxNameLen)) == name {
			found++
			col = x.at(i)
		}
	}
	if found != 1 {
		col = nil
	}
	if len(x.known) < maxKnown {
		x.known[name] = col
	}
	return col
}

// Sizes are the numbers of boundaries and typed boundaries, and the bytes of the column in the index.
func (col *Column) Sizes() (boundaries, typed int, bytes int64) {
	n := rangeColumnEntry + len(col.Name) + len(col.boundaries) + len(col.typed) + len(col.data)
	return len(col.boundaries) / 8, col.typedCount, int64(n)
}

// Stored are the bounds as stored: in files of other writers they are none. Those of strings are zeros.
func (col *Column) Stored() (lo, hi column.Value) {
	return column.Value{Type: col.number(), Bits: uint64(col.Min)}, column.Value{Type: col.number(), Bits: uint64(col.Max)}
}

// TypedBoundaries gives the typed boundaries of a column.
func (col *Column) TypedBoundaries() iter.Seq[column.Value] {
	return func(yield func(column.Value) bool) {
		c := &fields.Cursor{Data: col.typed}
		for range col.typedCount {
			if !yield(column.ReadValue(c, "", col.Type.Base())) {
				return
			}
		}
	}
}

// Extent is a part of a file.
type Extent struct{ Offset, Length int64 }

// SectionNames are the names of sections, by the pseudo columns that list them, in the order of the file.
var SectionNames = []SectionName{Summaries, Trees}

// SectionName names a kind of sections.
type SectionName struct{ Column, Name string }

// The kinds of sections.
var (
	Summaries = SectionName{TracesColumn, "summary of traces"}
	Trees     = SectionName{TreesColumn, "trees of traces"}
)

// Sections are parts of a file that no structure of the specification refers to, by the pseudo column that lists them.
type Sections map[string][]Extent

// Sections gives the extents of the sections that a pseudo column of a file with our mark lists.
func (x *Index) Sections(name string) (list []Extent, err error) {
	col := x.Column(name)
	if x.mark == "" || col == nil || !col.Type.Textual() || col.typedCount > maxFileColumns {
		return nil, nil
	}
	for v := range col.TypedBoundaries() {
		var e Extent
		if _, err := fmt.Sscanf(string(v.Data), "%d %d", &e.Offset, &e.Length); err != nil || e.Offset < 0 || e.Length < 0 {
			return nil, fault.In(fault.Corruptf("extent %q of a section", v.Data), "range index/"+name, x.base)
		}
		list = append(list, e)
	}
	return list, nil
}

// maxFileColumns is beyond what any schema can have.
const maxFileColumns = 1 << 20

// FileColumns gives the columns of a file with our mark; ok is false if it does not list them.
func (x *Index) FileColumns() (list []column.Field, ok bool) {
	col := x.Column(ColumnsColumn)
	if x.mark == "" || col == nil || !col.Type.Textual() || col.typedCount > maxFileColumns {
		return nil, false
	}
	for v := range col.TypedBoundaries() {
		if len(v.Data) < 2 || v.Data[0] < '0' || v.Data[0] > '0'+byte(column.Bytes) {
			return nil, false
		}
		list = append(list, column.Field{Name: string(v.Data[2:]), Type: column.Type(v.Data[0] - '0'), Flags: column.Traits(v.Data[1] - '0')})
	}
	return list, true
}
