package codec

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/encoding/internal/flatlz"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// FlatLZ, code 0x8007: the value bytes as copies of earlier ones and literals
// (package flatlz), compressed as one.
//
//	0  2  07 80
//	2  4  u32 number of sequences
//	6  4  u32 number of literal bytes
//	10 1  width of the offsets: 8, or 0 if values have a fixed size
//	11 1  1 if the offsets are a tree, 0 if they are raw
//	12 4  zeros
//	16    sequences, 4 bytes each; literals; zeros up to a multiple of 8
//	      offsets: tree of n+1 u64, or raw, to the end; nothing if the width is 0
//
// Example, "abcdefghijklmnop" and "abcdefghijkl!":
//
//	07 80 | 02 00 00 00 | 11 00 00 00 | 08 | 00 | 4 zeros | 10 0c 10 00 | 01 00 10 00
//	61 62 63 64 65 66 67 68 69 6a 6b 6c 6d 6e 6f 70 21 | 7 zeros | 00.. 10.. 1d.. (u64 each)

// flatTree is the sequences of a FlatLZ block; the literals are its payload.
type flatTree struct{ sequences []byte }

func layoutOfFlatLZ(r *tree.Reader) (sequences, literals []byte, offsets tree.Numbers) {
	n, size := r.Uint(4, "sequences"), r.Uint(4, "literals")
	r.Width("offset width", offsetWidth)
	nested := r.Flag("offsets are a tree")
	r.Pad()
	sequences = r.Bytes(flatlz.SequenceLen*n, "sequences")
	literals = r.Bytes(size, "literal bytes")
	return sequences, literals, r.Offsets(nested)
}

func parseFlatLZ(t *tree.Tree, r *tree.Reader, _ int64) (uint64, error) {
	sequences, literals, offsets := layoutOfFlatLZ(r)
	if r.Err != nil {
		return 0, r.Err
	}
	// The capacity of literals reaches to the end of the block: more of them may be read than there are.
	tree.State[flatTree](t).sequences, t.Payload = sequences, literals
	size, err := t.ReadOffsets(offsets)
	if packed := len(sequences) + len(literals); err == nil && size/flatlz.MaxRatio > uint64(packed) {
		err = fault.Corruptf("%d bytes of values from %d", size, packed)
	}
	return size, err
}

func appendFlatLZ(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) ([]byte, bool) {
	start := len(dst)
	sequences, literals := w.FlatLZ.Encode(in.Bytes())
	var header [16]byte
	binary.LittleEndian.PutUint16(header[:], uint16(encoding.FlatLZ))
	binary.LittleEndian.PutUint32(header[2:], uint32(len(sequences)/flatlz.SequenceLen))
	binary.LittleEndian.PutUint32(header[6:], uint32(len(literals)))
	dst = append(append(append(dst, header[:]...), sequences...), literals...)
	w.NoteLZ(len(sequences)+len(literals), len(in.Bytes()))
	dst = encode.Pad(dst, start)
	return w.AppendOffsets(dst, in.Values, start+10, start+11, r.Numbers), true
}

var flatLZ = encode.Row{
	Row: tree.Row{
		Code:   encoding.FlatLZ,
		Layout: func(r *tree.Reader) { layoutOfFlatLZ(r) },
		Parse:  parseFlatLZ,
		Unpack: func(t *tree.Tree, dst []byte) error {
			return flatlz.Decode(dst, tree.State[flatTree](t).sequences, t.Payload)
		},
		UnpackSome: func(t *tree.Tree, buf *[]byte, _, _, last int) (int, error) {
			return 0, flatlz.DecodePrefix(tree.Room(buf, last), tree.State[flatTree](t).sequences, t.Payload)
		},
	},
	Needs:     edition.Only(edition.FlatLZ),
	Trials:    encode.Once(encoding.Balanced),
	Short:     true,
	Replaces:  encoding.LZ4, // it is a little larger, and twice as fast to read
	Append:    appendFlatLZ,
	Cost:      encode.DecodeCost{PerByte: 100, PerValue: 1800},
	FixedCost: encode.DecodeCost{PerByte: 160},
}
