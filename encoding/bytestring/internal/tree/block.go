package tree

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/vector"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/format/decimal"
)

// Block is a parsed block. It refers to the block's bytes and to the memory of
// the Scratch it was parsed with, and is valid until that is used again.
type Block struct{ t Tree }

// Tree is a parsed tree, as its encoding sees it.
type Tree struct {
	N, Fixed int // values, and bytes of each, 0 for any
	Nulls    int
	DataLen  int // bytes of all values, once the tree is parsed
	Num      *numeric.Scratch

	// What encodings set that have it.
	Payload []byte   // value bytes: as they are, compressed, or of the single value
	Offsets []uint64 // N+1, unless values have a fixed size
	Lengths []uint32 // N, the same
	Codes   []uint32 // N
	Single  bool     // the values that are not null are the Payload
	Dict    *vector.Values
	Decimals

	// Dictionary is what blocks of the buffer share, nil for nothing.
	Dictionary *Dictionary

	scratch  *Scratch
	row      *Row
	presence []byte
	unpacked []byte // some of the decompressed bytes, in the Scratch
	first    int    // the place of the first of them among all
	wanted   int    // slots before it may be asked for, all if it is 0
	parts    int    // how many were read alone
}

// DefaultMaxDecoded is the limit on a decoded block that options have by default.
const DefaultMaxDecoded = 1 << 30

// BlockOptions say how a buffer frames its blocks, and how much memory they may take.
type BlockOptions struct {
	Checksums  bool        // each block ends with a checksum
	MaxDecoded int64       // most bytes that the values and offsets of a block may take; 0 means DefaultMaxDecoded
	Dictionary *Dictionary // that blocks share; nil if the column has none
}

// Parse is that of package bytestring.
func (t *Table) Parse(blk []byte, n, fixed int, o BlockOptions, s *Scratch) (*Block, error) {
	f, err := encoding.ParseBlock(blk, o.Checksums)
	if err != nil {
		return nil, err
	}
	limit := cmp.Or(max(o.MaxDecoded, 0), DefaultMaxDecoded)
	perValue := int64(max(fixed, 8))
	if n < 0 || fixed < 0 || int64(n)+1 > limit/perValue {
		return nil, fault.Limitf("block of %d values of %d bytes: more than %d bytes", n, fixed, limit)
	}
	b := &s.block
	b.t = s.begin(t, n, fixed, limit)
	b.t.presence, b.t.Dictionary = f.Presence, o.Dictionary
	if b.t.Nulls, err = encoding.DecodePresence(f.Presence, n, nil, 0); err != nil {
		return nil, fault.In(err, "presence", encoding.BlockHeaderLen)
	}
	if err := b.t.parse(f.Values, limit); err != nil {
		return nil, fault.In(err, "values", int64(f.ValuesOffset))
	}
	return b, nil
}

// begin is an empty tree that is not in another.
func (s *Scratch) begin(t *Table, n, fixed int, limit int64) Tree {
	s.own = nesting{table: t, room: limit}
	s.shared, s.used = &s.own, 0
	return Tree{scratch: s, Num: &s.num, N: n, Fixed: fixed}
}

// Open begins to read a tree that is not in another, without parsing it.
func (t *Table) Open(tree []byte, n, fixed int, s *Scratch) (*Tree, *Reader, error) {
	b := &s.block.t
	*b = s.begin(t, n, fixed, DefaultMaxDecoded)
	r, err := b.read(tree)
	return b, r, err
}

// read begins to read the tree.
func (t *Tree) read(tree []byte) (*Reader, error) {
	if len(tree) < 2 {
		return nil, fault.Corruptf("tree of %d bytes", len(tree))
	}
	code, s := encoding.Code(binary.LittleEndian.Uint16(tree)), t.scratch
	if t.row = s.shared.table.find(code); t.row == nil {
		return nil, fault.Unsupportedf("encoding %v of byte strings", code)
	}
	if s.states == nil {
		s.states = make([]any, len(s.shared.table.rows))
	}
	s.reader.Reset(tree)
	s.reader.N, s.reader.Fixed = t.N, t.Fixed
	return &s.reader, nil
}

