package tree

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/table"
)

// values are the values of a field that were decoded: as Arrow has them, but for booleans, of which each is a byte.
type values struct {
	field   *field
	n       int
	data    []byte
	offsets []int32 // of texts and lists
	kids    []*values
}

func newValues(f *field) *values {
	v := &values{field: f}
	if f.kind == text || f.kind == rest || f.kind == counted {
		v.offsets = []int32{0}
	}
	for _, k := range f.kids {
		v.kids = append(v.kids, newValues(k))
	}
	return v
}

// width is the number of bytes of a value, 0 if values differ.
func (f *field) width() int {
	switch {
	case f.header || f.flag || f.perhaps:
		return 0
	case f.size > 0:
		return f.size
	case f.kind == fixed:
		return f.n * f.kids[0].width()
	case f.kind != parts:
		return 0
	}
	total := 0
	for _, k := range f.kids {
		w := k.width()
		if w == 0 {
			return 0
		}
		total += w
	}
	return total
}

// decode adds n values.
func (v *values) decode(c *cursor, n int) error {
	f := v.field
	v.n += n
	switch {
	case f.size > 0:
		v.numbers(c.take(n * f.size))
		return c.err
	case f.kind == fixed:
		return v.kids[0].decode(c, n*f.n)
	}
	for range n {
		if err := v.one(c); err != nil {
			return err
		}
	}
	return c.err
}

// one adds a value that is not a number, whose n is counted.
func (v *values) one(c *cursor) error {
	f := v.field
	if f.flag {
		c.take(1)
	}
	end := -1
	if first := c.peek(); f.header || f.perhaps && first == uint32(c.end-c.pos-4)|hasCount {
		version := 0
		if version, end = c.header(); version&byMember != 0 {
			return fault.Unsupportedf("a collection that is stored member by member")
		}
	}
	switch f.kind {
	case text:
		b := c.text()
		if c.err != nil {
			return c.err
		}
		if f.Type.ID() == arrow.STRING && !utf8.Valid(b) {
			return fault.Unsupportedf("a string that is not UTF-8: read strings as binary")
		}
		v.data = append(v.data, b...)
		return v.mark(len(v.data))
	case tobject:
		if c.take(6); c.u32()&isReferenced != 0 {
			c.take(2)
		}
		return c.err
	case parts:
		for _, k := range v.kids {
			if err := k.member(c, v); err != nil {
				return err
			}
		}
		if end >= 0 && c.pos != end && c.err == nil {
			return fault.Corruptf("an object that ends at byte %d, and not at %d", c.pos, end)
		}
		return c.err
	}
	item, w := v.kids[0], f.kids[0].width()
	switch {
	case f.kind == counted:
		n := c.count(max(w, 1))
		if c.err == nil {
			c.err = item.decode(c, n)
		}
	case w > 0:
		if (c.end-c.pos)%w != 0 {
			return fault.Corruptf("%d bytes of items of %d bytes", c.end-c.pos, w)
		}
		c.err = item.decode(c, (c.end-c.pos)/w)
	default:
		for c.err == nil && c.pos < c.end {
			c.err = item.decode(c, 1)
		}
	}
	if c.err != nil {
		return c.err
	}
	return v.mark(item.n)
}

// member adds a value of a part of an object.
func (v *values) member(c *cursor, of *values) error {
	if v.field.kind != rest || v.field.counter < 0 {
		return v.decode(c, 1)
	}
	n, size := 0, of.kids[v.field.counter].field.size
	for i, b := range of.kids[v.field.counter].data { // the last one is the counter
		if at := len(of.kids[v.field.counter].data) - size; i >= at {
			n |= int(b) << (8 * (i - at))
		}
	}
	c.take(1)
	if w := v.kids[0].field.width(); n < 0 || n > (c.end-c.pos)/max(w, 1) {
		return fault.Corruptf("%d items at byte %d, of %d", n, c.pos, c.end)
	}
	v.n++
	if err := v.kids[0].decode(c, n); err != nil {
		return err
	}
	return v.mark(v.kids[0].n)
}

// mark ends a text or a list.
func (v *values) mark(end int) error {
	if end > math.MaxInt32 {
		return fault.ErrBatchTooLarge
	}
	v.offsets = append(v.offsets, int32(end))
	return nil
}

