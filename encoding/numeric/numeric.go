// Package numeric reads and writes the encoding trees of numbers: sequences of
// one fixed-width integer or float type (docs/format.md §7.1 to §7.4).
//
// A tree begins with the u16 code of its encoding, then a fixed header and zeros
// up to a multiple of 8, then a payload that may hold further trees:
//
//	u16 code | header | zeros up to H = 2 + len(header), rounded up to 8 | payload
//
// Plain and SingleValue have no header and no zeros: their payload starts at
// byte 2. A tree holds neither its length in bytes nor its number of values; both
// come from what encloses it, and both have to be exact. There is no type tag
// either: the type comes from the schema, or from the encoding around the tree.
//
// Each encoding is one file, with its layout drawn on top; table.go lists them.
package numeric

import (
	"unsafe"

	"github.com/amudai/amudai-go/encoding/block"
	"github.com/amudai/amudai-go/encoding/presence"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Value is a type that trees hold.
type Value interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// Type names a [Value] type at run time.
type Type uint8

// The types. Their numbers are in no file.
const (
	I8  Type = iota // int8
	I16             // int16
	I32             // int32
	I64             // int64
	U8              // uint8: bits and bytes, too
	U16             // uint16
	U32             // uint32: dictionary codes, lengths, positions
	U64             // uint64: DateTime and offsets, too
	F32             // float32
	F64             // float64
)

var typeNames = [...]string{"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"}

// String is i8, u64, f32 and so on.
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return "unknown type"
}

// Size is the number of bytes of a value.
func (t Type) Size() int {
	if t.Float() {
		return 4 << (t - F32)
	}
	return 1 << (t & 3)
}

// Signed tells whether t is a signed integer.
func (t Type) Signed() bool { return t <= I64 }

// Unsigned tells whether t is an unsigned integer.
func (t Type) Unsigned() bool { return t >= U8 && t <= U64 }

// Float tells whether t is a float.
func (t Type) Float() bool { return t >= F32 }

// unsigned is the unsigned integer type as wide as the integer type t.
func (t Type) unsigned() Type { return U8 | t&3 }

// signed is the signed integer type as wide as the integer type t.
func (t Type) signed() Type { return I8 | t&3 }

// integer is the signed integer type as wide as the float type t.
func (t Type) integer() Type { return I32 + (t - F32) }

// Of is the Type of T.
func Of[T Value]() Type {
	var v T
	switch any(v).(type) {
	case int8:
		return I8
	case int16:
		return I16
	case int32:
		return I32
	case int64:
		return I64
	case uint8:
		return U8
	case uint16:
		return U16
	case uint32:
		return U32
	case uint64:
		return U64
	case float32:
		return F32
	}
	return F64
}

// BlockOptions say how a buffer frames its blocks.
type BlockOptions struct {
	Checksums bool // each block ends with a checksum
}

// DecodeBlock decodes the block that blk holds, whole: len(dst) values into dst,
// and as many validity bits (1 = value) into validity from bit off on. With
// validity nil the nulls are only counted. Slots of nulls hold whatever the
// writer put there. After an error dst and the bits are undefined. Errors wrap
// one of the kinds of package fault.
func DecodeBlock[T Value](dst []T, validity []byte, off int, blk []byte, o BlockOptions, s *Scratch) (nulls int, err error) {
	b, nulls, err := parseBlock(blk, len(dst), validity, off, o)
	if err != nil {
		return 0, err
	}
	if err := Decode(dst, b.Values, s); err != nil {
		return 0, fault.In(err, "values", int64(b.ValuesOffset))
	}
	return nulls, nil
}

// parseBlock parses a block of n values and reads its nulls.
func parseBlock(blk []byte, n int, validity []byte, off int, o BlockOptions) (b block.Block, nulls int, err error) {
	if b, err = block.Parse(blk, o.Checksums); err != nil {
		return b, 0, err
	}
	if nulls, err = presence.Decode(b.Presence, n, validity, off); err != nil {
		return b, 0, fault.In(err, "presence", block.HeaderLen)
	}
	return b, nulls, nil
}

// Decode decodes a tree of exactly len(dst) values. After an error dst is
// undefined. Errors wrap one of the kinds of package fault. A Scratch serves one
// goroutine at a time.
func Decode[T Value](dst []T, tree []byte, s *Scratch) error {
	s.begin()
	t := Of[T]()
	switch t.Size() {
	case 1:
		return decode(as[uint8](dst), tree, t, s)
	case 2:
		return decode(as[uint16](dst), tree, t, s)
	case 4:
		return decode(as[uint32](dst), tree, t, s)
	}
	return decode(as[uint64](dst), tree, t, s)
}

// as is the same memory as values of another type of the same size.
func as[U, T Value](values []T) []U {
	return unsafe.Slice((*U)(unsafe.Pointer(unsafe.SliceData(values))), len(values))
}
