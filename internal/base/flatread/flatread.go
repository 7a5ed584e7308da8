// Package flatread reads untrusted FlatBuffers in place. The accessors that flatc generates for
// Go trust every offset and panic on a hostile one. This package compares each offset, length
// and vtable with the buffer before use.
//
// The parts of a FlatBuffer that matter here, all numbers little-endian:
//
//	buffer   u32 offset of the root table, ...
//	table    i32 distance back to its vtable, inline fields ...
//	vtable   u16 bytes of the vtable, u16 bytes of the table's inline part,
//	         then per slot u16: offset of the field in the table, 0 = absent
//	string   u32 length, bytes, 0
//	vector   u32 count, elements
//
// A field that is a string, vector or table holds a u32 offset that counts from the field
// itself, so references only point forward. There are no cycles, but a table may be reached on
// many paths. Code that walks a tree of tables must bound its depth and the number of steps.
package flatread

import (
	"encoding/binary"
	"math"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// Table is a view of one table. Its getters return the default when a field is
// absent or broken; the first failure stays in Err, so that a caller reads all
// fields that it needs and checks once. A Table is a value: copies have their
// own Err.
type Table struct {
	buf    []byte
	pos    int    // of the table in buf
	size   int    // bytes of the inline part
	vtable []byte // the slots, 2 bytes each
	Err    error
}

// Root is the root table of a buffer. The error wraps [fault.ErrCorrupt] or
// [fault.ErrLimit].
func Root(buf []byte) (Table, error) {
	if uint64(len(buf)) > math.MaxInt32 {
		return Table{}, fault.Limitf("FlatBuffer of %d bytes, more than 2 GiB", len(buf))
	}
	t := Table{buf: buf, size: 4}
	pos, ok := t.follow(0)
	if !ok {
		return Table{}, t.Err
	}
	t = tableAt(buf, pos)
	return t, t.Err
}

func tableAt(buf []byte, pos int) Table {
	t := Table{buf: buf, pos: pos}
	if pos < 0 || pos > len(buf)-4 {
		t.fail("table", pos)
		return t
	}
	vt := int64(pos) - int64(int32(binary.LittleEndian.Uint32(buf[pos:])))
	if vt < 0 || vt > int64(len(buf)-4) {
		t.fail("vtable", pos)
		return t
	}
	vsize := int(binary.LittleEndian.Uint16(buf[vt:]))
	size := int(binary.LittleEndian.Uint16(buf[vt+2:]))
	if vsize < 4 || vsize&1 != 0 || vsize > len(buf)-int(vt) || size < 4 || size > len(buf)-pos {
		t.fail("vtable", pos)
		return t
	}
	t.size, t.vtable = size, buf[vt+4:int(vt)+vsize]
	return t
}

func (t *Table) fail(what string, pos int) {
	if t.Err == nil {
		t.Err = fault.Corruptf("FlatBuffer: %s at byte %d leaves the buffer of %d bytes", what, pos, len(t.buf))
	}
}

// field is the position of a slot of width bytes; ok is false if it is absent.
func (t *Table) field(slot, width int) (pos int, ok bool) {
	if 2*slot+2 > len(t.vtable) {
		return 0, false
	}
	off := int(binary.LittleEndian.Uint16(t.vtable[2*slot:]))
	if off == 0 {
		return 0, false
	}
	if off < 4 || off+width > t.size {
		t.fail("field", t.pos+off)
		return 0, false
	}
	return t.pos + off, true
}

// follow is the target of the offset at pos; at least 4 bytes are there.
func (t *Table) follow(pos int) (target int, ok bool) {
	if pos < 0 || pos > len(t.buf)-4 {
		t.fail("offset", pos)
		return 0, false
	}
	off := binary.LittleEndian.Uint32(t.buf[pos:])
	if off < 4 || uint64(off)+4 > uint64(len(t.buf)-pos) {
		t.fail("offset", pos)
		return 0, false
	}
	return pos + int(off), true
}

// Pos is the position of the table in the buffer, which identifies the table.
func (t *Table) Pos() int { return t.pos }

// Uint8 is a byte field.
func (t *Table) Uint8(slot int, def uint8) uint8 {
	if pos, ok := t.field(slot, 1); ok {
		return t.buf[pos]
	}
	return def
}

// Bool is a boolean field; any byte but 0 is true.
func (t *Table) Bool(slot int) bool { return t.Uint8(slot, 0) != 0 }

// Uint32 is a 32-bit field.
func (t *Table) Uint32(slot int, def uint32) uint32 {
	if pos, ok := t.field(slot, 4); ok {
		return binary.LittleEndian.Uint32(t.buf[pos:])
	}
	return def
}

// Uint64 is a 64-bit field.
func (t *Table) Uint64(slot int, def uint64) uint64 {
	if pos, ok := t.field(slot, 8); ok {
		return binary.LittleEndian.Uint64(t.buf[pos:])
	}
	return def
}

// String is the bytes of a string field, which alias the buffer; nil if it is absent.
func (t *Table) String(slot int) []byte {
	v := t.Vector(slot, 1)
	if !v.ok {
		return nil
	}
	return v.Bytes()
}

// Table is the table that a slot refers to; ok is false if the slot is absent or broken.
func (t *Table) Table(slot int) (sub Table, ok bool) {
	pos, ok := t.field(slot, 4)
	if !ok {
		return Table{}, false
	}
	if pos, ok = t.follow(pos); !ok {
		return Table{}, false
	}
	sub = tableAt(t.buf, pos)
	if sub.Err != nil {
		if t.Err == nil {
			t.Err = sub.Err
		}
		return Table{}, false
	}
	return sub, true
}

// Vector is the vector that a slot refers to, with elements of width bytes;
// empty if the slot is absent or broken.
func (t *Table) Vector(slot, width int) Vector {
	pos, ok := t.field(slot, 4)
	if !ok {
		return Vector{}
	}
	if pos, ok = t.follow(pos); !ok {
		return Vector{}
	}
	return t.vectorAt(pos, width)
}

func (t *Table) vectorAt(pos, width int) Vector {
	n := binary.LittleEndian.Uint32(t.buf[pos:])
	if uint64(n)*uint64(width) > uint64(len(t.buf)-pos-4) {
		t.fail("vector", pos)
		return Vector{}
	}
	return Vector{buf: t.buf, pos: pos + 4, n: int(n), width: width, ok: true}
}

// Vector is a view of a vector whose extent has been checked. The zero value
// is an absent one.
type Vector struct {
	buf   []byte
	pos   int // of the first element
	n     int
	width int
	ok    bool
}

// Present distinguishes a vector of length 0 from an absent one.
func (v Vector) Present() bool { return v.ok }

// Len is the number of elements.
func (v Vector) Len() int { return v.n }

// Bytes are the bytes of the elements, which alias the buffer.
func (v Vector) Bytes() []byte { return v.buf[v.pos : v.pos+v.n*v.width : v.pos+v.n*v.width] }

// Uint32 is element i of a vector of 32-bit numbers; 0 <= i < Len.
func (v Vector) Uint32(i int) uint32 {
	return binary.LittleEndian.Uint32(v.Bytes()[4*i:])
}

// Table is element i of a vector of tables; 0 <= i < Len.
func (v Vector) Table(i int) (Table, error) {
	t := Table{buf: v.buf}
	pos, ok := t.follow(v.pos + 4*i)
	if !ok {
		return Table{}, t.Err
	}
	t = tableAt(v.buf, pos)
	return t, t.Err
}

// String is element i of a vector of strings, aliasing the buffer; 0 <= i < Len.
func (v Vector) String(i int) ([]byte, error) {
	t := Table{buf: v.buf}
	pos, ok := t.follow(v.pos + 4*i)
	if !ok {
		return nil, t.Err
	}
	s := t.vectorAt(pos, 1)
	if t.Err != nil {
		return nil, t.Err
	}
	return s.Bytes(), nil
}
