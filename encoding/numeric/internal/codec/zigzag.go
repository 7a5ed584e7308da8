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

func appendZigZag[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	mark := e.Mem.Mark()
	z := word.Take[U](&e.Mem, len(in.Values))
	sign := word.BitsOf[U]() - 1
	for i, v := range in.Values {
		z[i] = v<<1 ^ -(v >> sign)
	}
	start := len(dst)
	dst = trees.AppendHeader(dst, encoding.ZigZag, 1)
	dst[start+2] = 1
	kid := p.Kids[0]
	if kid != nil && kid.Code == 0 { // the reference cannot read raw ones
		kid = &encode.Plan{Code: encoding.Plain}
	}
	dst = encode.Append(e, dst, in.Child(e, z, encoding.ZigZag, 0), kid)
	e.Mem.Release(mark)
	return dst
}

func zigZagCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{Decoder: trees.Decoder[U]{Decode: decodeZigZag[U]}, Append: appendZigZag[U]}
}

var zigZag = encode.Row{
	Row:      trees.Row{Code: encoding.ZigZag, Types: word.SignedInts, Layout: func(r *trees.Reader) { layoutOfFlagged(r, r.T.ToUnsigned()) }},
	Codecs:   encode.Codecs{W8: zigZagCodec[uint8](), W16: zigZagCodec[uint16](), W32: zigZagCodec[uint32](), W64: zigZagCodec[uint64]()},
	Parts:    []encode.Part{{Type: word.Type.ToUnsigned}},
	Tier:     encode.TierNever,
	PerValue: 430,
}
