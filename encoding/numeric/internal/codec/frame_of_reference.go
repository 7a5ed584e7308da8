package codec

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
)

// FOR, code 3, integers (T of size bytes, U the unsigned type of that size):
//
//	03 00 | T reference | zeros up to 8, or 16 if size is 8 | tree of n U: value - reference, modulo 2^bits
//
// Example, int16 1000, 1001, 1003 over Plain:
//
//	03 00 | e8 03 | 00 00 00 00 | 01 00 | 00 00 01 00 03 00
func layoutOfFOR(r *trees.Reader) (reference uint64, differences trees.Part) {
	reference = r.Value("reference")
	r.Pad()
	return reference, r.Last("differences", true, r.T.ToUnsigned(), r.N)
}

func viewFOR[U word.Uint](v *trees.View[U], dst []U, r *trees.Reader, places []uint32, s *trees.Scratch) error {
	reference, differences := layoutOfFOR(r)
	if r.Err != nil {
		return r.Err
	}
	return v.ParseScaled(dst, &differences, U(reference), 1, places, s)
}

var frameOfReference = encode.Row{
	Row:      trees.Row{Code: encoding.FOR, Types: word.Ints, Layout: func(r *trees.Reader) { layoutOfFOR(r) }},
	Codecs:   encode.Codecs{W8: forCodec[uint8](), W16: forCodec[uint16](), W32: forCodec[uint32](), W64: forCodec[uint64]()},
	ReadOnly: true,
	Parts:    []encode.Part{{Type: word.Type.ToUnsigned}},
}

func forCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{Decoder: trees.Decoder[U]{View: viewFOR[U]}}
}
