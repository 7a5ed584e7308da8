package read

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
const (
	kindStop   = 0
	kindTrue   = 1
	kindFalse  = 2
	kindByte   = 3
	kindI16    = 4
	kindI32    = 5
	kindI64    = 6
	kindDouble = 7
	kindBinary = 8
	kindList   = 9
	kindSet    = 10
	kindMap    = 11
	kindStruct = 12
)

var (
	// errShort means that the bytes end too early: more of them may be a structure.
	errShort  = errors.New("the structure is cut off")
	errThrift = errors.New("not a structure of Thrift")
)

// compact reads structures. After an error it returns zeros.
type compact struct {
	b   []byte
	at  int
	err error
}

func (c *compact) fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.at = len(c.b)
}

func (c *compact) byte() byte {
	if c.at >= len(c.b) {
		c.fail(errShort)
		return 0
	}
	c.at++
	return c.b[c.at-1]
}

func (c *compact) uvarint() uint64 {
	v, n := binary.Uvarint(c.b[c.at:])
	switch {
	case n == 0:
		c.fail(errShort)
		return 0
	case n < 0:
		c.fail(errThrift)
		return 0
	}
	c.at += n
	return v
}

func (c *compact) int() int64 {
	v := c.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (c *compact) binary() []byte {
	n := c.uvarint()
	if n > uint64(len(c.b)-c.at) {
		c.fail(errShort)
		return nil
	}
	c.at += int(n)
	return c.b[c.at-int(n) : c.at : c.at]
}

// list begins a list. There are at least as many bytes left as it has items.
func (c *compact) list() (kind byte, n int) {
	b := c.byte()
	count := uint64(b >> 4)
	if count == 15 {
		count = c.uvarint()
	}
	if count > uint64(len(c.b)-c.at) {
		c.fail(errShort)
		return 0, 0
	}
	return b & 15, int(count)
}

// fields calls f with each field of a structure. It skips those that f returns false for.
func (c *compact) fields(depth int, f func(id int64, kind byte) (read bool)) {
	if depth > maxFooterDepth {
		c.fail(errThrift)
	}
	id := int64(0)
	for c.err == nil {
		b := c.byte()
		kind := b & 15
		if kind == kindStop {
			return
		}
		if b>>4 != 0 {
			id += int64(b >> 4)
		} else {
			id = c.int()
		}
		if f == nil || !f(id, kind) {
			c.skip(depth, kind)
		}
	}
}

func (c *compact) skip(depth int, kind byte) {
	switch kind {
	case kindTrue, kindFalse:
	case kindByte:
		c.byte()
	case kindI16, kindI32, kindI64:
		c.uvarint()
	case kindDouble:
		if len(c.b)-c.at < 8 {
			c.fail(errShort)
			return
		}
		c.at += 8
	case kindBinary:
		c.binary()
	case kindList, kindSet:
		item, n := c.list()
		for range n {
			if c.err != nil {
				return
			}
			c.skipItem(depth, item)
		}
	case kindMap:
		n := c.uvarint()
		if n == 0 {
			return
		}
		kinds := c.byte()
		for ; n > 0 && c.err == nil; n-- {
			c.skipItem(depth, kinds>>4)
			c.skipItem(depth, kinds&15)
		}
	case kindStruct:
		c.fields(depth+1, nil)
	default:
		c.fail(errThrift)
	}
}

// skipItem skips an item of a list, where booleans have a byte.
func (c *compact) skipItem(depth int, kind byte) {
	if kind == kindTrue || kind == kindFalse {
		kind = kindByte
	}
	c.skip(depth+1, kind)
}
