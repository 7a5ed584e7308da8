package bytestring

import (
	"encoding/binary"
	"math"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/fsst"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
)

// Block is a parsed block. It refers to the block's bytes and to the memory of
// the Scratch it was parsed with, and is valid until that is used again.
type Block struct {
	s        *Scratch
	row      *row
	n        int
	fixed    int
	presence []byte
	nulls    int
	dataLen  int

	payload []byte   // value bytes: as they are, compressed, or of the single value
	offsets []uint64 // n+1, unless fixed, SingleValue, BlockDictionary, OnPair or RadixPack
	lengths []uint32 // RadixPack, unless fixed: n
	codes   []uint32 // BlockDictionary, Template: n
	dict    Values   // BlockDictionary: the values of code 1, 2, ...
	decimals
	digits   digits      // Template
	tokens   []byte      // FSST: S symbols of 8 bytes and S lengths; FlatLZ: sequences
	ready    bool        // the Scratch has the symbols
	cursor   fsst.Cursor // FSST: where the last part ended
	parts    int         // FSST: how many were read alone
	pairs    pairCodes   // OnPair
	passed   passed      // RadixPack
	front    front       // FrontCoding
	prefixes []uint32    // FrontCoding: their lengths

	have   struct{ from, to int } // the slots whose decompressed values are in the Scratch
	wanted int                    // slots before it are, 0 if all may be
}

// Parse checks the block that blk holds, whole, of n values, each of fixed bytes
// or, if fixed is 0, of any length. After it Decode can only fail because
// compressed bytes do not unpack. Memory is taken from s once sizes have been
// compared with the bytes of the block and with the limit of o. Errors wrap one
// of the kinds of package fault.
func Parse(blk []byte, n, fixed int, o BlockOptions, s *Scratch) (*Block, error) {
	f, err := encoding.ParseBlock(blk, o.Checksums)
	if err != nil {
		return nil, err
	}
	limit := o.MaxDecoded
	if limit <= 0 {
		limit = DefaultMaxDecoded
	}
	perValue := int64(max(fixed, 8))
	if n < 0 || fixed < 0 || int64(n)+1 > limit/perValue {
		return nil, fault.Limitf("block of %d values of %d bytes: more than %d bytes", n, fixed, limit)
	}
	s.block = Block{s: s, n: n, fixed: fixed, presence: f.Presence}
	s.own = nesting{room: limit}
	s.shared, s.used = &s.own, 0
	b := &s.block
	if b.nulls, err = encoding.DecodePresence(f.Presence, n, nil, 0); err != nil {
		return nil, fault.In(err, "presence", encoding.BlockHeaderLen)
	}
	if err := b.parse(f.Values, limit); err != nil {
		return nil, fault.In(err, "values", int64(f.ValuesOffset))
	}
	return b, nil
}

func (b *Block) parse(tree []byte, limit int64) error {
	if len(tree) < 2 {
		return fault.Corruptf("tree of %d bytes", len(tree))
	}
	code := encoding.Code(binary.LittleEndian.Uint16(tree))
	if b.row = rowOf(code); b.row == nil {
		return fault.Unsupportedf("encoding %v of byte strings", code)
	}
	size, err := b.row.parse(b, tree, limit)
	if err != nil {
		return fault.In(err, code.String(), -1)
	}
	if b.fixed > 0 {
		size = uint64(b.n) * uint64(b.fixed)
	}
	if size > uint64(limit) || size > math.MaxInt {
		return fault.Limitf("block decodes to %d bytes, more than %d", size, limit)
	}
	b.dataLen = int(size)
	return nil
}

// Code is the encoding of the block's tree.
func (b *Block) Code() encoding.Code { return b.row.Code }

// Len is the number of values, nulls included.
func (b *Block) Len() int { return b.n }

// Nulls is the number of nulls.
func (b *Block) Nulls() int { return b.nulls }

// DataLen is the bytes of all values.
func (b *Block) DataLen() int { return b.dataLen }

// Validity writes n bits to dst from bit off on, 1 for a value and 0 for null,
// and returns the number of nulls. In a dictionary block the codes decide, and
// the presence section otherwise.
func (b *Block) Validity(dst []byte, off int) (nulls int) {
	if b.row.validity != nil {
		b.row.validity(b, dst, off)
	} else {
		// Parse has seen that it is good.
		_, _ = encoding.DecodePresence(b.presence, b.n, dst, off)
	}
	return b.nulls
}

