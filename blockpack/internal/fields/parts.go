package fields

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Part is a field of a structure, or the title of a group of fields, which has no bytes. The fields of a group follow
// its title, with a greater Depth.
type Part struct {
	Offset, Size int // in the bytes of the structure
	Depth        int
	Text         string // meaning and value: "span count 100"
}

// Parts collects the fields that a cursor reads, up to a number.
type Parts struct {
	List  []Part
	Limit int
	depth int
}

func (p *Parts) add(offset, size int, text string) {
	if len(p.List) < p.Limit {
		p.List = append(p.List, Part{Offset: offset, Size: size, Depth: p.depth, Text: text})
	}
}

// Note lists the field of size bytes before the cursor.
func (c *Cursor) Note(size int, label string, value any) {
	if c.Parts != nil && c.Err == nil {
		c.Parts.add(c.Pos-size, size, fmt.Sprint(label, " ", value))
	}
}

// NoteBytes lists a field of bytes.
func (c *Cursor) NoteBytes(size int, label string, value []byte) {
	if c.Parts != nil {
		c.Note(size, label, Quote(value))
	}
}

// Unlisted calls read, whose fields are not listed.
func (c *Cursor) Unlisted(read func()) {
	p := c.Parts
	c.Parts = nil
	read()
	c.Parts = p
}

// Nest begins a group of fields, which Close ends.
func (c *Cursor) Nest() {
	if c.Parts != nil {
		c.Parts.depth++
	}
}

// Close ends a group.
func (c *Cursor) Close() {
	if c.Parts != nil {
		c.Parts.depth--
	}
}

// Quote shows text as it is, other bytes in hexadecimal; the beginning, if there are many.
func Quote(value []byte) string {
	const most = 64
	more := ""
	if len(value) > most {
		more = fmt.Sprintf("… (%d bytes)", len(value))
		value = value[:most]
	}
	if utf8.Valid(value) {
		return strconv.Quote(string(value)) + more
	}
	return fmt.Sprintf("%x", value) + more
}

// Numbers shows n numbers, or the first ones if there are many: "0, 1, 5".
func Numbers(n int, at func(i int) uint64) string {
	const most = 12
	var b []byte
	for i := range min(n, most) {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendUint(b, at(i), 10)
	}
	if n > most {
		b = fmt.Appendf(b, ", … (%d)", n)
	}
	return string(b)
}

// Hex is bytes that are shown in hexadecimal.
type Hex []byte

func (h Hex) String() string { return hex.EncodeToString(h) }
