package layout

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Value is a value of a base type: a key, or a bound.
type Value struct {
	Type column.Type // String to Bytes
	Bits uint64      // Int64, Uint64, Float64 (IEEE bits), Bool (0, 1)
	Data []byte      // String, Bytes
}

// Compare orders values of one type. Zeros of floats are equal; NaNs stand at both ends.
func (v Value) Compare(w Value) int {
	if v.Type.Textual() {
		return bytes.Compare(v.Data, w.Data)
	}
	return cmp.Compare(ordered(v.Type, v.Bits), ordered(w.Type, w.Bits))
}

// IsNaN reports whether the value is a float that is no number.
func (v Value) IsNaN() bool {
	return v.Type == column.Float64 && math.IsNaN(math.Float64frombits(v.Bits))
}

// String is for people.
func (v Value) String() string {
	switch v.Type {
	case column.String, column.Bytes:
		return quote(v.Data)
	case column.Int64:
		return strconv.FormatInt(int64(v.Bits), 10)
	case column.Float64:
		return fmt.Sprint(math.Float64frombits(v.Bits))
	}
	return strconv.FormatUint(v.Bits, 10)
}

// ordered turns the bits of a number into others, whose order as integers is that of the numbers.
func ordered(t column.Type, bits uint64) uint64 {
	const sign = 1 << 63
	switch t {
	case column.Int64:
		return bits ^ sign
	case column.Float64:
		if bits == sign { // -0
			bits = 0
		}
		if bits&sign != 0 {
			return ^bits
		}
		return bits | sign
	}
	return bits
}

// unordered is the inverse of ordered, but for -0.
func unordered(t column.Type, o uint64) uint64 {
	const sign = 1 << 63
	switch t {
	case column.Int64:
		return o ^ sign
	case column.Float64:
		if o&sign == 0 {
			return ^o
		}
		return o ^ sign
	}
	return o
}

// value reads a value of a base type as it stands in statistics.
func (c *cursor) value(label string, t column.Type) Value {
	v := Value{Type: t}
	switch t {
	case column.String, column.Bytes:
		v.Data = c.block(label)
		if len(v.Data) > MaxValueLength {
			c.fail(label, fault.Limitf("%d bytes, at most %d are possible", len(v.Data), MaxValueLength))
		}
		return v
	case column.Bool:
		if b := c.take(label, 1); b != nil && b[0] != 0 {
			v.Bits = 1
		}
		c.noteValue(1, label, v)
		return v
	}
	if b := c.take(label, 8); b != nil {
		v.Bits = binary.LittleEndian.Uint64(b)
	}
	c.noteValue(8, label, v)
	return v
}

func (c *cursor) noteValue(size int, label string, v Value) {
	if c.parts != nil && c.err == nil {
		c.note(size, label, v)
	}
}

// bounds reads two values. They are not known if they are no bounds.
func (c *cursor) bounds(t column.Type) (lo, hi Value, known bool) {
	lo = c.value("min", t)
	hi = c.value("max", t)
	return lo, hi, c.err == nil && !lo.IsNaN() && !hi.IsNaN() && lo.Compare(hi) <= 0
}

func appendBounds(dst []byte, lo, hi Value) []byte {
	return appendValue(appendValue(dst, lo), hi)
}

func appendValue(dst []byte, v Value) []byte {
	switch v.Type {
	case column.String, column.Bytes:
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(v.Data)))
		return append(dst, v.Data...)
	case column.Bool:
		return append(dst, byte(v.Bits))
	}
	return binary.LittleEndian.AppendUint64(dst, v.Bits)
}
