// Package fields reads structures of bytes: one field after the other, compared with the bytes left and with limits, and listed for
// people.
package fields

import (
	"fmt"
	"strconv"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// A Cursor reads fields in order. The first error stays, and later reads give zeros, so that only loops look at it.
type Cursor struct {
	Data  []byte
	Base  int64 // offset of Data in the file
	Pos   int
	Err   error
	Parts *Parts // lists the fields that are read; nil for most readers
}

// Left is the number of bytes left.
func (c *Cursor) Left() int { return len(c.Data) - c.Pos }

// Offset is the place of the cursor in the file.
func (c *Cursor) Offset() int64 { return c.Base + int64(c.Pos) }

// Fail keeps an error at the place of the cursor, unless there is one.
func (c *Cursor) Fail(element string, err error) {
	if c.Err == nil {
		c.Err = fault.In(err, element, c.Offset())
	}
}

// Refuse is Fail for the n bytes that were read last.
func (c *Cursor) Refuse(n int, element string, err error) {
	if c.Err == nil {
		c.Pos -= n
		c.Fail(element, err)
	}
}

// In names the element that the error, if any, was found in.
func (c *Cursor) In(format string, args ...any) {
	if c.Err != nil {
		c.Err = fault.In(c.Err, fmt.Sprintf(format, args...), -1)
	}
}

// Each reads the elements of a list, which are listed as groups, until one has an error, which then names it: "column 5".
func (c *Cursor) Each(label string, n int, read func(i int)) {
	for i := 0; i < n && c.Err == nil; i++ {
		if c.Parts != nil {
			c.Parts.add(c.Pos, 0, label+" "+strconv.Itoa(i))
		}
		c.Nest()
		read(i)
		c.Close()
		if c.Err != nil {
			c.In("%s %d", label, i)
		}
	}
}

// End makes bytes that are left an error.
func (c *Cursor) End(what string) {
	if c.Left() > 0 {
		c.Fail("", fault.Corruptf("%d bytes behind the %s", c.Left(), what))
	}
}

// Take gives the next n bytes, nil after an error.
func (c *Cursor) Take(label string, n int) []byte {
	if c.Err != nil {
		return nil
	}
	if n < 0 || n > c.Left() {
		c.Fail(label, fault.Corruptf("%d bytes needed, %d left", n, c.Left()))
		return nil
	}
	c.Pos += n
	return c.Data[c.Pos-n : c.Pos : c.Pos]
}

// U8 reads a byte.
func (c *Cursor) U8(label string) uint8 { return uint8(c.number(label, 1)) }

// U16 reads 16 bits. All numbers have their lowest byte first.
func (c *Cursor) U16(label string) uint16 { return uint16(c.number(label, 2)) }

// U32 reads 32 bits.
func (c *Cursor) U32(label string) uint32 { return uint32(c.number(label, 4)) }

// U64 reads 64 bits.
func (c *Cursor) U64(label string) uint64 { return c.number(label, 8) }

func (c *Cursor) number(label string, size int) (v uint64) {
	for i, b := range c.Take(label, size) {
		v |= uint64(b) << (8 * i)
	}
	if c.Parts != nil {
		c.Note(size, label, v)
	}
	return v
}

// OneOf reads a byte that must be one of two numbers.
func (c *Cursor) OneOf(label string, a, b uint8) uint8 {
	v := c.U8(label)
	if c.Err == nil && v != a && v != b {
		c.Refuse(1, label, fault.Unsupportedf("it is %d, but this program knows only %d and %d", v, a, b))
	}
	return v
}

// Magic reads a number that must be there.
func (c *Cursor) Magic(want uint32) {
	var got uint32
	c.Unlisted(func() { got = c.U32("magic") })
	if c.Err == nil && got != want {
		c.Refuse(4, "magic", fault.Corruptf("%08x where %08x is expected", got, want))
	}
	if c.Parts != nil && c.Err == nil {
		c.Note(4, "magic", fmt.Sprintf("%08x", want))
	}
}

// Limited reads a number of 32 bits.
func (c *Cursor) Limited(label string, limit int64) int {
	n := int64(c.U32(label))
	if n > limit {
		c.Refuse(4, label, fault.Limitf("%d is more than the limit of %d", n, limit))
	}
	return int(n)
}

// Count reads a number of elements of at least size bytes each, and of at most limit. It fits the bytes left.
func (c *Cursor) Count(label string, size, limit int) int {
	n := int64(c.Limited(label, int64(limit)))
	if n*int64(size) > int64(c.Left()) {
		c.Refuse(4, label, fault.Corruptf("%d elements in %d bytes", n, c.Left()))
	}
	if c.Err != nil {
		return 0
	}
	return int(n)
}

// Block reads a length of 32 bits, and the bytes.
func (c *Cursor) Block(label string) (b []byte) {
	c.Unlisted(func() {
		n := c.U32(label)
		if int64(n) > int64(c.Left()) {
			c.Refuse(4, label, fault.Corruptf("%d bytes, %d left", n, c.Left()))
		}
		b = c.Take(label, int(n))
	})
	if b != nil {
		c.NoteBytes(4+len(b), label, b)
	}
	return b
}

// Name reads a length of 16 bits, and a name of at most limit bytes.
func (c *Cursor) Name(limit int) (b []byte) {
	n := 0
	c.Unlisted(func() {
		if n = int(c.U16("name length")); n > limit {
			c.Refuse(2, "name", fault.Limitf("a name of %d bytes is longer than the limit of %d", n, limit))
		}
		b = c.Take("name", n)
	})
	if b != nil {
		c.NoteBytes(2+n, "name", b)
	}
	return b
}

// Extent reads a range of bytes that must end before limit. Numbers have 64 bits.
func (c *Cursor) Extent(label string, limit int64) (offset, length int64) {
	var o, n uint64
	if c.Parts == nil { // without names for people
		o, n = c.U64(label), c.U64(label)
	} else {
		o, n = c.U64(label+" offset"), c.U64(label+" length")
	}
	if o > uint64(limit) || n > uint64(limit)-o {
		c.Refuse(16, label, fault.Corruptf("%d bytes at %d end behind %d", n, o, limit))
	}
	if c.Err != nil {
		return 0, 0
	}
	return int64(o), int64(n)
}
