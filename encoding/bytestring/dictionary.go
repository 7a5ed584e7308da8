package bytestring

import (
	"bytes"
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/internal/vector"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
)

// BlockDictionary, code 14: distinct values, and a code for each slot.
//
//	0  2  0e 00
//	2  4  u32 size of the codes in bytes
//	6  4  u32 size of the lengths in bytes, 0 if values have a fixed size
//	10 4  u32 number of distinct values U
//	14 1  1 if the lengths are a tree, 0 if they are raw
//	15 1  zero
//	16    codes: tree of n u32; 0 is null, k is the distinct value k-1
//	      zeros up to a multiple of 8 from 16 on
//	      lengths: tree of U u32, or U raw u32; nothing if values have a fixed size
//	      the distinct values back to back, to the end
//
// The codes decide which slots are null, whatever the presence section says. We
// do not write it for values of a fixed size: the reference misreads it. Example,
// "aa", "b", null, "aa", codes as Plain:
//
//	0e 00 | 12 00 00 00 | 08 00 00 00 | 02 00 00 00 | 00 | 00
//	01 00 | 01 00 00 00 02 00 00 00 00 00 00 00 01 00 00 00 | 6 zeros
//	02 00 00 00 01 00 00 00 | 61 61 62

const (
	dictionaryHeader = 13
	smallSlots       = 4 << 10 // bytes of slots that are made for a block, whatever values fill of them
)

func parseDictionary(b *Block, tree []byte, _ int64) (uint64, error) {
	header, rest, err := split(tree, dictionaryHeader)
	if err != nil {
		return 0, err
	}
	lengthsSize := binary.LittleEndian.Uint32(header[4:])
	unique := uint64(binary.LittleEndian.Uint32(header[8:]))
	codes, rest, err := padded(rest, uint64(binary.LittleEndian.Uint32(header)), "codes")
	if err != nil {
		return 0, err
	}
	if uint64(lengthsSize) > uint64(len(rest)) {
		return 0, fault.Corruptf("lengths of %d bytes in %d", lengthsSize, len(rest))
	}
	lengths, data := rest[:lengthsSize], rest[lengthsSize:]
	if err := b.readDictionary(lengths, data, unique, header[12] != 0); err != nil {
		return 0, err
	}
	b.codes = scratch.Slice(&b.s.codes, b.n)
	if err := numeric.Decode(b.codes, codes, &b.s.num); err != nil {
		return 0, fault.In(err, "codes", -1)
	}
	b.s.table.Reset(b.dict, 1, smallSlots)
	b.nulls = zeros(b.codes)
	return b.s.table.Size(b.codes)
}

// readDictionary finds the distinct values.
func (b *Block) readDictionary(lengths, data []byte, unique uint64, nested bool) error {
	if b.fixed > 0 {
		if uint64(len(data)) != unique*uint64(b.fixed) {
			return fault.Corruptf("%d bytes for %d distinct values of %d", len(data), unique, b.fixed)
		}
		b.dict = Values{Data: data, Fixed: b.fixed, N: int(unique)}
		return nil
	}
	if nested && unique > uint64(b.n) {
		// The length of a tree does not bound how many numbers it stands for.
		return fault.Corruptf("%d distinct values for %d slots", unique, b.n)
	}
	if !nested && uint64(len(lengths)) != 4*unique {
		return fault.Corruptf("%d bytes of lengths for %d distinct values", len(lengths), unique)
	}
	each := scratch.Slice(&b.s.lengths, int(unique))
	if err := readNumbers(each, lengths, nested, &b.s.num); err != nil {
		return fault.In(err, "lengths", -1)
	}
	offsets := scratch.Slice(&b.s.dictOffsets, int(unique)+1)
	at := int64(0)
	offsets[0] = 0
	for i, n := range each {
		at += int64(n)
		offsets[i+1] = at
	}
	if at != int64(len(data)) {
		return fault.Corruptf("distinct values of %d bytes in %d", at, len(data))
	}
	b.dict = Values{Data: data, Offsets: offsets, N: int(unique)}
	return nil
}

func gatherBlock[O int32 | int64](b *Block, from, to int, dst []byte, offsets []O, base O) error {
	codes := b.codes[from:to]
	if b.fixed == 0 {
		_, err := vector.Gather(&b.s.table, dst, offsets, base, codes)
		return err
	}
	for i, c := range codes {
		slot := dst[i*b.fixed : (i+1)*b.fixed]
		if c == 0 {
			clear(slot)
		} else {
			copy(slot, b.dict.At(int(c-1)))
		}
	}
	return nil
}

// zeros counts the codes that are 0.
func zeros(codes []uint32) (n int) {
	for _, c := range codes {
		n += int((c-1)&^c) >> 31 & 1
	}
	return n
}

