package learn

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding/internal/fields"
)

// EncodedColumn is a column with its fields.
type EncodedColumn struct {
	fields.Column
	Key     uint64 // the same for columns of different blocks that play the same part
	Numbers []uint64
	Most    uint64  // of the numbers
	Text    []byte  // of the kind Text: all fields back to back
	Offsets []int64 // and where each begins, and the last one ends
}

// PutHeader writes the header of a column but for its size.
func (c *EncodedColumn) PutHeader(header []byte) {
	count := len(c.Numbers)
	switch c.Kind {
	case fields.Text:
		count = len(c.Offsets) - 1
	case fields.HexLower, fields.HexUpper:
		header[1] = byte(c.Width)
	case fields.Digits:
		header[1] = byte(len(c.Groups))
	}
	header[0], header[2] = byte(c.Kind), byte(c.Word())
	binary.LittleEndian.PutUint32(header[8:], uint32(count))
}

// AppendGroups appends the groups of digits, if the column has some.
func (c *EncodedColumn) AppendGroups(dst []byte) []byte {
	for _, g := range c.Groups {
		var b [fields.GroupLen]byte
		b[0], b[1] = byte(g.Width), byte(len(g.Separator))
		copy(b[2:], g.Separator)
		binary.LittleEndian.PutUint32(b[8:], uint32(g.Low))
		binary.LittleEndian.PutUint32(b[12:], uint32(g.Radix))
		dst = append(dst, b[:]...)
	}
	return dst
}

// Word is the bytes of a number of the column, 0 for texts.
func (c *EncodedColumn) Word() int {
	switch {
	case c.Kind == fields.Text:
		return 0
	case c.Kind == fields.Signed || c.Most >= 1<<32:
		return 8
	}
	return 4
}
