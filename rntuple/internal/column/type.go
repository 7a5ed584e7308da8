// Package column turns the pages of an RNTuple's columns into values in memory and back: bit packing, byte transposition
// ("split"), delta and zigzag encoding, and reals of low precision. It knows neither files nor schemas.
//
// A [Codec] describes one column. Pages come uncompressed, and values lie as Arrow has them: booleans as bits, all
// else as little-endian numbers side by side.
package column

import "fmt"

// Type is the type of a column on disk, by its code in format 1.0.
type Type uint16

// The column types of format 1.0.
const (
	Bit Type = iota
	Byte
	Char
	Int8
	UInt8
	Int16
	UInt16
	Int32
	UInt32
	Int64
	UInt64
	Real16
	Real32
	Real64
	Index32
	Index64
	Switch
	SplitInt16
	SplitUInt16
	SplitInt32
	SplitUInt32
	SplitInt64
	SplitUInt64
	SplitReal16
	SplitReal32
	SplitReal64
	SplitIndex32
	SplitIndex64
	Real32Trunc
	Real32Quant
	typeCount
)

// transform is what an encoder does to an element before it is stored.
type transform uint8

const (
	plain  transform = iota
	zigzag           // signed to unsigned: 0, -1, 1, -2 … become 0, 1, 2, 3 …
	delta            // the difference to the element before, anew in each page
)

// types has a row for each column type.
var types = [typeCount]struct {
	name             string
	minBits, maxBits uint16
	native           Kind
	split            bool // all first bytes of a page, then all second bytes …
	transform        transform
}{
	Bit:          {name: "Bit", minBits: 1, maxBits: 1, native: KindBool},
	Byte:         {name: "Byte", minBits: 8, maxBits: 8, native: KindByte},
	Char:         {name: "Char", minBits: 8, maxBits: 8, native: KindChar},
	Int8:         {name: "Int8", minBits: 8, maxBits: 8, native: KindInt8},
	UInt8:        {name: "UInt8", minBits: 8, maxBits: 8, native: KindUint8},
	Int16:        {name: "Int16", minBits: 16, maxBits: 16, native: KindInt16},
	UInt16:       {name: "UInt16", minBits: 16, maxBits: 16, native: KindUint16},
	Int32:        {name: "Int32", minBits: 32, maxBits: 32, native: KindInt32},
	UInt32:       {name: "UInt32", minBits: 32, maxBits: 32, native: KindUint32},
	Int64:        {name: "Int64", minBits: 64, maxBits: 64, native: KindInt64},
	UInt64:       {name: "UInt64", minBits: 64, maxBits: 64, native: KindUint64},
	Real16:       {name: "Real16", minBits: 16, maxBits: 16, native: KindFloat16},
	Real32:       {name: "Real32", minBits: 32, maxBits: 32, native: KindFloat32},
	Real64:       {name: "Real64", minBits: 64, maxBits: 64, native: KindFloat64},
	Index32:      {name: "Index32", minBits: 32, maxBits: 32, native: KindUint32},
	Index64:      {name: "Index64", minBits: 64, maxBits: 64, native: KindUint64},
	Switch:       {name: "Switch", minBits: 96, maxBits: 96},
	SplitInt16:   {name: "SplitInt16", minBits: 16, maxBits: 16, native: KindInt16, split: true, transform: zigzag},
	SplitUInt16:  {name: "SplitUInt16", minBits: 16, maxBits: 16, native: KindUint16, split: true},
	SplitInt32:   {name: "SplitInt32", minBits: 32, maxBits: 32, native: KindInt32, split: true, transform: zigzag},
	SplitUInt32:  {name: "SplitUInt32", minBits: 32, maxBits: 32, native: KindUint32, split: true},
	SplitInt64:   {name: "SplitInt64", minBits: 64, maxBits: 64, native: KindInt64, split: true, transform: zigzag},
	SplitUInt64:  {name: "SplitUInt64", minBits: 64, maxBits: 64, native: KindUint64, split: true},
	SplitReal16:  {name: "SplitReal16", minBits: 16, maxBits: 16, native: KindFloat16, split: true},
	SplitReal32:  {name: "SplitReal32", minBits: 32, maxBits: 32, native: KindFloat32, split: true},
	SplitReal64:  {name: "SplitReal64", minBits: 64, maxBits: 64, native: KindFloat64, split: true},
	SplitIndex32: {name: "SplitIndex32", minBits: 32, maxBits: 32, native: KindUint32, split: true, transform: delta},
	SplitIndex64: {name: "SplitIndex64", minBits: 64, maxBits: 64, native: KindUint64, split: true, transform: delta},
	Real32Trunc:  {name: "Real32Trunc", minBits: 10, maxBits: 31, native: KindFloat32},
	Real32Quant:  {name: "Real32Quant", minBits: 1, maxBits: 32, native: KindFloat64},
}

// Known tells whether this package knows the type. Newer files may have others: readers leave out the fields that
// need them.
func (t Type) Known() bool { return t < typeCount }

// Index tells whether the column holds the end offsets of collections, relative to the cluster.
func (t Type) Index() bool {
	return t == Index32 || t == Index64 || t == SplitIndex32 || t == SplitIndex64
}

// Real tells whether the column holds floating-point values.
func (t Type) Real() bool {
	switch t {
	case Real16, Real32, Real64, SplitReal16, SplitReal32, SplitReal64, Real32Trunc, Real32Quant:
		return true
	}
	return false
}

// Bits is the range of sizes of an element in bits; both are equal for most types, and 0 for one that is not known.
func (t Type) Bits() (low, high uint16) {
	if !t.Known() {
		return 0, 0
	}
	return types[t].minBits, types[t].maxBits
}

// Native is the kind of value that the column decodes to without a conversion, or 0 for a Switch and unknown types.
func (t Type) Native() Kind {
	if !t.Known() {
		return 0
	}
	return types[t].native
}

// String is the name that the specification has for the type.
func (t Type) String() string {
	if !t.Known() {
		return fmt.Sprintf("column type 0x%02x", uint16(t))
	}
	return types[t].name
}

// Unknown marks the codes of other formats that have no meaning in 1.0.
const Unknown Type = 0x8000

// FromV02 translates a type's code of format 0.2.0.0. A code without meaning there becomes an unknown type.
func FromV02(code uint16) Type {
	if int(code) < len(v02) && code > 0 {
		return v02[code]
	}
	return Unknown | Type(code)
}

// v02 has the types of format 0.2.0.0 by their code; 0 has no meaning.
var v02 = [...]Type{
	0x01: Index64, Index32, Switch, Byte, Char, Bit, Real64, Real32, Real16,
	0x0A: UInt64, UInt32, UInt16, UInt8, SplitIndex64, SplitIndex32,
	0x10: SplitReal64, SplitReal32, SplitReal16, SplitUInt64, SplitUInt32, SplitUInt16,
	0x16: Int64, Int32, Int16, Int8, SplitInt64, SplitInt32, SplitInt16,
}