func (t *Tree) parse(tree []byte, limit int64) error {
	r, err := t.read(tree)
	if err != nil {
		return err
	}
	size, err := t.row.Parse(t, r, limit)
	if err != nil {
		return fault.In(err, t.row.Code.String(), -1)
	}
	if t.Fixed > 0 {
		size = uint64(t.N) * uint64(t.Fixed)
	}
	if size > uint64(limit) || size > math.MaxInt {
		return fault.Limitf("block decodes to %d bytes, more than %d", size, limit)
	}
	t.DataLen = int(size)
	return nil
}

// CheckFixed compares the size of all values, which is fixed, with that of the bytes there are.
func (t *Tree) CheckFixed(have int) (uint64, error) {
	want := uint64(t.N) * uint64(t.Fixed)
	if want != uint64(have) {
		return 0, fault.Corruptf("%d bytes for %d values of %d", have, t.N, t.Fixed)
	}
	return want, nil
}

// Code is the encoding of the block's tree.
func (b *Block) Code() encoding.Code { return b.t.row.Code }

// Len is the number of values, nulls included.
func (b *Block) Len() int { return b.t.N }

// Nulls is the number of nulls.
func (b *Block) Nulls() int { return b.t.Nulls }

// DataLen is the bytes of all values.
func (b *Block) DataLen() int { return b.t.DataLen }

// Validity writes n bits to dst from bit off on, 1 for a value and 0 for null,
// and returns the number of nulls. In a dictionary block the codes decide, and
// the presence section otherwise.
func (b *Block) Validity(dst []byte, off int) (nulls int) {
	b.t.validity(dst, off)
	return b.t.Nulls
}

func (t *Tree) validity(dst []byte, off int) {
	if t.row.Validity != nil {
		t.row.Validity(t, dst, off)
	} else {
		// Parse has seen that it is good.
		_, _ = encoding.DecodePresence(t.presence, t.N, dst, off)
	}
}

// Present is the validity of all slots.
func (t *Tree) Present() bitmap.Bits {
	if t.Nulls == 0 {
		return bitmap.All(t.N)
	}
	bits := scratch.Slice(&t.scratch.bits, (t.N+7)/8)
	t.validity(bits, 0)
	return bitmap.Bits{Data: bits, Len: t.N}
}

// RangeLen is the bytes of the values from slot from up to (not including) to.
func (b *Block) RangeLen(from, to int) int { return b.t.rangeLen(from, to) }

func (t *Tree) rangeLen(from, to int) int {
	switch {
	case t.Fixed > 0:
		return (to - from) * t.Fixed
	case t.row.RangeLen != nil:
		return t.row.RangeLen(t, from, to)
	}
	return int(t.Offsets[to] - t.Offsets[from])
}

// AddLengths adds the bytes of each of the values from a slot on to dst.
func (b *Block) AddLengths(dst []int64, from int) error {
	t := &b.t
	if t.row != nil && t.row.AddLengths != nil && t.Fixed == 0 {
		return t.row.AddLengths(t, dst, from)
	}
	for i := range dst {
		dst[i] += int64(t.rangeLen(from+i, from+i+1))
	}
	return nil
}

// Decode is that of package bytestring.
func Decode[O int32 | int64](b *Block, dst []byte, offsets []O, base O) error {
	return decode(&b.t, 0, b.t.N, b.t.DataLen, dst, offsets, base)
}

// DecodeRange is that of package bytestring.
func DecodeRange[O int32 | int64](b *Block, from, to int, dst []byte, offsets []O, base O) error {
	if from < 0 || to < from || to > b.t.N {
		return fmt.Errorf("bytestring: slots %d to %d of a block of %d", from, to, b.t.N)
	}
	return decode(&b.t, from, to, b.RangeLen(from, to), dst, offsets, base)
}

