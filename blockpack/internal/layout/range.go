package layout

import (
	"encoding/binary"
	"iter"
	"math"
	"sync"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// RangeIndex tells the blocks of values. Its methods may be called concurrently.
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
// index is believed only if it has the mark of our writer, or the options say so.
type RangeIndex struct {
	data    []byte // of all columns
	base    int64
	offsets []uint32 // of columns in data
	blocks  int      // of the file
	variant Variant
	mark    string
	trusted bool

	mu    sync.Mutex
	known map[string]*RangeColumn // by Column; nil values: names of no column, or of several
}

// Names of columns without values, whose typed boundaries have another meaning.
const (
	MarkColumn    = "file:writer"  // the module and version of the writer
	ColumnsColumn = "file:columns" // the columns of the file
)

// RangeColumn is a column of the range index.
type RangeColumn struct {
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

const (
	rangeColumnEntry = 2 + 1 + 8 + 8 + 4 + 4 + 4
	rangeKeyEntry    = 1 + 4
)

func (c *cursor) rangeIndex(blocks int, v Variant, o Options) *RangeIndex {
	if c.err != nil {
		return nil
	}
	defer c.in("range index")
	n := c.count("column count", rangeColumnEntry, math.MaxInt32)
	if c.err == nil && int64(c.left()) > maxOffset {
		c.fail("", fault.Limitf("%d bytes, at most %d are possible", c.left(), int64(maxOffset)))
	}
	x := &RangeIndex{base: c.offset(), offsets: make([]uint32, n), blocks: blocks, variant: v, known: map[string]*RangeColumn{}}
	start := c.pos
	for i := range x.offsets {
		x.offsets[i] = uint32(c.pos - start)
		c.open("column", i)
		c.rangeColumn(blocks, v)
		c.close()
		if c.err != nil {
			c.in("column %d", i)
			return nil
		}
	}
	x.data = c.data[start:c.pos:c.pos]
	if m := x.Column(MarkColumn); m != nil && m.Keys == 0 && m.typedCount == 1 {
		for text := range m.TypedBoundaries() {
			x.mark = string(text.Data)
		}
	}
	x.trusted = (x.mark != "" || o.TrustRanges) && !o.IgnoreRanges
	return x
}

func (c *cursor) rangeColumn(blocks int, v Variant) *RangeColumn {
	name := c.name()
	col := &RangeColumn{Name: string(name), blocks: blocks}
	col.Type = c.columnType()
	if v.BucketsFlag {
		if flag := c.u8("has buckets"); flag != 1 && c.err == nil {
			c.pos--
			c.fail("has buckets", fault.Corruptf("%d where 1 is expected", flag))
		}
	}
	col.Min = int64(c.u64("min"))
	col.Max = int64(c.u64("max"))
	n := c.count("boundary count", 8, math.MaxInt32)
	col.boundaries = c.take("boundaries", 8*n)
	c.noteValues(col)
	c.typedBoundaries(col)
	c.keys(col)
	return col
}

// noteValues lists the boundaries.
func (c *cursor) noteValues(col *RangeColumn) {
	if c.parts != nil && len(col.boundaries) > 0 && c.err == nil {
		first := Value{Type: col.number(), Bits: binary.LittleEndian.Uint64(col.boundaries)}
		last := Value{Type: col.number(), Bits: binary.LittleEndian.Uint64(col.boundaries[len(col.boundaries)-8:])}
		c.note(len(col.boundaries), "boundaries", first.String()+" to "+last.String())
	}
}

// number is the type of boundaries: those of strings are zeros.
func (col *RangeColumn) number() column.Type {
	if col.Type.Textual() {
		return column.Int64
	}
	return col.Type.Base()
}

func (c *cursor) typedBoundaries(col *RangeColumn) {
	size := 0
	switch t := col.Type.Base(); {
	case col.Type.Textual():
		size = 4
	case t == column.Float64:
		size = 8
	}
	col.typedCount = c.count("typed boundary count", size, math.MaxInt32)
	if size == 0 && col.typedCount > 0 {
		c.pos -= 4
		c.fail("typed boundary count", fault.Corruptf("%d in a column of type %v, which has none", col.typedCount, col.Type))
		return
	}
	start := c.pos
	for i := 0; i < col.typedCount && c.err == nil; i++ {
		if size == 4 {
			c.block("typed boundary")
		} else {
			c.value("typed boundary", column.Float64)
		}
	}
	if c.err == nil {
		col.typed = c.data[start:c.pos:c.pos]
	}
}

// keys skips the keys of a column.
func (c *cursor) keys(col *RangeColumn) {
	col.Keys = c.count("key count", rangeKeyEntry, math.MaxInt32)
	start := c.pos
	col.base = c.offset()
	for i := 0; i < col.Keys && c.err == nil; i++ {
		c.key(col.Type)
		c.blockIDs()
		c.in("key %d", i)
	}
	if c.err == nil {
		col.data = c.data[start:c.pos:c.pos]
	}
}

// key reads a key. ok is false for one of another size than the type has, as in old files.
func (c *cursor) key(t column.Type) (v Value, ok bool) {
	base := t.Base()
	if t.Textual() || t == base {
		return c.value("key", base), true
	}
	p := c.parts
	c.parts = nil
	n := int(c.u8("key length"))
	b := c.take("key", n)
	c.parts = p
	if n != 8 || b == nil {
		c.noteBytes(1+n, "key", b)
		return Value{}, false
	}
	v = Value{Type: base, Bits: binary.LittleEndian.Uint64(b)}
	c.noteValue(9, "key", v)
	return v, true
}

func (c *cursor) blockIDs() []byte {
	p := c.parts
	c.parts = nil
	n := c.count("block count", 4, math.MaxInt32)
	ids := c.take("block ids", 4*n)
	c.parts = p
	if c.parts != nil && ids != nil {
		c.note(4+4*n, "blocks", idList(ids))
	}
	return ids
}

// Mark is the text of the mark of our writer, "module/version"; "" in files of other writers.
func (x *RangeIndex) Mark() string { return x.mark }

// Trusted reports whether the index is used. Otherwise lookups know nothing.
func (x *RangeIndex) Trusted() bool { return x.trusted }

// maxKnown is the number of names that a range index keeps.
const maxKnown = 1 << 14

// All gives the columns in the order of the file.
func (x *RangeIndex) All() iter.Seq[*RangeColumn] {
	return func(yield func(*RangeColumn) bool) {
		for i := range x.offsets {
			if !yield(x.at(i)) {
				return
			}
		}
	}
}

// at parses column i again, which was parsed before without an error.
func (x *RangeIndex) at(i int) *RangeColumn {
	c := cursor{data: x.data[x.offsets[i]:], base: x.base + int64(x.offsets[i])}
	return c.rangeColumn(x.blocks, x.variant)
}

// Column gives the column of a name; nil if there is none, or more than one.
func (x *RangeIndex) Column(name string) *RangeColumn {
	x.mu.Lock()
	defer x.mu.Unlock()
	col, ok := x.known[name]
	if ok {
		return col
	}
	found := 0
	for i, offset := range x.offsets {
		c := cursor{data: x.data[offset:]}
		if string(c.name()) == name {
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
func (col *RangeColumn) Sizes() (boundaries, typed int, bytes int64) {
	n := rangeColumnEntry + len(col.Name) + len(col.boundaries) + len(col.typed) + len(col.data)
	return len(col.boundaries) / 8, col.typedCount, int64(n)
}

// Stored are the bounds as stored: in files of other writers they are none. Those of strings are zeros.
func (col *RangeColumn) Stored() (lo, hi Value) {
	return Value{Type: col.number(), Bits: uint64(col.Min)}, Value{Type: col.number(), Bits: uint64(col.Max)}
}

// TypedBoundaries gives the typed boundaries of a column.
func (col *RangeColumn) TypedBoundaries() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		c := cursor{data: col.typed}
		for range col.typedCount {
			if !yield(c.value("", col.Type.Base())) {
				return
			}
		}
	}
}

// FileColumn is a column that blocks of the file have.
type FileColumn struct {
	Name  string
	Type  column.Type
	Flags uint8
}

// Flags of a [FileColumn].
const (
	InEveryRow  = 1 // each row of each block has a value
	WidthOfID   = 2 // all values are as long as a trace id or span id
	BeyondInt64 = 4 // a value is 2^63 or greater
)

// maxFileColumns is beyond what any schema can have.
const maxFileColumns = 1 << 20

// FileColumns gives the columns of a file with our mark; ok is false if it does not list them.
func (x *RangeIndex) FileColumns() (list []FileColumn, ok bool) {
	col := x.Column(ColumnsColumn)
	if x.mark == "" || col == nil || !col.Type.Textual() || col.typedCount > maxFileColumns {
		return nil, false
	}
	for v := range col.TypedBoundaries() {
		if len(v.Data) < 2 || v.Data[0] < '0' || v.Data[0] > '0'+byte(column.Bytes) {
			return nil, false
		}
		list = append(list, FileColumn{string(v.Data[2:]), column.Type(v.Data[0] - '0'), v.Data[1] - '0'})
	}
	return list, true
}
