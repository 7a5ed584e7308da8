// Package numeric reads and writes the encoding trees of numbers: sequences of
// one fixed-width integer or float type (docs/format.md §7.1 to §7.4).
//
// This package is the API. Below it, internal/trees has the common parts of all trees, internal/encode chooses
// encodings, and internal/codec has the encodings, a file each, with the layout drawn above the code. Its table.go
// lists them.
package numeric

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/codec"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Value is a type of values of trees.
type Value interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// Type is a [Value] type at run time. It has a Size in bytes, is Signed, Unsigned or a Float, and its String is a
// name such as i8, u64, f32.
type Type = word.Type

// The types. Files do not contain their numbers.
const (
	I8  = word.I8  // int8
	I16 = word.I16 // int16
	I32 = word.I32 // int32
	I64 = word.I64 // int64
	U8  = word.U8  // uint8: bits and bytes, too
	U16 = word.U16 // uint16
	U32 = word.U32 // uint32: dictionary codes, lengths, positions
	U64 = word.U64 // uint64: DateTime and offsets, too
	F32 = word.F32 // float32
	F64 = word.F64 // float64
)

// Of returns the Type of T.
func Of[T Value]() Type { return word.Of[T]() }

// Scratch is the working memory of a decoder. It is reused between blocks, so that decoding does not allocate. The
// zero value is ready to use. It grows to the needs of the largest block, which are at most a few times the decoded
// size. It must not be used concurrently.
type Scratch struct{ s trees.Scratch }

// begin frees all memory for reuse.
func (s *Scratch) begin() { s.s.Begin(codec.Table.Read) }

// BlockOptions describe the frames of the blocks of a buffer.
type BlockOptions struct {
	Checksums bool // each block ends with a checksum
}

// DecodeBlock decodes the block blk: len(dst) values into dst, and as many validity bits (1 = value) into validity
// from bit off on. If validity is nil, nulls are only counted. Values under nulls are arbitrary. After an error dst
// and the bits are undefined. Errors wrap one of the kinds of package fault.
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
func parseBlock(blk []byte, n int, validity []byte, off int, o BlockOptions) (b encoding.Block, nulls int, err error) {
	if b, err = encoding.ParseBlock(blk, o.Checksums); err != nil {
		return b, 0, err
	}
	if nulls, err = encoding.DecodePresence(b.Presence, n, validity, off); err != nil {
		return b, 0, fault.In(err, "presence", encoding.BlockHeaderLen)
	}
	return b, nulls, nil
}

// Decode decodes a tree of exactly len(dst) values. After an error dst is
// undefined. Errors wrap one of the kinds of package fault.
func Decode[T Value](dst []T, tree []byte, s *Scratch) error {
	s.begin()
	t := Of[T]()
	switch t.Size() {
	case 1:
		return trees.Decode(word.As[uint8](dst), tree, t, &s.s)
	case 2:
		return trees.Decode(word.As[uint16](dst), tree, t, &s.s)
	case 4:
		return trees.Decode(word.As[uint32](dst), tree, t, &s.s)
	}
	return trees.Decode(word.As[uint64](dst), tree, t, &s.s)
}

// Ascends reports whether a valid tree of n uint64 shows by its encodings that each value is at least the one before,
// and that all are less than 2^63. Values of other trees may ascend, too.
func Ascends(tree []byte, n int, s *Scratch) bool {
	s.begin()
	return trees.Ascends(tree, n, &s.s)
}

// Describe describes the bytes of a tree of n values of type t, without decoding the values. It describes the
// readable part of an invalid tree, with the error in the node where it is.
func Describe(tree []byte, t Type, n int) encoding.Tree {
	return codec.Table.Read.Describe(tree, t, n)
}