func decode[O int32 | int64](t *Tree, from, to, size int, dst []byte, offsets []O, base O) error {
	if len(dst) != size || (t.Fixed == 0 && len(offsets) != to-from) {
		return fmt.Errorf("bytestring: %d bytes and %d offsets for %d bytes of %d values", len(dst), len(offsets), size, to-from)
	}
	if end := int64(base) + int64(size); end < int64(base) || int64(O(end)) != end {
		return fault.Limitf("%d bytes more than %d do not fit into the offsets", size, base)
	}
	if put := putOf[O](t.row); put != nil {
		return put(t, from, to, dst, offsets, base)
	}
	values := t.row.Values
	if values == nil {
		values = (*Tree).unpackRange
	}
	if err := values(t, dst, from, to); err != nil {
		return fault.In(err, t.row.Code.String(), -1)
	}
	switch {
	case t.Fixed > 0 || from == to:
	case t.Lengths != nil:
		putEnds(offsets, t.Lengths[from:to], base)
	default:
		moveOffsets(offsets, t.Offsets[from+1:to+1], base-O(t.Offsets[from]))
	}
	return nil
}

// Start is where the value of a slot begins, in a tree with offsets.
func (t *Tree) Start(slot int) int {
	if t.Fixed > 0 {
		return slot * t.Fixed
	}
	return int(t.Offsets[slot])
}

// manyParts is how many values, to one that is read alone, make it pay to decode
// all of an FSST block.
const manyParts = 16

// unpackRange decompresses the values of the slots from up to (not including) to,
// which are len(dst) bytes.
func (t *Tree) unpackRange(dst []byte, from, to int) error {
	if len(dst) == t.DataLen {
		return t.row.Unpack(t, dst)
	}
	if len(dst) == 0 {
		return nil
	}
	start := t.Start(from)
	end := start + len(dst)
	if start < t.first || end > t.first+len(t.unpacked) {
		if t.row.ReadSome != nil && t.parts < t.N/manyParts {
			t.parts++
			return t.row.ReadSome(t, dst, start)
		}
		last := t.DataLen
		if to <= t.wanted {
			last = t.Start(t.wanted)
		}
		if err := t.unpackAround(start, end, last); err != nil {
			return err
		}
	}
	copy(dst, t.unpacked[start-t.first:])
	return nil
}

// unpackAround unpacks the bytes from start to end, and as many around them as pays if nothing behind last will be asked for.
func (t *Tree) unpackAround(start, end, last int) (err error) {
	t.unpacked = nil
	if t.row.UnpackSome != nil {
		t.first, err = t.row.UnpackSome(t, &t.scratch.data, start, end, last)
	} else {
		t.first, err = 0, t.row.Unpack(t, Room(&t.scratch.data, t.DataLen))
	}
	if err == nil {
		t.unpacked = t.scratch.data
	}
	return err
}

// Room is memory for n bytes with room behind it that decoders may overwrite.
func Room(buf *[]byte, n int) []byte {
	const slack = 64
	*buf = scratch.Slice(buf, n+slack)[:n]
	return *buf
}

// Want says that of the slots from one on nothing will be asked for, so that they
// need not be decompressed for others.
func (b *Block) Want(to int) { b.t.wanted = to }

// Wanted is the slot up to which values may be asked for.
func (t *Tree) Wanted() int {
	if t.wanted == 0 {
		return t.N
	}
	return min(t.wanted, t.N)
}

// Single gives the value that all slots of the block but the nulls have; ok is
// false for blocks not stored like that.
func (b *Block) Single() (value []byte, ok bool) { return b.t.Payload, b.t.Single }

// Dictionary gives a dictionary block's codes and the values they stand for:
// code 0 is null, code k is value k-1. ok is false for other blocks.
func (b *Block) Dictionary() (codes []uint32, values vector.Values, ok bool) {
	if b.t.Dict == nil {
		return nil, values, false
	}
	return b.t.Codes, *b.t.Dict, true
}

// Decimals are decimals as integers.
type Decimals struct {
	Exponent   int
	Integers   []int64 // nil if values are stored otherwise
	Exceptions Exceptions
}

// Exceptions are decimals that have no integer. Positions ascend.
type Exceptions struct {
	Positions []uint32          // in the block, from 0
	Values    []decimal.Decimal // the values at these positions
}

// Integers gives a block of decimals as integers: value i is integers[i] ×
// 10^exponent, unless i is among the exceptions or null. ok is false for blocks
// not stored like that.
func (b *Block) Integers() (exponent int, integers []int64, exceptions Exceptions, ok bool) {
	d := &b.t.Decimals
	return d.Exponent, d.Integers, d.Exceptions, d.Integers != nil
}
