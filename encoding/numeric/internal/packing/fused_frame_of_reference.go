package packing

import (
	"math/bits"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
)

// FFOR, code 4, integers (T of size bytes): FOR that packs the differences itself.
//
//	04 00 | T reference | u8 W | zeros up to 8, or 16 if size is 8 | ceil(n/1024) chunks of 128*W bytes: value - reference, modulo 2^bits
//
// Example, the header of FFOR with int64 reference 1000 and 2 bits:
//
//	04 00 | e8 03 00 00 00 00 00 00 | 02 | 00 00 00 00 00
func viewFFOR[U word.Uint](v *trees.View[U], _ []U, r *trees.Reader, _ []uint32, _ *trees.Scratch) error {
	return viewPacked(v, r, U(r.Value("reference")))
}

// appendFFOR packs the distances from the least value, in the order of in.
func appendFFOR[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	if p.Width > 0 {
		return appendFFORAs(e, dst, in.Values, U(p.Reference), p.Width)
	}
	low, high := in.Bounds()
	if low == high {
		return encode.AppendSame(dst, low)
	}
	return appendFFORAs(e, dst, in.Values, low, bits.Len64(uint64(high-low)))
}

func appendFFORAs[U word.Uint](e *encode.Workspace, dst []byte, values []U, low U, w int) []byte {
	start := len(dst)
	dst = append(word.StoreOne(trees.AppendCode(dst, encoding.FFOR), low), byte(w))
	return appendChunks(e, trees.Pad(dst, start), values, low, w)
}

func fforCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{Decoder: trees.Decoder[U]{View: viewFFOR[U]}, Append: appendFFOR[U]}
}

// FusedFrameOfReference, code 4.
var FusedFrameOfReference = encode.Row{
	Row:      trees.Row{Code: encoding.FFOR, Types: word.Ints, Layout: func(r *trees.Reader) { layoutOfFFOR(r, "chunks") }, Packed: true},
	Codecs:   encode.Codecs{W8: fforCodec[uint8](), W16: fforCodec[uint16](), W32: fforCodec[uint32](), W64: fforCodec[uint64]()},
	Tier:     encode.TierLight,
	Levels:   encode.AnyLevel,
	Roles:    encode.InRoles(encode.AsCodes),
	PerValue: 60,
	PerByte:  30,
	Estimate: func(_ *encode.Weights, s *encode.Stats, _ encode.Found) int {
		if s.Width == 0 {
			return 0
		}
		return trees.HeaderLen(s.T.Size()+1) + trees.PackedSize(s.N, s.Width)
	},
	Direct:   true,
	PartSize: func(n int, _ word.Type, width int) int { return 16 + trees.PackedSize(n, width) },
	Plan:     planFFOR,
}

func planFFOR(s *encode.Stats, _ encode.Found, _ int) encode.Plan {
	return encode.Plan{Reference: s.Low, Width: s.Width}
}

// layoutOfFFOR is that of trees that begin like FFOR.
func layoutOfFFOR(r *trees.Reader, rest string) (reference uint64, w int, packed []byte) {
	reference = r.Value("reference")
	w, packed = layoutOfPacked(r, rest)
	return reference, w, packed
}
