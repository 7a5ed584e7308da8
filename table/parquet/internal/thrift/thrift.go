// Package thrift reads structures of Thrift's compact protocol, field by field: headers and indexes of pages, and heads of Bloom filters.
package thrift

import (
	"encoding/binary"
	"errors"
)

// Page headers and page indexes are structures of Thrift's compact protocol:
//
//	struct   fields, then 00
//	field    u4 difference to the id of the field before, u4 kind; if the difference is 0: u8 kind, zigzag id
//	list     u4 count, u4 kind; if the count is 15: u8 f0|kind, varint count; then the items
//	binary   varint length, bytes
//	integers zigzag varints; booleans are kinds of fields, and bytes in lists
//
// The kinds of values.
const (
	Stop   = 0
	True   = 1
	False  = 2
	Byte   = 3
	I16    = 4
	I32    = 5
	I64    = 6
	Double = 7
	Binary = 8
	List   = 9
	Set    = 10
	Map    = 11
	Struct = 12
)

// maxDepth bounds structures in structures.
const maxDepth = 64

var (
	// ErrShort means that the bytes end too early: more of them may be a structure.
	ErrShort = errors.New("the structure is cut off")
	// ErrFormat means that the bytes are no structure.
	ErrFormat = errors.New("not a structure of Thrift")
)

// Reader reads structures. After an error it returns zeros.
type Reader struct {
	b   []byte
	At  int   // bytes that were read
	Err error // the first error
}

// NewReader returns a reader of a structure at the beginning of b.
func NewReader(b []byte) *Reader { return &Reader{b: b} }

// Fail ends the reading with an error.
func (c *Reader) Fail(err error) {
	if c.Err == nil {
		c.Err = err
	}
	c.At = len(c.b)
}

// Byte reads a byte, such as a Boolean in a list.
func (c *Reader) Byte() byte {
	if c.At >= len(c.b) {
		c.Fail(ErrShort)
		return 0
	}
	c.At++
	return c.b[c.At-1]
}

func (c *Reader) uvarint() uint64 {
	v, n := binary.Uvarint(c.b[c.At:])
	switch {
	case n == 0:
		c.Fail(ErrShort)
		return 0
	case n < 0:
		c.Fail(ErrFormat)
		return 0
	}
	c.At += n
	return v
}

// Int reads an integer of any size.
func (c *Reader) Int() int64 {
	v := c.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// Binary reads bytes, which belong to the structure.
func (c *Reader) Binary() []byte {
	n := c.uvarint()
	if n > uint64(len(c.b)-c.At) {
		c.Fail(ErrShort)
		return nil
	}
	c.At += int(n)
	return c.b[c.At-int(n) : c.At : c.At]
}

// List begins a list. There are at least as many bytes left as it has items.
func (c *Reader) List() (kind byte, n int) {
	b := c.Byte()
	count := uint64(b >> 4)
	if count == 15 {
		count = c.uvarint()
	}
	if count > uint64(len(c.b)-c.At) {
		c.Fail(ErrShort)
		return 0, 0
	}
	return b & 15, int(count)
}

// Fields calls f with each field of a structure. It skips those that f returns false for.
func (c *Reader) Fields(depth int, f func(id int64, kind byte) (read bool)) {
	if depth > maxDepth {
		c.Fail(ErrFormat)
	}
	id := int64(0)
	for c.Err == nil {
		b := c.Byte()
		kind := b & 15
		if kind == Stop {
			return
		}
		if b>>4 != 0 {
			id += int64(b >> 4)
		} else {
			id = c.Int()
		}
		if f == nil || !f(id, kind) {
			c.skip(depth, kind)
		}
	}
}

// Ints reads integers into the places for their ids, of those fields that have one.
func (c *Reader) Ints(places ...*int64) func(id int64, kind byte) (read bool) {
	return func(id int64, kind byte) bool {
		if kind != I32 && kind != I64 || id < 0 || id >= int64(len(places)) || places[id] == nil {
			return false
		}
		*places[id] = c.Int()
		return true
	}
}

func (c *Reader) skip(depth int, kind byte) {
	switch kind {
	case True, False:
	case Byte:
		c.Byte()
	case I16, I32, I64:
		c.uvarint()
	case Double:
		if len(c.b)-c.At < 8 {
			c.Fail(ErrShort)
			return
		}
		c.At += 8
	case Binary:
		c.Binary()
	case List, Set:
		item, n := c.List()
		for range n {
			if c.Err != nil {
				return
			}
			c.SkipItem(depth, item)
		}
	case Map:
		n := c.uvarint()
		if n == 0 {
			return
		}
		kinds := c.Byte()
		for ; n > 0 && c.Err == nil; n-- {
			c.SkipItem(depth, kinds>>4)
			c.SkipItem(depth, kinds&15)
		}
	case Struct:
		c.Fields(depth+1, nil)
	default:
		c.Fail(ErrFormat)
	}
}

// SkipItem skips an item of a list, where booleans have a byte.
func (c *Reader) SkipItem(depth int, kind byte) {
	if kind == True || kind == False {
		kind = Byte
	}
	c.skip(depth+1, kind)
}
