package column

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Value is a value of a base type: a key, or a bound.
type Value struct {
	Type Type   // String to Bytes
	Bits uint64 // Int64, Uint64, Float64 (IEEE bits), Bool (0, 1)
	Data []byte // String, Bytes
}

// Compare orders values of one type. Zeros of floats are equal; NaNs stand at both ends.
func (v Value) Compare(w Value) int {
	if v.Type.Textual() {
		return bytes.Compare(v.Data, w.Data)
	}
	return cmp.Compare(Ordered(v.Type, v.Bits), Ordered(w.Type, w.Bits))
}

// IsNaN reports whether the value is a float that is no number.
func (v Value) IsNaN() bool {
	return v.Type == Float64 && math.IsNaN(math.Float64frombits(v.Bits))
}

// String is for people.
func (v Value) String() string {
	switch v.Type {
	case String, Bytes:
		return fields.Quote(v.Data)
	case Int64:
		return strconv.FormatInt(int64(v.Bits), 10)
	case Float64:
		return fmt.Sprint(math.Float64frombits(v.Bits))
	}
	return strconv.FormatUint(v.Bits, 10)
}

// Ordered turns the bits of a number into others, whose order as integers is that of the numbers. Zeros of floats are equal.
func Ordered(t Type, bits uint64) uint64 {
	if t == Float64 && bits == 1<<63 { // -0
		bits = 0
	}
	return TotalOrder(t, bits)
}

// TotalOrder is Ordered, but that different bits of a type are never equal: -0 comes before 0.
func TotalOrder(t Type, bits uint64) uint64 {
	switch {
	case t == Int64, t == Float64 && bits>>63 == 0:
		return bits ^ 1<<63
	case t == Float64:
		return ^bits
	}
	return bits
}

// Unordered is the inverse of Ordered, but for -0.
func Unordered(t Type, o uint64) uint64 {
	const sign = 1 << 63
	switch t {
	case Int64:
		return o ^ sign
	case Float64:
		if o&sign == 0 {
			return ^o
		}
		return o ^ sign
	}
	return o
}

// ReadType reads the type of a column.
func ReadType(c *fields.Cursor) (t Type) {
	if b := c.Take("type", 1); b != nil {
		t = Type(b[0])
		c.Note(1, "type", t)
	}
	if !t.Valid() {
		c.Refuse(1, "type", fault.Unsupportedf("%d is no type of columns", uint8(t)))
	}
	return t
}

// ReadValue reads a value of a base type as it stands in statistics.
func ReadValue(c *fields.Cursor, label string, t Type) Value {
	v := Value{Type: t}
	switch t {
	case String, Bytes:
		v.Data = c.Block(label)
		if len(v.Data) > MaxValueLen {
			c.Fail(label, fault.Limitf("a value of %d bytes is longer than the limit of %d", len(v.Data), MaxValueLen))
		}
		return v
	case Bool:
		if b := c.Take(label, 1); b != nil && b[0] != 0 {
			v.Bits = 1
		}
		v.note(c, 1, label)
		return v
	}
	if b := c.Take(label, 8); b != nil {
		v.Bits = binary.LittleEndian.Uint64(b)
	}
	v.note(c, 8, label)
	return v
}

func (v Value) note(c *fields.Cursor, size int, label string) {
	if c.Parts != nil {
		c.Note(size, label, v)
	}
}

// ReadBounds reads two values. They are not known if they are no bounds.
func ReadBounds(c *fields.Cursor, t Type) (lo, hi Value, known bool) {
	lo = ReadValue(c, "min", t)
	hi = ReadValue(c, "max", t)
	return lo, hi, c.Err == nil && !lo.IsNaN() && !hi.IsNaN() && lo.Compare(hi) <= 0
}

// Append appends the value as it stands in statistics.
func (v Value) Append(dst []byte) []byte {
	switch v.Type {
	case String, Bytes:
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(v.Data)))
		return append(dst, v.Data...)
	case Bool:
		return append(dst, byte(v.Bits))
	}
	return binary.LittleEndian.AppendUint64(dst, v.Bits)
}

// ValueAt is value k of the values of a column. It refers to the memory of the column.
func (c *Column) ValueAt(k int) Value {
	if c.Type.Textual() {
		return Value{Type: c.Type.Base(), Data: c.Values.Bytes(k)}
	}
	return Value{Type: c.Type.Base(), Bits: c.Values.Numbers[k]}
}
