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

func appendFOR[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	if p.Width > 0 {
		return appendFORAs(e, dst, in, U(p.Reference), p)
	}
	low, _ := in.Bounds()
	return appendFORAs(e, dst, in, low, p)
}

// appendFORAs writes the distances from a reference, which need not be the
// least value: they wrap.
func appendFORAs[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], reference U, p encode.Plan) []byte {
	mark := e.Mem.Mark()
	distances := word.Take[U](&e.Mem, len(in.Values))
	for i, v := range in.Values {
		distances[i] = v - reference
	}
	start := len(dst)
	dst = trees.Pad(word.StoreOne(trees.AppendCode(dst, encoding.FOR), reference), start)
	dst = encode.Append(e, dst, in.Child(e, distances, encoding.FOR, 0), p.Kids[0])
	e.Mem.Release(mark)
	return dst
}

func forCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{Decoder: trees.Decoder[U]{View: viewFOR[U]}, Append: appendFOR[U]}
}

var frameOfReference = encode.Row{
	Row:      trees.Row{Code: encoding.FOR, Types: word.Ints, Layout: func(r *trees.Reader) { layoutOfFOR(r) }},
	Codecs:   encode.Codecs{W8: forCodec[uint8](), W16: forCodec[uint16](), W32: forCodec[uint32](), W64: forCodec[uint64]()},
	Parts:    []encode.Part{{Role: encode.AsMostZero, Type: word.Type.ToUnsigned}},
	Old:      true,
	Tier:     encode.TierMiddle,
	Roles:    encode.OnlyRoles(encode.AsValues),
	PerValue: 40,
	PerByte:  20,
	Estimate: estimateFOR,
	Nests:    true,
	Plan: func(s *encode.Stats, _ encode.Found, _ int) encode.Plan {
		return encode.Plan{Reference: s.Top, Width: s.Width}
	},
}

// estimateFOR is FOR over Sparse: most values are the same, but not zero.
func estimateFOR(w *encode.Weights, s *encode.Stats, _ encode.Found) int {
	if s.Top == 0 || 4*s.Others > s.N {
		return 0
	}
	return trees.HeaderLen(s.T.Size()) + sparseSize(w, s, s.Others)
}
