package tree

import (
	"encoding/binary"
	"math"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// cursor reads big-endian numbers of a part of b, up to end. After an error it reads zeros.
type cursor struct {
	b        []byte
	pos, end int
	err      error
}

// take is the next n bytes.
func (c *cursor) take(n int) []byte {
	if c.err != nil || n < 0 || n > c.end-c.pos {
		c.fail(fault.Corruptf("%d bytes are due at byte %d, of %d", n, c.pos, c.end))
		return nil
	}
	c.pos += n
	return c.b[c.pos-n : c.pos]
}

func (c *cursor) fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.pos = c.end
}

func (c *cursor) u8() int {
	if b := c.take(1); b != nil {
		return int(b[0])
	}
	return 0
}

func (c *cursor) u16() int {
	if b := c.take(2); b != nil {
		return int(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) i32() int { return int(int32(c.u32())) }

// peek is the next number of four bytes, which stays the next, or 0.
func (c *cursor) peek() uint32 {
	if c.end-c.pos < 4 {
		return 0
	}
	return binary.BigEndian.Uint32(c.b[c.pos:])
}

// count is a number of items, of which each takes at least size bytes.
func (c *cursor) count(size int) int {
	n := c.i32()
	if n < 0 || n > (c.end-c.pos)/max(size, 1) {
		c.fail(fault.Corruptf("%d items of %d bytes at byte %d, of %d", n, size, c.pos, c.end))
		return 0
	}
	return n
}

// text is a string: a length byte, or 255 and a length of four bytes, and the bytes.
func (c *cursor) text() []byte {
	n := c.u8()
	if n == 255 {
		n = c.i32()
	}
	return c.take(n)
}

// Parts of the first word of objects.
const (
	hasCount     = 0x40000000 // the word is a number of bytes
	newClass     = 0xffffffff // the name of a class follows
	isClass      = 0x80000000 // a reference to the name of a class
	isReferenced = 0x10       // a bit of TObject: a number of two bytes follows
	byMember     = 0x4000     // a version of a collection that is stored member by member
)

// header reads the version in front of an object, and where the object ends: -1 if that is not stored.
func (c *cursor) header() (version, end int) {
	if n := c.u32(); n&hasCount != 0 && n != newClass {
		if end = c.pos + int(n&^hasCount); end > c.end {
			c.fail(fault.Corruptf("an object of %d bytes at byte %d, of %d", n&^hasCount, c.pos, c.end))
		}
		if version = c.u16(); version == 0 {
			c.take(4) // the checksum of a class without versions
		}
		return version, end
	}
	c.pos = max(c.pos-4, 0)
	return c.u16(), -1
}

// bytesOf is the number of bytes of a basic type of ROOT's streamers, 0 of others.
func bytesOf(basic int) int {
	if basic > 0 && basic < len(basicBytes) {
		return basicBytes[basic]
	}
	return 0
}

// The basic types of ROOT's streamers: TVirtualStreamerInfo::EReadWrite. A number of a fixed array has 20 more, of one with a counter 40 more.
const (
	typeChar, typeInt, typeLong, typeFloat                = 1, 3, 4, 5
	typeCounter, typeDouble, typeDouble32, typeLegacyChar = 6, 8, 9, 10
	typeUChar, typeULong, typeBits, typeLong64            = 11, 14, 15, 16
	typeULong64, typeBool, typeFloat16                    = 17, 18, 19
	typeArray, typeCounted                                = 20, 40
)

var basicBytes = [...]int{0, 1, 2, 4, 8, 4, 4, 0, 8, 4, 1, 1, 2, 4, 8, 4, 8, 8, 1, 3}

// basic reads a number of a basic type of metadata: floats as integers, as old files have numbers of entries.
func (c *cursor) basic(t int) int64 {
	b := c.take(bytesOf(t))
	if b == nil {
		return 0
	}
	switch t {
	case typeFloat, typeDouble32:
		return int64(math.Float32frombits(binary.BigEndian.Uint32(b)))
	case typeDouble:
		return int64(math.Float64frombits(binary.BigEndian.Uint64(b)))
	}
	n := int64(0)
	for _, v := range b {
		n = n<<8 | int64(v)
	}
	if signed := t < typeLegacyChar || t == typeLong64; signed {
		n = n << (64 - 8*len(b)) >> (64 - 8*len(b))
	}
	return n
}
