// Package column is the encodings of columns of Blockpack blocks: the kinds 1 to 13 of docs/blockpack.md ↔ values in
// memory.
package column

import (
	"cmp"
	"iter"
	"math/bits"
	"strconv"

	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Type is the type of a column, by its number in files.
type Type uint8

// The types of columns. The Range types are those of columns that a range index divides into buckets; in a block, they
// are stored as their [Type.Base].
const (
	String Type = iota
	Int64
	Uint64
	Float64
	Bool
	Bytes
	RangeInt64
	RangeUint64
	RangeDuration
	RangeFloat64
	RangeBytes
	RangeString
	types
)

var typeNames = [types]string{"String", "Int64", "Uint64", "Float64", "Bool", "Bytes",
	"RangeInt64", "RangeUint64", "RangeDuration", "RangeFloat64", "RangeBytes", "RangeString"}

// Valid tells whether the number is one of the format's.
func (t Type) Valid() bool { return t < types }

// String is the name in the specification.
func (t Type) String() string {
	if t.Valid() {
		return typeNames[t]
	}
	return "type " + strconv.Itoa(int(t))
}

// Base is the type of the stored values: one of String to Bytes for a valid type.
func (t Type) Base() Type {
	switch t {
	case RangeInt64, RangeDuration:
		return Int64
	case RangeUint64:
		return Uint64
	case RangeFloat64:
		return Float64
	case RangeBytes:
		return Bytes
	case RangeString:
		return String
	}
	return t
}

// Textual tells whether values are byte strings: of String, Bytes and their Range types.
func (t Type) Textual() bool { return t.Base() == String || t.Base() == Bytes }

// Column has the values of one column in the rows of a block.
type Column struct {
	Name string
	Type Type // String to Bytes
	Rows int
	// Present is a bitmap as Arrow's validity: bit i%8 of byte i/8 is set if row i has a value. nil: every row has one.
	Present []byte
	// Codes has for each present row, in order, the index of its value in Values. nil: Values has the value of each
	// present row, in order.
	Codes  []uint32
	Values Values
	// PackedUUID tells that the strings were stored as 16 bytes each, and are here as UUIDs in text.
	PackedUUID bool
}

// Size is about the memory of the column in bytes.
func (c *Column) Size() int64 {
	return int64(len(c.Present) + 4*len(c.Codes) + 8*len(c.Values.Numbers) + 4*len(c.Values.Offsets) + len(c.Values.Data))
}

// Key names a column of a file: columns of one name may have different types.
type Key struct {
	Name string
	Type Type
}

// Compare orders columns by name and type.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Name, o.Name), cmp.Compare(k.Type, o.Type))
}

// Key is the name and type of the column.
func (c *Column) Key() Key { return Key{c.Name, c.Type} }

// PresentCount is the number of rows with a value.
func (c *Column) PresentCount() int {
	return bitmap.Bits{Data: c.Present, Len: c.Rows}.Count()
}

// Each gives the rows with a value, and the index of each value in Values.
func (c *Column) Each() iter.Seq2[int, int] {
	if c.Codes == nil {
		return c.Ranks()
	}
	return func(yield func(row, k int) bool) {
		for row, rank := range c.Ranks() {
			if !yield(row, int(c.Codes[rank])) {
				return
			}
		}
	}
}

// ByRow gives for each row the index of its value in Values, -1 for null.
func (c *Column) ByRow() []int32 {
	values := make([]int32, c.Rows)
	for row := range values {
		values[row] = -1
	}
	for row, k := range c.Each() {
		values[row] = int32(k)
	}
	return values
}

// Ranks gives the rows with a value, and how many rows before each have one.
func (c *Column) Ranks() iter.Seq2[int, int] {
	return func(yield func(row, rank int) bool) {
		if c.Present == nil {
			for row := range c.Rows {
				if !yield(row, row) {
					return
				}
			}
			return
		}
		rank := 0
		for i, set := range c.Present[:(c.Rows+7)/8] {
			for ; set != 0; set &= set - 1 {
				row := 8*i + bits.TrailingZeros8(set)
				if row >= c.Rows || !yield(row, rank) {
					return
				}
				rank++
			}
		}
	}
}

// Values are values without nulls.
type Values struct {
	Numbers []uint64 // the bits of Int64, Uint64 and Float64 values; 0 or 1 for Bool
	Offsets []uint32 // String and Bytes: value k is Data[Offsets[k]:Offsets[k+1]]; empty if there are no values
	Data    []byte
}

// Len is the number of values.
func (v *Values) Len() int {
	if v.Offsets != nil {
		return max(len(v.Offsets)-1, 0)
	}
	return len(v.Numbers)
}

// Bytes is value k of a String or Bytes column. It is a part of Data.
func (v *Values) Bytes(k int) []byte {
	return v.Data[v.Offsets[k]:v.Offsets[k+1]:v.Offsets[k+1]]
}

// add appends a value. Offsets must not be empty.
func (v *Values) add(value []byte) {
	v.Data = append(v.Data, value...)
	v.Offsets = append(v.Offsets, uint32(len(v.Data)))
}

// AppendRange appends values from first up to last of other ones. Offsets must not be empty, if there are any.
func (v *Values) AppendRange(from *Values, first, last int) {
	if from.Offsets == nil {
		v.Numbers = append(v.Numbers, from.Numbers[first:last]...)
		return
	}
	if first == last {
		return
	}
	begin, end := from.Offsets[first], uint32(len(v.Data))
	for _, o := range from.Offsets[first+1 : last+1] {
		v.Offsets = append(v.Offsets, end+o-begin)
	}
	v.Data = append(v.Data, from.Data[begin:from.Offsets[last]]...)
}

// Pick gives values in an order, each as often as it is there.
func Pick[I int | uint32](v *Values, order []I) (out Values) {
	if v.Offsets == nil {
		out.Numbers = make([]uint64, len(order))
		for i, k := range order {
			out.Numbers[i] = v.Numbers[k]
		}
		return out
	}
	size := 0
	for _, k := range order {
		size += int(v.Offsets[k+1] - v.Offsets[k])
	}
	out = Values{Offsets: make([]uint32, 1, len(order)+1), Data: make([]byte, 0, size)}
	for _, k := range order {
		out.add(v.Bytes(int(k)))
	}
	return out
}
