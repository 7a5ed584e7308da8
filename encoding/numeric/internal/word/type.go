// Package word holds what all encodings of numbers share about machine words: the types of values, and how values
// lie in memory.
//
// Trees are decoded as unsigned words: everything but widening, scaling and checking works the same for signed,
// unsigned and float values of one width.
package word

import "github.com/amudai/amudai-go/encoding/internal/fastlanes"

// Value is a type that trees hold.
type Value interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// Uint is the unsigned integer types, which stand for all types of their width.
type Uint = fastlanes.Word

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

// Signed reports whether t is a signed integer.
func (t Type) Signed() bool { return t <= I64 }

// Unsigned reports whether t is an unsigned integer.
func (t Type) Unsigned() bool { return t >= U8 && t <= U64 }

// Float reports whether t is a float.
func (t Type) Float() bool { return t >= F32 }

// ToUnsigned is the unsigned integer type as wide as the integer type t.
func (t Type) ToUnsigned() Type { return U8 | t&3 }

// ToSigned is the signed integer type as wide as the integer type t.
func (t Type) ToSigned() Type { return I8 | t&3 }

// ToInteger is the signed integer type as wide as the float type t.
func (t Type) ToInteger() Type { return I32 + (t - F32) }

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

// Types is a set of types.
type Types uint16

// Sets of types.
const (
	SignedInts   = Types(1<<I8 | 1<<I16 | 1<<I32 | 1<<I64)
	UnsignedInts = Types(1<<U8 | 1<<U16 | 1<<U32 | 1<<U64)
	Ints         = SignedInts | UnsignedInts
	Floats       = Types(1<<F32 | 1<<F64)
	All          = Ints | Floats

	From16 = All &^ (1<<I8 | 1<<U8)      // of 16 bits and more
	From32 = From16 &^ (1<<I16 | 1<<U16) // of 32 bits and more
	From64 = Types(1<<I64 | 1<<U64 | 1<<F64)
)

// Has reports whether t is in the set.
func (s Types) Has(t Type) bool { return s>>t&1 != 0 }
