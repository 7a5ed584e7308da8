package codec

import (
	"encoding/binary"
	"slices"

	"github.com/pierrec/lz4/v4"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/decompress"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// LZ4, code 17, all types: one LZ4 block, not the frame format.
//
//	11 00 | 6 zeros | u32 size of the values in bytes | block, to the end
//
// Example, 8 zeros of int8:
//
//	11 00 | 6 zeros | 08 00 00 00 | 80 00 00 00 00 00 00 00 00
func layoutOfLZ4(r *trees.Reader) (size uint64, block []byte) {
	r.Pad()
	return r.Uint(4, "size of values"), r.Rest("LZ4 block")
}

func decodeLZ4[U word.Uint](dst []U, r *trees.Reader, _ *trees.Scratch) error {
	size, block := layoutOfLZ4(r)
	if r.Err != nil {
		return r.Err
	}
	want := word.Bytes(dst)
	if size != uint64(len(want)) {
		return fault.Corruptf("compressed values are %d bytes, not the %d expected", size, len(want))
	}
	if err := decompress.LZ4(want, block); err != nil {
		return err
	}
	if word.BigEndian {
		word.Swap(want, word.SizeOf[U]())
	}
	return nil
}

// appendLZ4 compresses values, or writes them as Plain if that does not pay.
func appendLZ4[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	size := len(in.Values) * word.SizeOf[U]()
	if size == 0 || size > maxLZ4 {
		return encode.AppendPlain(dst, in.Values)
	}
	start := len(dst)
	dst = binary.LittleEndian.AppendUint32(trees.AppendHeader(dst, encoding.LZ4, 0), uint32(size))
	at := len(dst)
	mark := e.Mem.Mark()
	src := littleEndian(e, in.Values)
	dst = slices.Grow(dst, lz4.CompressBlockBound(size))
	room := dst[at : at+lz4.CompressBlockBound(size)]
	var n int
	var err error
	if p.Level > 0 {
		n, err = e.LZ4HC.CompressBlock(src, room)
	} else {
		n, err = e.LZ4.CompressBlock(src, room)
	}
	e.Mem.Release(mark)
	if err != nil || n == 0 {
		return encode.AppendPlain(dst[:start], in.Values)
	}
	return dst[:at+n]
}

// maxLZ4 is the largest input of an LZ4 block.
const maxLZ4 = 0x7e000000

// minLZ4 is the bytes below which there is not enough to find anything in.
const minLZ4 = 1024

func lz4Codec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{Decoder: trees.Decoder[U]{Decode: decodeLZ4[U]}, Append: appendLZ4[U]}
}

var lz4Block = encode.Row{
	Row:     trees.Row{Code: encoding.LZ4, Types: word.All, Layout: func(r *trees.Reader) { layoutOfLZ4(r) }},
	Codecs:  encode.Codecs{W8: lz4Codec[uint8](), W16: lz4Codec[uint16](), W32: lz4Codec[uint32](), W64: lz4Codec[uint64]()},
	Tier:    encode.TierMiddle,
	Fewer:   1,
	Roles:   encode.InRoles(encode.AsNarrowed),
	PerByte: 350,
	Estimate: func(_ *encode.Weights, s *encode.Stats, _ encode.Found) int {
		if s.N*s.T.Size() < minLZ4 {
			return 0
		}
		return s.N * s.T.Size() / 4
	},
	Guess:  encode.TierLight,
	Params: bestLevel,
}
