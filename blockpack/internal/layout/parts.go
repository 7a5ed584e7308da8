package layout

import (
	"encoding/binary"
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

// parts collects the fields that a cursor reads, up to a number.
type parts struct {
	list  []Part
	depth int
	limit int
}

// note adds the field of size bytes before the cursor.
func (c *cursor) note(size int, label string, value any) {
	if c.parts != nil {
		c.parts.add(c.pos-size, size, fmt.Sprint(label, " ", value))
	}
}

func (c *cursor) noteBytes(size int, label string, value []byte) {
	if c.parts != nil {
		c.parts.add(c.pos-size, size, label+" "+quote(value))
	}
}

// quote shows text as it is, other bytes in hexadecimal; the beginning, if there are many.
func quote(value []byte) string {
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

func (p *parts) add(offset, size int, text string) {
	if len(p.list) < p.limit {
		p.list = append(p.list, Part{Offset: offset, Size: size, Depth: p.depth, Text: text})
	}
}

// open begins a group of fields, which close ends.
func (c *cursor) open(label string, number int) {
	if c.parts != nil {
		c.parts.add(c.pos, 0, label+" "+strconv.Itoa(number))
		c.parts.depth++
	}
}

func (c *cursor) close() {
	if c.parts != nil {
		c.parts.depth--
	}
}

// idList shows block ids of 32 bits: "0, 1, 5".
type idList []byte

func (l idList) String() string {
	return numbers(len(l)/4, func(i int) uint64 { return uint64(binary.LittleEndian.Uint32(l[4*i:])) })
}

// String is for people: "3, 7, 8".
func (r Rows) String() string {
	return numbers(r.Len(), func(i int) uint64 { return uint64(r.At(i)) })
}

// numbers shows n numbers, or the first ones if there are many.
func numbers(n int, at func(i int) uint64) string {
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

// hexBytes are shown in hexadecimal.
type hexBytes []byte

func (h hexBytes) String() string { return hex.EncodeToString(h) }
