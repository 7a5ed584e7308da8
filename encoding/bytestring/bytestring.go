// Package bytestring reads and writes the blocks of byte strings: String and
// Binary, whose values have any length, and FixedSizeBinary, Guid and decimals,
// whose values all have the same (docs/format.md §7.5).
//
// The values section of such a block is one tree. It begins with the u16 code of
// its encoding. Inside a tree lie trees of numbers (package numeric):
// dictionary codes, lengths, and offsets. Offsets always are n+1 u64 that ascend
// from 0 to the number of bytes of all values.
//
// A block is read in two steps. [Parse] checks it and returns a view; [Decode]
// writes the values straight to their final place.
//
// This package is the API. Below it, internal/tree has the common parts of all trees, internal/encode chooses
// encodings, and internal/codec has the encodings, a file each, with the layout drawn above the code. Its table.go
// lists them. Package vector has values in memory, and their copies by code.
package bytestring

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/codec"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/encoding/internal/vector"
	"github.com/amudai/amudai-go/internal/format/decimal"
)

// Values are byte strings in memory, as encoders take them.
type Values = vector.Values

// Table is a list of byte strings that [Gather] copies by their numbers.
type Table = vector.Table

// NewTable makes a table of values, which must not change while it is used.
func NewTable(v Values) *Table { return vector.NewTable(v) }

// Gather copies the strings of codes to dst and their ends to offsets, as package vector describes. It returns the number of bytes.
func Gather[O int32 | int64](t *Table, dst []byte, offsets []O, base O, codes []uint32) (int, error) {
	return vector.Gather(t, dst, offsets, base, codes)
}

// Block is a parsed block. It refers to the block's bytes and to the memory of
// the Scratch it was parsed with, and is valid until that is used again.
type Block = tree.Block

// Scratch is the working memory of a decoder, kept between blocks so that
// decoding does not allocate. The zero value is ready. It grows to what the
// largest block needed, and serves one goroutine at a time.
type Scratch = tree.Scratch

// BlockOptions say how a buffer frames its blocks, and how much memory they may take.
type BlockOptions = tree.BlockOptions

// Dictionary is what the blocks of a buffer share: tokens, of which their values consist (docs/format.md §8.2). It is safe for concurrent use.
type Dictionary = tree.Dictionary

// DictionaryID is the id of the dictionaries that an [Encoder] makes.
const DictionaryID = tree.DictionaryID

// ParseDictionary reads the buffer of a dictionary, which has an id, and keeps none of its bytes.
func ParseDictionary(b []byte, id uint32) (*Dictionary, error) { return tree.ParseDictionary(b, id) }

// SharesDictionary reports whether the values of a block can only be read with the dictionary that blocks share.
func SharesDictionary(blk []byte) bool {
	b, err := encoding.ParseBlock(blk, false)
	return err == nil && len(b.Values) >= 2 && encoding.Code(binary.LittleEndian.Uint16(b.Values)) == encoding.SharedPair
}

// DefaultMaxDecoded is the limit on a decoded block that options have by default.
const DefaultMaxDecoded = tree.DefaultMaxDecoded

// Required is what values must have so that a condition holds: all parts, and they begin with the prefix, or are it.
type Required = tree.Required

// Decimal is a decimal number: digits and an exponent of ten.
type Decimal = decimal.Decimal

// Exceptions are decimals that have no integer. Positions ascend.
type Exceptions = tree.Exceptions

// IntegerTree is a block of decimals as integers that are still encoded; see
// [Block.Integers]. It shares the block's memory, and that of the Scratch.
type IntegerTree = codec.IntegerTree

// Parse checks the block that blk holds, whole, of n values, each of fixed bytes
// or, if fixed is 0, of any length. After it Decode can only fail because
// compressed bytes do not unpack. Memory is taken from s once sizes have been
// compared with the bytes of the block and with the limit of o. Errors wrap one
// of the kinds of package fault.
func Parse(blk []byte, n, fixed int, o BlockOptions, s *Scratch) (*Block, error) {
	return codec.Table.Read.Parse(blk, n, fixed, o, s)
}

// ParseIntegers is [Parse] for blocks of decimals that are stored as integers, for
// callers who decode those themselves. ok is false for blocks stored otherwise.
func ParseIntegers(blk []byte, n int, o BlockOptions, s *Scratch) (t IntegerTree, ok bool, err error) {
	return codec.ParseIntegers(blk, n, o, s)
}

// Decode writes the values back to back to dst, and where each ends to offsets:
// the first ends at base plus its length. dst is DataLen bytes long, and offsets
// Len long, or nil if values have a fixed size. Bytes of dst beyond its length,
// up to its capacity, may be overwritten with anything.
func Decode[O int32 | int64](b *Block, dst []byte, offsets []O, base O) error {
	return tree.Decode(b, dst, offsets, base)
}

// DecodeRange is [Decode] for the slots from up to (not including) to: dst is
// RangeLen bytes long. A compressed block is unpacked as a whole into the
// Scratch first, once for any number of ranges; a few ranges of FSST are decoded alone, and
// the codes between them passed over.
func DecodeRange[O int32 | int64](b *Block, from, to int, dst []byte, offsets []O, base O) error {
	return tree.DecodeRange(b, from, to, dst, offsets, base)
}

// Describe names the bytes of a tree of n values, each of fixed bytes or,
// with fixed 0, of any length, without decoding the values. Of a bad tree it
// describes the readable part, and puts the error into the node it was found in.
func Describe(tree []byte, n, fixed int) encoding.Tree {
	return codec.Table.Read.Describe(tree, n, fixed)
}
