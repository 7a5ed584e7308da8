package bytestring

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Plain, code 1: the values as they are.
//
//	0  2  01 00
//	2  1  width of the offsets: 8, or 0 if values have a fixed size
//	3     u64 offsets, n+1, if the width is 8
//	      value bytes, to the end
//
// Nothing is padded. Example, "a", "bc", "":
//
//	01 00 | 08 | 00.. 01.. 03.. 03.. (u64 each) | 61 62 63

func parsePlain(b *Block, tree []byte, _ int64) (uint64, error) {
	if len(tree) < 3 {
		return 0, fault.Corruptf("tree of %d bytes is shorter than its header", len(tree))
	}
	if err := b.checkWidth(tree[2], offsetWidth); err != nil {
		return 0, err
	}
	b.payload = tree[3:]
	if b.fixed > 0 {
		return b.fixedSize(len(b.payload))
	}
	size := 8 * (uint64(b.n) + 1)
	if size > uint64(len(b.payload)) {
		return 0, fault.Corruptf("%d bytes have no room for the offsets of %d values", len(b.payload), b.n)
	}
	raw := b.payload[:size]
	b.payload = b.payload[size:]
	total, err := b.rawOffsets(raw)
	if err == nil && total != uint64(len(b.payload)) {
		err = fault.Corruptf("values end at %d of %d bytes", total, len(b.payload))
	}
	return total, err
}

// offsetWidth is how many bytes an offset has.
const offsetWidth = 8

// checkWidth compares the width of offsets, or lengths, with the expected one for
// values without a fixed size.
func (b *Block) checkWidth(width, want byte) error {
	if b.fixed > 0 {
		want = 0
	}
	if width != want {
		return fault.Corruptf("offsets or lengths are %d bytes wide instead of %d", width, want)
	}
	return nil
}

// fixedSize is the size of all values, which must be that of the bytes there are.
func (b *Block) fixedSize(have int) (uint64, error) {
	want := uint64(b.n) * uint64(b.fixed)
	if want != uint64(have) {
		return 0, fault.Corruptf("%d bytes for %d values of %d", have, b.n, b.fixed)
	}
	return want, nil
}

func appendPlain(dst []byte, v Values) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, uint16(encoding.Plain))
	if v.Fixed > 0 {
		return append(append(dst, 0), v.Bytes()...)
	}
	dst = append(dst, 8)
	for _, at := range v.Offsets {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(at-v.Offsets[0]))
	}
	return append(dst, v.Bytes()...)
}

var plain = row{
	Row: encode.Row{
		Code: encoding.Plain,
		Append: func(_ *encode.Workspace, dst []byte, in *encode.Input, _ encode.Request) ([]byte, bool, error) {
			return appendPlain(dst, in.Values), true, nil
		},
		Cost:      encode.DecodeCost{PerByte: 50, PerValue: 1500},
		FixedCost: encode.DecodeCost{PerByte: 50},
	},
	parse: parsePlain,
	values: func(b *Block, dst []byte, from, _ int) error {
		copy(dst, b.payload[b.start(from):])
		return nil
	},
	describe: describePlain,
}

func describePlain(d *describer) {
	if width := d.Uint(1, "offset width"); d.fixed == 0 && width == 8 {
		d.Bytes(8*(uint64(d.n)+1), "offsets")
	}
	d.Rest("values")
}