// present is the validity of all slots.
func (b *Block) present() bitmap.Bits {
	if b.nulls == 0 {
		return bitmap.All(b.n)
	}
	bits := scratch.Slice(&b.s.bits, (b.n+7)/8)
	b.Validity(bits, 0)
	return bitmap.Bits{Data: bits, Len: b.n}
}

// RangeLen is the bytes of the values from slot from up to (not including) to.
func (b *Block) RangeLen(from, to int) int {
	switch {
	case b.fixed > 0:
		return (to - from) * b.fixed
	case b.row.rangeLen != nil:
		return b.row.rangeLen(b, from, to)
	}
	return int(b.offsets[to] - b.offsets[from])
}

// Decode writes the values back to back to dst, and where each ends to offsets:
// the first ends at base plus its length. dst is DataLen bytes long, and offsets
// Len long, or nil if values have a fixed size. Bytes of dst beyond its length,
// up to its capacity, may be overwritten with anything.
func Decode[O int32 | int64](b *Block, dst []byte, offsets []O, base O) error {
	return decode(b, 0, b.n, b.dataLen, dst, offsets, base)
}

// DecodeRange is [Decode] for the slots from up to (not including) to: dst is
// RangeLen bytes long. A compressed block is unpacked as a whole into the
// Scratch first, once for any number of ranges; a few ranges of FSST are decoded alone, and
// the codes between them passed over.
func DecodeRange[O int32 | int64](b *Block, from, to int, dst []byte, offsets []O, base O) error {
	if from < 0 || to < from || to > b.n {
		return misuse("slots %d to %d of a block of %d", from, to, b.n)
	}
	return decode(b, from, to, b.RangeLen(from, to), dst, offsets, base)
}

func decode[O int32 | int64](b *Block, from, to, size int, dst []byte, offsets []O, base O) error {
	if len(dst) != size || (b.fixed == 0 && len(offsets) != to-from) {
		return misuse("%d bytes and %d offsets for %d bytes of %d values", len(dst), len(offsets), size, to-from)
	}
	if end := int64(base) + int64(size); end < int64(base) || int64(O(end)) != end {
		return fault.Limitf("%d bytes more than %d do not fit into the offsets", size, base)
	}
	if put := putOf[O](b.row); put != nil {
		return put(b, from, to, dst, offsets, base)
	}
	values := b.row.values
	if values == nil {
		values = (*Block).unpackRange
	}
	if err := values(b, dst, from, to); err != nil {
		return fault.In(err, b.row.Code.String(), -1)
	}
	switch {
	case b.fixed > 0 || from == to:
	case b.lengths != nil:
		putEnds(offsets, b.lengths[from:to], base)
	default:
		moveOffsets(offsets, b.offsets[from+1:to+1], base-O(b.offsets[from]))
	}
	return nil
}

// start is where the value of a slot begins.
func (b *Block) start(slot int) int {
	if b.fixed > 0 {
		return slot * b.fixed
	}
	return int(b.offsets[slot])
}

// manyParts is how many values, to one that is read alone, make it pay to decode
// all of an FSST block.
const manyParts = 16

// unpackRange decompresses the values of the slots from up to (not including) to,
// which are len(dst) bytes.
func (b *Block) unpackRange(dst []byte, from, to int) error {
	if len(dst) == b.dataLen {
		return b.row.unpack(b, dst)
	}
	if len(dst) == 0 {
		return nil
	}
	if from < b.have.from || to > b.have.to {
		if b.row.readSome != nil && b.parts < b.n/manyParts {
			b.parts++
			return b.row.readSome(b, dst, b.start(from))
		}
		const slack = 64 // room that decoders may overwrite
		first, last := b.together(from, to)
		n := b.RangeLen(first, last)
		all := scratch.Slice(&b.s.data, n+slack)
		b.have.from, b.have.to = 0, 0
		if err := b.unpackSlots(all[:n], first, last); err != nil {
			return err
		}
		b.have.from, b.have.to = first, last
	}
	copy(dst, b.s.data[b.RangeLen(b.have.from, from):])
	return nil
}

// together are the slots that are decompressed to have some of them.
func (b *Block) together(from, to int) (first, last int) {
	if b.row.unpackPrefix != nil && to <= b.wanted {
		return 0, b.wanted
	}
	return 0, b.n
}

// Want says that of the slots from one on nothing will be asked for, so that they
// need not be decompressed for others.
func (b *Block) Want(to int) { b.wanted = to }

func (b *Block) unpackSlots(dst []byte, from, to int) error {
	if to < b.n {
		return b.row.unpackPrefix(b, dst)
	}
	return b.row.unpack(b, dst)
}
