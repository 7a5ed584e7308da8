package dictionary

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// The packed form of a dictionary, edition 2026, has its values and sorted ids as encoding trees:
//
//	0    u8   basic type of the values, and 128
//	1    u8   1 if there is a null entry
//	2    u16  zero
//	4    u32  number of entries, the null entry included
//	8    u32  id of the null entry, 0 if there is none
//	12   u32  size of each value, 0 if it varies
//	16   u32  size of the values in bytes, a multiple of 8
//	20   u32  size of the sorted ids in bytes
//	24   values: a block of byte strings without presence and checksum, in the order of their ids
//	     sorted ids: a tree of u32, without that of null
//	     u32  checksum of all bytes before it
//
// The entries "b", "a", null, all trees Plain, make 87 bytes.

const (
	packedMark   = 0x80
	packedHeader = 24
)

func isPacked(b []byte) bool { return len(b) > 0 && b[0]&packedMark != 0 }

// AppendPacked appends the VALUE_DICTIONARY buffer in its packed form, which only edition 2026 has.
func (b *Builder) AppendPacked(dst []byte, o encoding.Options) ([]byte, error) {
	start := len(dst)
	var header [packedHeader]byte
	header[0] = b.valueType | packedMark
	le.PutUint32(header[4:], uint32(b.Len()))
	if b.nullID >= 0 {
		header[1] = 1
		le.PutUint32(header[8:], uint32(b.nullID))
	}
	le.PutUint32(header[12:], uint32(b.fixed))
	dst = append(dst, header[:]...)

	v := bytestring.Values{Data: b.set.Data(), Fixed: b.fixed, N: b.Len()}
	if b.fixed == 0 {
		v.Offsets = make([]int64, b.Len()+1)
		for id := range b.Len() {
			v.Offsets[id+1] = int64(b.set.End(uint32(id)))
		}
	}
	o.NoChecksums, o.NoPresence = true, true
	e := bytestring.NewEncoder(o, b.fixed)
	e.Brief(b.rows() <= BriefRows && b.DataLen() <= bytestring.BriefBytes, true)
	dst, err := e.AppendBlock(dst, v, bitmap.All(v.N))
	if err != nil {
		return dst, err
	}
	values := len(dst) - start - packedHeader
	le.PutUint32(dst[start+16:], uint32(values))

	ids := b.sortedIDs()
	dst = numeric.NewEncoder[uint32](o).AppendTree(dst, ids, bitmap.All(len(ids)))
	le.PutUint32(dst[start+20:], uint32(len(dst)-start-packedHeader-values))
	return le.AppendUint32(dst, encoding.BlockChecksum(dst[start:])), nil
}

// rows is the number of values, repeated ones each time.
func (b *Builder) rows() (n int64) {
	for _, count := range b.counts {
		n += count
	}
	return n
}

// packed is the parsed header of the packed form.
type packed struct {
	header
	values, ids uint64 // sizes
}

func (p *packed) len() int64 { return packedHeader + int64(p.values) + int64(p.ids) + 4 }

// parsePacked parses the first bytes of the packed form.
func parsePacked(b []byte) (p packed, err error) {
	if len(b) < packedHeader {
		return p, fault.Corruptf("value dictionary of %d bytes: shorter than its header", len(b))
	}
	p = packed{
		header: header{valueType: b[0] &^ packedMark, count: le.Uint32(b[4:]), hasNull: b[1] == 1, nullID: le.Uint32(b[8:]), fixed: le.Uint32(b[12:])},
		values: uint64(le.Uint32(b[16:])), ids: uint64(le.Uint32(b[20:])),
	}
	switch {
	case b[1] > 1 || b[2] != 0 || b[3] != 0:
		return p, fault.Corruptf("value dictionary with %d null entries, and %d, %d", b[1], b[2], b[3])
	case p.hasNull && p.nullID >= p.count || !p.hasNull && p.nullID != 0:
		return p, fault.Corruptf("value dictionary of %d entries has null id %d", p.count, p.nullID)
	}
	return p, nil
}

