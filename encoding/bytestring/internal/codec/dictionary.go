package codec

import (
	"bytes"
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
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

// dictionaryTree is the memory of a block with a dictionary.
type dictionaryTree struct {
	table   vector.Table
	dict    vector.Values // the values of code 1, 2, ...
	codes   []uint32
	lengths []uint32
	offsets []int64
	keep    []byte
}

func layoutOfDictionary(r *tree.Reader) (unique int, codes []byte, lengths tree.Numbers, values []byte) {
	codesSize, lengthsSize := r.Uint(4, "codes size"), r.Uint(4, "lengths size")
	unique = int(r.Uint(4, "distinct values"))
	nested := r.Flag("lengths are a tree")
	r.Pad()
	codes = r.Numbers("codes", codesSize, numeric.U32, r.N)
	lengths = r.Lengths(lengthsSize, nested, unique)
	return unique, codes, lengths, r.Rest("values")
}

const smallSlots = 4 << 10 // bytes of slots that are made for a block, whatever values fill of them

func parseDictionary(t *tree.Tree, r *tree.Reader, _ int64) (uint64, error) {
	d := tree.State[dictionaryTree](t)
	unique, codes, lengths, values := layoutOfDictionary(r)
	if r.Err != nil {
		return 0, r.Err
	}
	if err := d.read(t, unique, lengths, values); err != nil {
		return 0, err
	}
	t.Dict, t.Codes = &d.dict, scratch.Slice(&d.codes, t.N)
	if err := tree.DecodeNumbers(t, "codes", t.Codes, codes); err != nil {
		return 0, err
	}
	d.table.Reset(d.dict, 1, smallSlots)
	t.Nulls = zeros(t.Codes)
	return d.table.Size(t.Codes)
}

// read finds the distinct values.
func (d *dictionaryTree) read(t *tree.Tree, unique int, lengths tree.Numbers, values []byte) error {
	d.dict = vector.Values{Data: values, Fixed: t.Fixed, N: unique}
	switch {
	case t.Fixed > 0:
		if uint64(len(values)) != uint64(unique)*uint64(t.Fixed) {
			return fault.Corruptf("%d bytes for %d distinct values of %d", len(values), unique, t.Fixed)
		}
		return nil
	case lengths.Nested && unique > t.N:
		// The length of a tree does not bound how many numbers it stands for.
		return fault.Corruptf("%d distinct values for %d slots", unique, t.N)
	case !lengths.Nested && len(lengths.Bytes)/4 < unique:
		return fault.Corruptf("%d bytes of lengths for %d distinct values", len(lengths.Bytes), unique)
	}
	each := scratch.Slice(&d.lengths, unique)
	if err := t.ReadLengths(each, lengths); err != nil {
		return err
	}
	d.dict.Offsets = append(scratch.Slice(&d.offsets, unique+1)[:0], 0)
	at := int64(0)
	for _, n := range each {
		at += int64(n)
		d.dict.Offsets = append(d.dict.Offsets, at)
	}
	if at != int64(len(values)) {
		return fault.Corruptf("distinct values of %d bytes in %d", at, len(values))
	}
	return nil
}

func gatherBlock[O int32 | int64](t *tree.Tree, from, to int, dst []byte, offsets []O, base O) error {
	d, codes := tree.State[dictionaryTree](t), t.Codes[from:to]
	if t.Fixed == 0 {
		_, err := vector.Gather(&d.table, dst, offsets, base, codes)
		return err
	}
	for i, c := range codes {
		slot := dst[i*t.Fixed : (i+1)*t.Fixed]
		if c == 0 {
			clear(slot)
		} else {
			copy(slot, d.dict.At(int(c-1)))
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
func appendDictionary(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) (out []byte, ok bool) {
	limit, nums := in.N/2, r.Numbers
	if r.Forced {
		limit = in.N
	}
	if !collect(w, in, limit) {
		return dst, false
	}
	start := len(dst)
	var header [16]byte
	dst = append(dst, header[:]...)
	binary.LittleEndian.PutUint16(dst[start:], uint16(encoding.BlockDictionary))
	binary.LittleEndian.PutUint32(dst[start+10:], uint32(w.Distinct.Len()))
	body := len(dst)
	dst = encode.AppendNumbers(nums, dst, encode.Codes, 0, w.Codes)
	dst = encode.EndPart(dst, start, body, 2)
	if in.Fixed == 0 {
		lengths := scratch.Slice(&w.Lengths, w.Distinct.Len())
		last := 0
		for id := range lengths {
			end := w.Distinct.End(uint32(id))
			lengths[id], last = uint32(end-last), end
		}
		at := len(dst)
		var nested bool
		dst, nested = encode.AppendPart(nums, dst, encode.Lengths, 1, lengths)
		binary.LittleEndian.PutUint32(dst[start+6:], uint32(len(dst)-at))
		if nested {
			dst[start+14] = 1
		}
	}
	return append(dst, w.Distinct.Data()...), true
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

var dictionary = encode.Row{
	Row: tree.Row{
		Code:   encoding.BlockDictionary,
		Layout: func(r *tree.Reader) { layoutOfDictionary(r) },
		Parse:  parseDictionary,
		Put32:  gatherBlock[int32],
		Put64:  gatherBlock[int64],
		RangeLen: func(t *tree.Tree, from, to int) int {
			size, _ := tree.State[dictionaryTree](t).table.Size(t.Codes[from:to])
			return int(size)
		},
		Validity: func(t *tree.Tree, dst []byte, off int) { codeBits(dst, off, t.Codes) },
		Contains: entriesWith,
	},
	Trials: encode.Once(encoding.Balanced, encoding.MinimalCompression, encoding.HighCompression, encoding.MinimalSize),
	Suits: func(_ *encode.Workspace, in *encode.Input, _ *encode.Learned) bool {
		return in.Fixed == 0 // the reference cannot read others
	},
	Append:  appendDictionary,
	Cost:    encode.DecodeCost{PerByte: 100, PerValue: 2300},
	Limited: true,
	Quick:   true,
	Parts:   []string{"Plain", "raw"},
}

// entriesWith looks for parts in the distinct values of a dictionary; null has none.
func entriesWith(t *tree.Tree, parts [][]byte) []byte {
	d := tree.State[dictionaryTree](t)
	keep := scratch.Slice(&d.keep, d.dict.N+1)
	clear(keep)
	for i := range d.dict.N {
		value, all := d.dict.At(i), true
		for _, part := range parts {
			all = all && bytes.Contains(value, part)
		}
		if all {
			keep[i+1] = 1
		}
	}
	return keep
}
