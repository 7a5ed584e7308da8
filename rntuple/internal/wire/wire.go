// Package wire has the numbers of structures of bytes: one description of a structure reads it, writes it, and lists its parts.
package wire

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// A Coder reads or writes, by one description of each structure: its methods take pointers, and either fill what these
// point to from the bytes, or append it. So what is written is what is read.
//
// The first error stays and later calls do nothing, so that descriptions need not look at it; loops do.
type Coder struct {
	Buf       []byte // what is read, or what has been written
	Base      int64  // offset of Buf in errors
	Pos       int    // next byte to read
	End       int    // where reading ends
	Writing   bool
	BigEndian bool
	Err       error
	Parts     *Parts // lists what is read; nil for most readers
}

// Reader is a coder that reads all of b.
func Reader(b []byte) Coder { return Coder{Buf: b, End: len(b)} }

// Left is the number of bytes that were not read.
func (c *Coder) Left() int { return c.End - c.Pos }

// Fail keeps the first error, with its offset.
func (c *Coder) Fail(err error) {
	if c.Err == nil {
		c.Err = fault.In(err, "", c.Base+int64(c.Pos))
	}
}

// Take gives the next n bytes, or nil after an error.
func (c *Coder) Take(n int) []byte {
	if c.Err != nil {
		return nil
	}
	if n < 0 || n > c.End-c.Pos {
		c.Fail(fault.Corruptf("%d bytes needed, %d left", n, c.End-c.Pos))
		return nil
	}
	c.Pos += n
	return c.Buf[c.Pos-n : c.Pos]
}

// Skip reads n bytes that mean nothing here.
func (c *Coder) Skip(label string, n int) {
	if c.Take(n) != nil {
		c.Note(n, "%s", label)
	}
}

// Bytes is a field of len(v) bytes.
func (c *Coder) Bytes(label string, v []byte) {
	if c.Writing {
		c.Buf = append(c.Buf, v...)
	} else if b := c.Take(len(v)); b != nil {
		copy(v, b)
		c.Note(len(v), "%s", label)
	}
}

// U8 is a byte.
func (c *Coder) U8(label string, v *uint8) { number(c, label, v) }

// U16 is a number of 16 bits.
func (c *Coder) U16(label string, v *uint16) { number(c, label, v) }

// U32 is a number of 32 bits.
func (c *Coder) U32(label string, v *uint32) { number(c, label, v) }

// U64 is a number of 64 bits.
func (c *Coder) U64(label string, v *uint64) { number(c, label, v) }

func number[T uint8 | uint16 | uint32 | uint64](c *Coder, label string, v *T) {
	var word [8]byte
	b := word[:unsafe.Sizeof(*v)]
	if c.Writing {
		binary.LittleEndian.PutUint64(word[:], uint64(*v))
		c.swap(b)
		c.Buf = append(c.Buf, b...)
	} else if from := c.Take(len(b)); from != nil {
		copy(b, from)
		c.swap(b)
		*v = T(binary.LittleEndian.Uint64(word[:]))
		if c.Parts != nil {
			c.Note(len(b), "%s %d", label, *v)
		}
	}
}

// swap turns a little-endian number into one as it is stored, and back.
func (c *Coder) swap(b []byte) {
	if c.BigEndian {
		slices.Reverse(b)
	}
}

// Part is a part of a structure, for tools that show its bytes: a number, a string, or the head of what follows with a
// greater depth.
type Part struct {
	Offset, Size int
	Depth        int
	Text         string // meaning and value: "entries 1000"
}

// Parts lists the parts that a reader meets.
type Parts struct {
	List  []Part
	Depth int
}

// Note lists the bytes that were read last.
func (c *Coder) Note(size int, format string, args ...any) {
	if c.Parts != nil && c.Err == nil {
		c.Parts.List = append(c.Parts.List, Part{Offset: c.Pos - size, Size: size, Depth: c.Parts.Depth, Text: fmt.Sprintf(format, args...)})
	}
}

// Amend replaces the text of the part that was read last.
func (c *Coder) Amend(format string, args ...any) {
	if c.Parts != nil && c.Err == nil {
		c.Parts.List[len(c.Parts.List)-1].Text = fmt.Sprintf(format, args...)
	}
}

// Quiet32 is U32 for a number that is a part of something that is listed as a whole.
func (c *Coder) Quiet32(v *uint32) {
	parts := c.Parts
	c.Parts = nil
	c.U32("", v)
	c.Parts = parts
}