// Trees describes the values and the sorted ids of a buffer in the packed form; none if its header is damaged.
func Trees(b []byte) (trees []encoding.Tree) {
	p, err := parsePacked(b)
	if err != nil || p.len() > int64(len(b)) {
		return nil
	}
	ids := packedHeader + p.values
	if blk, err := encoding.ParseBlock(b[packedHeader:ids], false); err == nil {
		trees = append(trees, bytestring.Describe(blk.Values, int(p.count), int(p.fixed)))
	}
	return append(trees, numeric.Describe(b[ids:ids+p.ids], numeric.U32, int(p.sortedIDs())))
}

// checkPacked checks the packed form, and returns its header and the block of its values.
func checkPacked(b []byte, wantType byte, fixed uint32) (p packed, values []byte, err error) {
	if p, err = parsePacked(b); err == nil {
		err = p.checkType(wantType, fixed)
	}
	if err != nil {
		return p, nil, err
	}
	n := p.len()
	if n > int64(len(b)) {
		return p, nil, fault.Corruptf("value dictionary of %d bytes instead of %d", len(b), n)
	}
	if got, want := encoding.BlockChecksum(b[:n-4]), le.Uint32(b[n-4:]); got != want {
		return p, nil, fault.Checksumf("value dictionary has checksum %#08x, its bytes give %#08x", want, got)
	}
	return p, b[packedHeader : packedHeader+p.values], nil
}

// parsePackedBuffer checks the packed form, and decodes its values, which may take most bytes.
func parsePackedBuffer(b []byte, wantType byte, fixed uint32, most int64) (*Dictionary, error) {
	p, values, err := checkPacked(b, wantType, fixed)
	if err != nil {
		return nil, err
	}
	d := &Dictionary{h: p.header, packedIDs: b[packedHeader+p.values : p.len()-4]}
	return d, fault.In(d.readPacked(values, most), "values", packedHeader)
}

// readPacked decodes all values.
func (d *Dictionary) readPacked(blk []byte, most int64) error {
	var s bytestring.Scratch
	v, err := bytestring.Parse(blk, d.Len(), d.Fixed(), bytestring.BlockOptions{MaxDecoded: most}, &s)
	if err != nil {
		return err
	}
	d.data = make([]byte, v.DataLen(), v.DataLen()+Slack)
	if d.Fixed() > 0 {
		return bytestring.Decode[int64](v, d.data, nil, 0)
	}
	ends := make([]int32, d.Len())
	if err := bytestring.Decode(v, d.data, ends, 0); err != nil {
		return err
	}
	d.offsets = make([]uint32, d.Len()+1)
	for i, end := range ends {
		d.offsets[i+1] = uint32(end)
	}
	return nil
}

// packedPartial checks the packed form, and parses the block of its values. Errors of single ones are in the values.
func packedPartial(b []byte, wantType byte, fixed uint32, most int64) (*Partial, error) {
	p, values, err := checkPacked(b, wantType, fixed)
	if err != nil {
		return nil, err
	}
	blk, err := bytestring.Parse(values, int(p.count), int(fixed), bytestring.BlockOptions{MaxDecoded: most}, new(bytestring.Scratch))
	if err != nil {
		return nil, fault.In(err, "values", packedHeader)
	}
	blk.Want(int(p.count))
	var ends []int32
	if fixed == 0 {
		ends = make([]int32, 1)
	}
	return &Partial{p.header, func(id uint32) ([]byte, error) {
		value := make([]byte, blk.RangeLen(int(id), int(id)+1))
		return value, fault.In(bytestring.DecodeRange(blk, int(id), int(id)+1, value, ends, 0), "values", packedHeader)
	}}, nil
}

// readIDs is the sorted ids as they are stored.
func (d *Dictionary) readIDs() ([]uint32, error) {
	if d.packedIDs != nil {
		ids := make([]uint32, d.h.sortedIDs())
		var s numeric.Scratch
		return ids, fault.In(numeric.Decode(ids, d.packedIDs, &s), "sorted ids", -1)
	}
	if err := verify(d.sorted, "sorted ids"); err != nil {
		return nil, err
	}
	ids := make([]uint32, len(d.sorted)/4)
	_, err := binary.Decode(d.sorted, le, ids)
	return ids, err
}
