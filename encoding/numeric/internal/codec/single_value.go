package codec

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
)

// SingleValue, code 7, all types: one value stands for all slots, nulls too.
//
//	07 00 | value, little-endian
//
// There are no zeros behind the code. Example, int32 7, 7, 7:
//
//	07 00 | 07 00 00 00
func viewSingleValue[U word.Uint](v *trees.View[U], _ []U, r *trees.Reader, _ []uint32, s *trees.Scratch) error {
	v.Form, v.Values = trees.Single, word.Take[U](&s.Mem, 1)
	v.Values[0] = U(r.Value("value"))
	return r.Err
}

// appendSingleValue writes the one value of in, or its runs if it has several.
func appendSingleValue[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], _ encode.Plan) []byte {
	if len(in.Values) == 0 {
		return encode.AppendPlain(dst, in.Values)
	}
	v := in.Values[0]
	for _, other := range in.Values {
		if other != v {
			return appendRunLength(e, dst, in, encode.Plan{Code: encoding.RunLength, Kids: [2]*encode.Plan{{}, {Code: encoding.FLBitPack}}})
		}
	}
	return encode.AppendSame(dst, v)
}

func singleValueCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{
		Decoder: trees.Decoder[U]{View: viewSingleValue[U]},
		Append:  appendSingleValue[U],
	}
}

var singleValue = encode.Row{
	Row:      trees.Row{Code: encoding.SingleValue, Types: word.All, Layout: layoutOfSingleValue},
	Codecs:   encode.Codecs{W8: singleValueCodec[uint8](), W16: singleValueCodec[uint16](), W32: singleValueCodec[uint32](), W64: singleValueCodec[uint64]()},
	Tier:     encode.TierPlain,
	Levels:   encode.AnyLevel,
	Roles:    encode.AnyRole,
	PerValue: 20,
	PerByte:  10,
	Estimate: func(_ *encode.Weights, s *encode.Stats, _ encode.Found) int {
		if !s.Single {
			return 0
		}
		return 2 + s.T.Size()
	},
}

func layoutOfSingleValue(r *trees.Reader) {
	r.Value("value")
	r.Rest("ignored")
}
