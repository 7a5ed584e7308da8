package codec

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
)

// Plain, code 1, all types:
//
//	01 00 | n values, little-endian
//
// There are no zeros behind the code: values begin at byte 2. Example, int16 5, -1:
//
//	01 00 | 05 00 ff ff
func decodePlain[U word.Uint](dst []U, r *trees.Reader, _ *trees.Scratch) error {
	return trees.LoadExactly(dst, r.Rest("values"))
}

func plainCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{
		Decoder: trees.Decoder[U]{Decode: decodePlain[U]},
		Append: func(_ *encode.Workspace, dst []byte, in encode.Input[U], _ encode.Plan) []byte {
			return encode.AppendPlain(dst, in.Values)
		},
	}
}

var plain = encode.Row{
	Row:      trees.Row{Code: encoding.Plain, Types: word.All, Layout: func(r *trees.Reader) { r.Rest("values") }},
	Codecs:   encode.Codecs{W8: plainCodec[uint8](), W16: plainCodec[uint16](), W32: plainCodec[uint32](), W64: plainCodec[uint64]()},
	Tier:     encode.TierPlain,
	Levels:   encode.AnyLevel,
	Roles:    encode.AnyRole,
	PerValue: 20,
	PerByte:  15,
	Estimate: func(_ *encode.Weights, s *encode.Stats, _ encode.Found) int { return 2 + s.N*s.T.Size() },
	Direct:   true,
}
