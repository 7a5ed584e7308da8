package layout

import (
	"encoding/binary"
	"fmt"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// A cursor reads fields in order. The first error stays, and later reads give zeros, so that only loops look at it.
type cursor struct {
	data  []byte
	base  int64 // offset of data in the file
	pos   int
	err   error
	parts *parts // lists the fields that are read; nil for most readers
}

func (c *cursor) left() int { return len(c.data) - c.pos }

// offset is the place of the cursor in the file.
func (c *cursor) offset() int64 { return c.base + int64(c.pos) }

func (c *cursor) fail(element string, err error) {
	if c.err == nil {
		c.err = fault.In(err, element, c.offset())
	}
}

// in names the element that the error, if any, was found in.
func (c *cursor) in(format string, args ...any) {
	if c.err != nil {
		c.err = fault.In(c.err, fmt.Sprintf(format, args...), -1)
	}
}

// take gives the next n bytes, nil after an error.
func (c *cursor) take(label string, n int) []byte {
	if c.err != nil {
		return nil
	}
	if n < 0 || n > c.left() {
		c.fail(label, fault.Corruptf("%d bytes needed, %d left", n, c.left()))
		return nil
	}
	c.pos += n
	return c.data[c.pos-n : c.pos : c.pos]
}

func (c *cursor) u8(label string) (v uint8) {
	if b := c.take(label, 1); b != nil {
		v = b[0]
		c.note(1, label, v)
	}
	return v
}

func (c *cursor) u16(label string) (v uint16) {
	if b := c.take(label, 2); b != nil {
		v = binary.LittleEndian.Uint16(b)
		c.note(2, label, v)
	}
	return v
}

func (c *cursor) u32(label string) (v uint32) {
	if b := c.take(label, 4); b != nil {
		v = binary.LittleEndian.Uint32(b)
		c.note(4, label, v)
	}
	return v
}

func (c *cursor) u64(label string) (v uint64) {
	if b := c.take(label, 8); b != nil {
		v = binary.LittleEndian.Uint64(b)
		c.note(8, label, v)
	}
	return v
}

// id is a trace id.
func (c *cursor) id(label string) (id TraceID) {
	if b := c.take(label, len(id)); b != nil {
		id = TraceID(b)
		if c.parts != nil {
			c.note(len(b), label, fmt.Sprintf("%x", b))
		}
	}
	return id
}

// magic is a number that must be there.
func (c *cursor) magic(want uint32) {
	b := c.take("magic", 4)
	if b == nil {
		return
	}
	if got := binary.LittleEndian.Uint32(b); got != want {
		c.pos -= 4
		c.fail("magic", fault.Corruptf("%08x where %08x is expected", got, want))
	}
	if c.parts != nil {
		c.note(4, "magic", fmt.Sprintf("%08x", want))
	}
}

// columnType is the type of a column.
func (c *cursor) columnType() (t column.Type) {
	if b := c.take("type", 1); b != nil {
		t = column.Type(b[0])
		c.note(1, "type", t)
	}
	if c.err == nil && !t.Valid() {
		c.pos--
		c.fail("type", fault.Unsupportedf("%d is no type of columns", uint8(t)))
	}
	return t
}

// count is a number of elements of at least size bytes each, and of at most limit. It fits the bytes left.
func (c *cursor) count(label string, size, limit int) int {
	n := int64(c.u32(label))
	if c.err == nil && n > int64(limit) {
		c.pos -= 4
		c.fail(label, fault.Limitf("%d, at most %d are possible", n, limit))
	}
	if c.err == nil && n*int64(size) > int64(c.left()) {
		c.pos -= 4
		c.fail(label, fault.Corruptf("%d elements in %d bytes", n, c.left()-4))
	}
	if c.err != nil {
		return 0
	}
	return int(n)
}

// size is a length of 32 bits.
func (c *cursor) size(label string) int {
	n := c.u32(label)
	if c.err == nil && int64(n) > int64(c.left()) {
		c.pos -= 4
		c.fail(label, fault.Corruptf("%d bytes, %d left", n, c.left()-4))
		return 0
	}
	return int(n)
}

// block is a length of 32 bits, and the bytes.
func (c *cursor) block(label string) []byte {
	p := c.parts
	c.parts = nil
	b := c.take(label, c.size(label))
	c.parts = p
	if b != nil {
		c.noteBytes(4+len(b), label, b)
	}
	return b
}

// name is a length of 16 bits, and the name of a column.
func (c *cursor) name() []byte {
	p := c.parts
	c.parts = nil
	n := int(c.u16("name length"))
	if n > MaxNameLength {
		c.pos -= 2
		c.fail("name", fault.Limitf("%d bytes, at most %d are possible", n, MaxNameLength))
	}
	b := c.take("name", n)
	c.parts = p
	if b != nil {
		c.noteBytes(2+n, "name", b)
	}
	return b
}

// extent is a range of bytes that must end before limit. Numbers have 64 bits.
func (c *cursor) extent(label string, limit int64) (offset, length int64) {
	at := c.pos
	o := c.u64(label + " offset")
	n := c.u64(label + " length")
	if c.err == nil && (o > uint64(limit) || n > uint64(limit)-o) {
		c.pos = at
		c.fail(label, fault.Corruptf("%d bytes at %d end behind %d", n, o, limit))
	}
	if c.err != nil {
		return 0, 0
	}
	return int64(o), int64(n)
}
