package column

import (
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/internal/base/fault"
)

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

// take reads n bytes.
func take(c *fields.Cursor, element string, n int) section {
	at := c.Pos
	return section{c.Take(element, n), at, element}
}

// block reads bytes behind their length of four bytes.
func block(c *fields.Cursor, element string) section {
	return take(c, element, int(c.U32(element+" length")))
}

// frame reads bytes compressed by zstd, behind their length.
func frame(c *fields.Cursor, element string) section {
	s := block(c, element)
	if c.Parts != nil && len(s.data) > 0 {
		text := "zstd"
		var h zstd.Header
		if h.Decode(s.data) == nil && h.HasFCS {
			text += fmt.Sprintf(", unpacks to %d bytes", h.FrameContentSize)
		}
		if h.HasCheckSum {
			text += ", with a checksum"
		}
		c.Note(len(s.data), element+",", text)
	}
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
