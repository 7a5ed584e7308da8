// Package encoding holds the common parts of the families of block encodings: their codes, the profiles a writer chooses by, the options of
// an encoder, the words for an encoded tree, and what surrounds the trees of a buffer: the frames of its blocks ([Block]), their presence
// sections, and the map that finds them ([BlockMap]).
//
// Below it, [numeric] and [bytestring] are the two families of encoding trees; the kernels lie in internal. None of them imports Arrow or
// protobuf, or does I/O.
package encoding

import (
	"cmp"
	"fmt"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// Code is the number at the start of every encoding tree.
type Code uint16

// The codes; docs/format.md §7.2 has the table, with the types that each takes.
// Those from 0x8000 are ours (edition 2026).
const (
	Plain           Code = 1  // the values as they are
	FLBitPack       Code = 2  // unsigned values in W bits each, in FastLanes order
	FOR             Code = 3  // differences from a reference, as a tree
	FFOR            Code = 4  // differences from a reference, packed
	Delta           Code = 5  // first value, then differences
	RunLength       Code = 6  // values of runs, and lengths of runs
	SingleValue     Code = 7  // one value for all slots
	TruncateU8      Code = 8  // signed values by their low 8 bits
	TruncateU16     Code = 9  // 16 bits
	TruncateU32     Code = 10 // 32 bits
	TruncateU64     Code = 11 // 64 bits: a cast to unsigned
	ALP             Code = 12 // floats as integers and powers of ten, with exceptions
	ALPRD           Code = 13 // floats cut in two, the left parts by a dictionary
	BlockDictionary Code = 14 // distinct values of the block, and codes
	FSST            Code = 15 // byte strings by a table of short symbols
	Zstd            Code = 16 // Zstandard frames
	LZ4             Code = 17 // one LZ4 block
	ZigZag          Code = 18 // signed values as unsigned ones, small ones small
	Sparse          Code = 19 // positions and values of non-zero slots

	DecimalTree   Code = 0x8001 // decimals as integers of one exponent, with exceptions
	CommonDivisor Code = 0x8002 // integers as multiples of a divisor
	BytePlanes    Code = 0x8003 // each byte of the values as a tree of its own
	Narrow        Code = 0x8004 // unsigned values in a narrower type
	PatchedPack   Code = 0x8005 // FFOR with exceptions
	PrefixBins    Code = 0x8006 // integers as prefix codes of ranges, and offsets in them
	FlatLZ        Code = 0x8007 // copies of earlier bytes in sequences of one size, and literals
	Template      Code = 0x8008 // texts as templates and the digits in them
	TightPack     Code = 0x800A // FFOR without chunks
	OnPair        Code = 0x800B // tokens of a dictionary of up to 16 bytes
	Fields        Code = 0x800C // texts as patterns, and columns of what differs
	RadixPack     Code = 0x800D // characters as digits of numbers in mixed radix
	FrontCoding   Code = 0x800E // byte strings by what they share with the one before, and the rest
	SharedPair    Code = 0x800F // OnPair with a dictionary that blocks share
	LagDelta      Code = 0x8010 // differences from values some positions before
)

var names = map[Code]string{
	Plain: "Plain", FLBitPack: "FLBitPack", FOR: "FOR", FFOR: "FFOR", Delta: "Delta", RunLength: "RunLength",
	SingleValue: "SingleValue", TruncateU8: "TruncateU8", TruncateU16: "TruncateU16", TruncateU32: "TruncateU32",
	TruncateU64: "TruncateU64", ALP: "ALP", ALPRD: "ALPRD", BlockDictionary: "BlockDictionary", FSST: "FSST",
	Zstd: "Zstd", LZ4: "LZ4", ZigZag: "ZigZag", Sparse: "Sparse", DecimalTree: "DecimalTree",
	CommonDivisor: "CommonDivisor", BytePlanes: "BytePlanes", Narrow: "Narrow", PatchedPack: "PatchedPack", PrefixBins: "PrefixBins", TightPack: "TightPack",
	FlatLZ: "FlatLZ", Template: "Template", OnPair: "OnPair", RadixPack: "RadixPack", FrontCoding: "FrontCoding", Fields: "Fields", SharedPair: "SharedPair", LagDelta: "LagDelta",
}

// Known reports whether the code is one of those above.
func (c Code) Known() bool { return names[c] != "" }

// String is the name of the encoding.
func (c Code) String() string {
	if n, ok := names[c]; ok {
		return n
	}
	return fmt.Sprintf("code %#x", uint16(c))
}

// Profile says how an encoder weighs bytes against the time to write and read them.
type Profile uint8

// The profiles. The zero value is the default.
const (
	Balanced           Profile = iota // small where it costs little to decode
	ProfilePlain                      // no encoding at all (its name is Plain)
	MinimalCompression                // light encodings only
	HighCompression                   // smaller, scans somewhat slower
	MinimalSize                       // as small as can be had
)

var profileNames = [...]string{"Balanced", "Plain", "MinimalCompression", "HighCompression", "MinimalSize"}

// String is the name of the profile.
func (p Profile) String() string {
	if int(p) < len(profileNames) {
		return profileNames[p]
	}
	return fmt.Sprintf("Profile(%d)", uint8(p))
}

// ParseProfile is the inverse of [Profile.String].
func ParseProfile(name string) (Profile, error) {
	for i, n := range profileNames {
		if n == name {
			return Profile(i), nil
		}
	}
	return 0, fmt.Errorf("unknown profile %q: use one of %v", name, profileNames)
}

// Bits are Len bits of Data from bit Off on, in Arrow's order: 1 for a value, 0 for a null. If Data is nil, all are 1.
type Bits = bitmap.Bits

// Rows are positions of values, as ranges or as single ones.
type Rows = rowset.Set

// Features are what a shard may use beyond the reference. The zero value has none.
type Features = edition.Set

// Options are those of every encoder. The zero value is Balanced, edition
// reference, with checksums.
type Options struct {
	Profile     Profile  // how bytes and time weigh
	Features    Features // features beyond the reference that the shard may use
	NoChecksums bool     // leave out the checksum at the end of each block
	NoPresence  bool     // the buffer keeps its nulls elsewhere: blocks have no presence section
	BlockValues int      // the most values of a block: a power of two from LeastBlockValues to MostBlockValues, or 0 for that
}

// Bounds of Options.BlockValues.
const (
	LeastBlockValues = 8 << 10
	MostBlockValues  = 64 << 10
)

// MaxBlockValues is the most values of a block.
func (o *Options) MaxBlockValues() int {
	return cmp.Or(o.BlockValues, MostBlockValues)
}

// PadTo8 is n rounded up to a multiple of 8.
func PadTo8(n int) int { return (n + 7) &^ 7 }