// codeBits writes a bit for each code: 1 unless it is 0.
func codeBits(dst []byte, off int, codes []uint32) {
	for len(codes) > 0 {
		k := min(64, len(codes))
		w := uint64(0)
		for i, c := range codes[:k] {
			// The sign bit of c | -c tells whether c is not 0.
			w |= uint64((c|-c)>>31) << i
		}
		bitmap.PutWord(dst, off, w, k)
		off += k
		codes = codes[k:]
	}
}

// appendDictionary writes a dictionary if at most half of the values are distinct, unless
// it is forced; if there are more, ok is false. Values get codes in the order in which they first
// appear.
func appendDictionary(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) (out []byte, ok bool, err error) {
	limit, nums := in.N/2, r.Numbers
	if r.Forced {
		limit = in.N
	}
	if !collect(w, in, limit) {
		return dst, false, nil
	}
	start := len(dst)
	var header [2 + dictionaryHeader + 1]byte
	dst = append(dst, header[:]...)
	binary.LittleEndian.PutUint16(dst[start:], uint16(encoding.BlockDictionary))
	binary.LittleEndian.PutUint32(dst[start+10:], uint32(w.Distinct.Len()))
	body := len(dst)
	if dst, err = nums.AppendCodes(dst, w.Codes); err != nil {
		return dst, false, err
	}
	binary.LittleEndian.PutUint32(dst[start+2:], uint32(len(dst)-body))
	dst = encode.Pad(dst, body)
	if in.Fixed == 0 {
		lengths := scratch.Slice(&w.Lengths, w.Distinct.Len())
		last := 0
		for id := range lengths {
			end := w.Distinct.End(uint32(id))
			lengths[id], last = uint32(end-last), end
		}
		at := len(dst)
		var nested bool
		if dst, nested, err = nums.AppendLengths(dst, lengths); err != nil {
			return dst, false, err
		}
		binary.LittleEndian.PutUint32(dst[start+6:], uint32(len(dst)-at))
		if nested {
			dst[start+14] = 1
		}
	}
	return append(dst, w.Distinct.Data()...), true, nil
}

// collect finds the distinct values and the codes, 0 for null; false if there
// are more than limit.
func collect(w *encode.Workspace, in *encode.Input, limit int) bool {
	w.Distinct.Reset()
	codes := scratch.Slice(&w.Codes, in.N)
	for i := range codes {
		if !in.Valid.At(i) {
			codes[i] = 0
			continue
		}
		id, added := w.Distinct.Add(in.At(i))
		if added && w.Distinct.Len() > limit {
			return false
		}
		codes[i] = id + 1
	}
	return true
}

var dictionary = row{
	Row: encode.Row{
		Code:   encoding.BlockDictionary,
		Trials: encode.Once(encoding.Balanced, encoding.MinimalCompression, encoding.HighCompression, encoding.MinimalSize),
		Suits: func(_ *encode.Workspace, in *encode.Input, _ *encode.Learned) bool {
			return in.Fixed == 0 // the reference cannot read others
		},
		Append:  appendDictionary,
		Cost:    encode.DecodeCost{PerByte: 100, PerValue: 2300},
		Limited: true,
		Quick:   true,
		Parts:   []string{"Plain", "raw"},
	},
	parse: parseDictionary,
	put32: gatherBlock[int32],
	put64: gatherBlock[int64],
	rangeLen: func(b *Block, from, to int) int {
		size, _ := b.s.table.Size(b.codes[from:to])
		return int(size)
	},
	validity: func(b *Block, dst []byte, off int) { codeBits(dst, off, b.codes) },
	contains: (*Block).entriesWith,
	describe: describeDictionary,
}

// Dictionary gives a dictionary block's codes and the values they stand for:
// code 0 is null, code k is value k-1. ok is false for other blocks.
func (b *Block) Dictionary() (codes []uint32, values Values, ok bool) {
	return b.codes, b.dict, b.row == &dictionary
}

// entriesWith looks for parts in the distinct values of a dictionary; null has none.
func (b *Block) entriesWith(parts [][]byte) []byte {
	keep := scratch.Slice(&b.s.keep, b.dict.N+1)
	clear(keep)
	for i := range b.dict.N {
		value, all := b.dict.At(i), true
		for _, part := range parts {
			all = all && bytes.Contains(value, part)
		}
		if all {
			keep[i+1] = 1
		}
	}
	return keep
}

func describeDictionary(d *describer) {
	codes, lengths := d.Uint(4, "codes size"), d.Uint(4, "lengths size")
	unique := d.Uint(4, "distinct values")
	nested := d.Flag("lengths are a tree")
	d.Pad()
	d.numbers("codes", codes, numeric.U32, d.n)
	if d.fixed > 0 {
		lengths = 0
	}
	d.perValue("lengths", lengths, nested, numeric.U32, int(unique))
	d.Rest("values")
}