// numbers adds numbers that are stored big-endian.
func (v *values) numbers(b []byte) {
	f := v.field
	at := len(v.data)
	if f.kind == wider || f.kind == shorter || f.kind == ranged {
		for ; len(b) >= f.size; b = b[f.size:] {
			if wide := f.float(b); f.Type.ID() == arrow.FLOAT64 {
				v.data = binary.LittleEndian.AppendUint64(v.data, math.Float64bits(wide))
			} else {
				v.data = binary.LittleEndian.AppendUint32(v.data, math.Float32bits(float32(wide)))
			}
		}
		return
	}
	v.data = append(v.data, b...)
	added := v.data[at:]
	switch f.size {
	case 1:
		if f.kind == boolean {
			for i, b := range added {
				added[i] = min(b, 1)
			}
		}
	case 2:
		for i := 0; i+2 <= len(added); i += 2 {
			binary.LittleEndian.PutUint16(added[i:], binary.BigEndian.Uint16(added[i:]))
		}
	case 4:
		for i := 0; i+4 <= len(added); i += 4 {
			binary.LittleEndian.PutUint32(added[i:], binary.BigEndian.Uint32(added[i:]))
		}
	case 8:
		for i := 0; i+8 <= len(added); i += 8 {
			binary.LittleEndian.PutUint64(added[i:], binary.BigEndian.Uint64(added[i:]))
		}
	}
}

// float is a float that is not stored as what it is.
func (f *field) float(b []byte) float64 {
	switch f.kind {
	case ranged:
		return f.low + float64(binary.BigEndian.Uint32(b))*f.step
	case wider:
		return float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
	}
	mantissa := uint32(binary.BigEndian.Uint16(b[1:]))
	v := math.Float32frombits(uint32(b[0])<<23 | mantissa&(1<<(f.bits+1)-1)<<(23-f.bits))
	if mantissa&(1<<(f.bits+1)) != 0 {
		v = -v
	}
	return float64(v)
}

// entries adds the values of the entries from, up to to, of a basket.
func (v *values) entries(b *basket, from, to int) error {
	f := v.field
	start, end := b.entry(from), b.entry(to)
	if start < 0 || end < start || end > len(b.data) {
		return fault.Corruptf("entries %d to %d lie at bytes %d to %d, of %d", from, to, start, end, len(b.data))
	}
	w := f.width()
	item := 0
	if f.kind == rest && !f.flag && !f.header {
		item = f.kids[0].width()
	}
	switch n := to - from; {
	case w > 0 && end-start != n*w:
		return fault.Corruptf("%d entries of %d bytes in %d bytes", n, w, end-start)
	case w > 0:
		return v.decode(&cursor{b: b.data, pos: start, end: end}, n)
	case item > 0:
		v.n += n
		at, base := start, v.kids[0].n
		for i := from + 1; i <= to; i++ {
			next := b.entry(i)
			if next < at || next > end || (next-at)%item != 0 {
				return fault.Corruptf("entry %d has %d bytes of items of %d", i-1, next-at, item)
			}
			at = next
			if err := v.mark(base + (at-start)/item); err != nil {
				return err
			}
		}
		return v.kids[0].decode(&cursor{b: b.data, pos: start, end: end}, (end-start)/item)
	}
	for i := from; i < to; i++ {
		c := cursor{b: b.data, pos: b.entry(i), end: b.entry(i + 1)}
		if c.pos < start || c.end < c.pos || c.end > end {
			return fault.Corruptf("entry %d lies at bytes %d to %d, of %d", i, c.pos, c.end, end)
		}
		if err := v.decode(&c, 1); err != nil {
			return err
		}
		if c.pos != c.end {
			return fault.Corruptf("entry %d has %d bytes, of which %d have no meaning", i, b.entry(i+1)-b.entry(i), c.end-c.pos)
		}
	}
	return nil
}

// bytes is the memory of the values.
func (v *values) bytes() int64 {
	n := int64(len(v.data)) + 4*int64(len(v.offsets))
	for _, k := range v.kids {
		n += k.bytes()
	}
	return n
}

// array is the values as an array of a column: of structs, with the children that it has. It uses their memory.
func (v *values) array(c *table.Column) arrow.ArrayData {
	buffers := []*memory.Buffer{nil}
	var kids []arrow.ArrayData
	switch v.field.kind {
	case number, wider, shorter, ranged:
		buffers = append(buffers, memory.NewBufferBytes(v.data))
	case boolean:
		bits := make([]byte, (v.n+7)/8)
		for i, b := range v.data {
			bits[i/8] |= b << (i % 8)
		}
		buffers = append(buffers, memory.NewBufferBytes(bits))
	case text:
		buffers = append(buffers, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(v.offsets)), memory.NewBufferBytes(v.data))
	case rest, counted:
		buffers = append(buffers, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(v.offsets)))
	}
	for i := range c.Children {
		kids = append(kids, v.child(c.Children[i].ID).array(&c.Children[i]))
	}
	return array.NewData(c.Arrow.Type, v.n, buffers, kids, 0, 0)
}

// child are the values of a part, which may be a member of a base class.
func (v *values) child(id uint32) *values {
	for _, k := range v.kids {
		if k.field.id == id {
			return k
		}
		if k.field.hidden {
			if found := k.child(id); found != nil {
				return found
			}
		}
	}
	return nil
}
