package codec

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
)

// ZigZag, code 18, signed integers:
//
//	12 00 | nested flag | 5 zeros | tree of n U, or n little-endian U
//
// U is the unsigned type of the same width, and -1, 1, -2 become 1, 2, 3:
// z = v << 1 ^ v >> (bits-1). Writers always nest, because the reference cannot
// read the raw form. Example, int8 -1, 2 over Plain:
//
//	12 00 | 01 | 00 00 00 00 00 | 01 00 01 04
func decodeZigZag[U word.Uint](dst []U, r *trees.Reader, s *trees.Scratch) error {
	values := layoutOfFlagged(r, r.T.ToUnsigned())
	if r.Err != nil {
		return r.Err
	}
	return trees.EachChunk(dst, &values, s, unZigZag[U])
}

func unZigZag[U word.Uint](dst []U) {
	for i, z := range dst {
		dst[i] = z>>1 ^ -(z & 1)
	}
}

func zigZagCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{Decoder: trees.Decoder[U]{Decode: decodeZigZag[U]}}
}

var zigZag = encode.Row{
	Row:      trees.Row{Code: encoding.ZigZag, Types: word.SignedInts, Layout: func(r *trees.Reader) { layoutOfFlagged(r, r.T.ToUnsigned()) }},
	Codecs:   encode.Codecs{W8: zigZagCodec[uint8](), W16: zigZagCodec[uint16](), W32: zigZagCodec[uint32](), W64: zigZagCodec[uint64]()},
	ReadOnly: true,
	Parts:    []encode.Part{{Type: word.Type.ToUnsigned}},
}
