package codec

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/encoding/internal/vector"
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

func layoutOfPlain(r *tree.Reader) (offsets, values []byte) {
	r.Width("offset width", offsetWidth)
	if r.Fixed == 0 {
		offsets = r.Bytes(offsetWidth*(uint64(r.N)+1), "offsets")
	}
	return offsets, r.Rest("values")
}

// offsetWidth is how many bytes an offset has.
const offsetWidth = 8

func parsePlain(t *tree.Tree, r *tree.Reader, _ int64) (uint64, error) {
	offsets, values := layoutOfPlain(r)
	if r.Err != nil {
		return 0, r.Err
	}
	if t.Payload = values; t.Fixed > 0 {
		return t.CheckFixed(len(values))
	}
	total, err := t.ReadOffsets(tree.Numbers{Bytes: offsets})
	if err == nil && total != uint64(len(values)) {
		err = fault.Corruptf("values end at %d of %d bytes", total, len(values))
	}
	return total, err
}

func appendPlain(dst []byte, v vector.Values) []byte {
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

var plain = encode.Row{
	Row: tree.Row{
		Code:   encoding.Plain,
		Layout: func(r *tree.Reader) { layoutOfPlain(r) },
		Parse:  parsePlain,
		Values: func(t *tree.Tree, dst []byte, from, _ int) error {
			copy(dst, t.Payload[t.Start(from):])
			return nil
		},
	},
	Append: func(_ *encode.Workspace, dst []byte, in *encode.Input, _ encode.Request) ([]byte, bool) {
		return appendPlain(dst, in.Values), true
	},
	Cost:      encode.DecodeCost{PerByte: 50, PerValue: 1500},
	FixedCost: encode.DecodeCost{PerByte: 50},
}
