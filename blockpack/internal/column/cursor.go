package column

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// cursor parses bytes from the front. Errors have the offset in data.
type cursor struct {
	data []byte
	at   int
}

func (c *cursor) left() int { return len(c.data) - c.at }

// take gives the next n bytes, a part of data.
func (c *cursor) take(element string, n int) ([]byte, error) {
	if n < 0 || n > c.left() {
		return nil, fault.In(fault.Corruptf("%d bytes of %d are there", c.left(), n), element, int64(c.at))
	}
	b := c.data[c.at : c.at+n : c.at+n]
	c.at += n
	return b, nil
}

func (c *cursor) u8(element string) (byte, error) {
	b, err := c.take(element, 1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

func (c *cursor) u32(element string) (uint32, error) {
	b, err := c.take(element, 4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (c *cursor) u64(element string) (uint64, error) {
	b, err := c.take(element, 8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// section gives the bytes behind their length of four bytes.
func (c *cursor) section(element string) (section, error) {
	n, err := c.u32(element)
	if err != nil {
		return section{}, err
	}
	at := c.at
	b, err := c.take(element, int(n))
	return section{b, at, element}, err
}

// section is a part of a column's data.
type section struct {
	data    []byte
	at      int // in the column's data
	element string
}

// in adds the place of the section to err, and of an offset in it unless that is negative.
func (s section) in(err error, offset int) error {
	return fault.In(err, s.element, int64(s.at+max(offset, 0)))
}

// rest gives the bytes that are left.
func (c *cursor) rest(element string) section {
	s := section{c.data[c.at:], c.at, element}
	c.at = len(c.data)
	return s
}

// values reads byte strings with a length of four bytes in front.
type values struct {
	data  []byte
	at    int
	limit int // bytes of a value
}

// next gives the next value, a part of data.
func (v *values) next() ([]byte, error) {
	if len(v.data)-v.at < 4 {
		return nil, v.wrong()
	}
	from := v.at + 4
	n := int(binary.LittleEndian.Uint32(v.data[v.at:]))
	if n > min(len(v.data)-from, v.limit) {
		return nil, v.wrong()
	}
	v.at = from + n
	return v.data[from:v.at], nil
}

// skip skips n values with head bytes in front of each length.
func (v *values) skip(n, head int) error {
	at := v.at
	for range n {
		from := at + head + 4
		if from > len(v.data) {
			v.at = at
			return fault.Corruptf("%d bytes are left, less than the length of a value", len(v.data)-at)
		}
		size := int(binary.LittleEndian.Uint32(v.data[from-4:]))
		if size > len(v.data)-from {
			v.at = at
			return fault.Corruptf("a value of %d bytes, of which %d are there", size, len(v.data)-from)
		}
		at = from + size
	}
	v.at = at
	return nil
}

// wrong is the error of a value that cannot be read.
func (v *values) wrong() error {
	left := len(v.data) - v.at - 4
	if left < 0 {
		return fault.Corruptf("%d bytes are left, less than the length of a value", left+4)
	}
	n := int(binary.LittleEndian.Uint32(v.data[v.at:]))
	if n > left {
		return fault.Corruptf("a value of %d bytes, of which %d are there", n, left)
	}
	return fault.Limitf("a value of %d bytes, where %d are allowed", n, v.limit)
}
