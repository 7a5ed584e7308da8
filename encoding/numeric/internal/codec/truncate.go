package codec

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
)

// TruncateU8, U16, U32, U64, codes 8 to 11, signed integers at least as wide as
// what they are cut to (X bits; none for int8):
//
//	08 00 | nested flag | 5 zeros | tree of n uX, or n little-endian uX
//
// The low X bits of each value are kept; reading extends their sign. Where X is
// the width of the type this is a mere cast, to reach FLBitPack. Example, int32
// -1, 2, 127:
//
//	08 00 | 00 | 00 00 00 00 00 | ff 02 7f
func decodeTruncate[U word.Uint](dst []U, code encoding.Code, r *trees.Reader, s *trees.Scratch) error {
	values := layoutOfFlagged(r, truncateType(code))
	if r.Err != nil {
		return r.Err
	}
	width := truncateSize(code)
	switch {
	case width == word.SizeOf[U]():
		return trees.EachChunk(dst, &values, s, func([]U) {})
	case width == 1:
		return widen(dst, &values, extendSign[U, uint8], s)
	case width == 2:
		return widen(dst, &values, extendSign[U, uint16], s)
	}
	return widen(dst, &values, extendSign[U, uint32], s)
}

func truncateSize(code encoding.Code) int { return 1 << (code - encoding.TruncateU8) }

func truncateType(code encoding.Code) word.Type { return word.U8 + word.Type(code-encoding.TruncateU8) }

// widen decodes values of type X and extends them.
func widen[U, X word.Uint](dst []U, values *trees.Part, extend func(dst []U, src []X), s *trees.Scratch) error {
	return trees.EachChunk(nil, values, s, func(some []X) {
		extend(dst[:len(some)], some)
		dst = dst[len(some):]
	})
}

// extendSign widens signed values that are stored as unsigned ones: flipping the
// sign bit and subtracting it again borrows into the upper bits.
func extendSign[U, X word.Uint](dst []U, src []X) {
	sign := X(1) << (word.BitsOf[X]() - 1)
	wide := U(sign)
	src = src[:len(dst)]
	for len(src) >= 8 && len(dst) >= 8 {
		d, s := (*[8]U)(dst), (*[8]X)(src)
		d[0], d[1] = U(s[0]^sign)-wide, U(s[1]^sign)-wide
		d[2], d[3] = U(s[2]^sign)-wide, U(s[3]^sign)-wide
		d[4], d[5] = U(s[4]^sign)-wide, U(s[5]^sign)-wide
		d[6], d[7] = U(s[6]^sign)-wide, U(s[7]^sign)-wide
		dst, src = dst[8:], src[8:]
	}
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = U(v^sign) - wide
	}
}

// appendTruncate cuts values to the width of code, or the next that holds them.
func appendTruncate[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	code := p.Code
	low, high := in.Bounds()
	for !encode.FitsSigned(low, high, 8*truncateSize(code)) {
		code++
	}
	if !e.Takes(code, in.T) { // int8
		return encode.AppendPlain(dst, in.Values)
	}
	switch truncateSize(code) {
	case 1:
		return appendTruncateTo[U, uint8](e, dst, in, code, p)
	case 2:
		return appendTruncateTo[U, uint16](e, dst, in, code, p)
	case 4:
		return appendTruncateTo[U, uint32](e, dst, in, code, p)
	}
	return appendTruncateTo[U, uint64](e, dst, in, code, p)
}

func appendTruncateTo[U, X word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], code encoding.Code, p encode.Plan) []byte {
	mark := e.Mem.Mark()
	narrow := word.Take[X](&e.Mem, len(in.Values))
	for i, v := range in.Values {
		narrow[i] = X(v)
	}
	dst = appendFlagged(e, dst, code, encode.ChildOf[U, X](e, in, narrow, code, 0), p.Kids[0])
	e.Mem.Release(mark)
	return dst
}

// appendFlagged writes an encoding whose only header is the flag of its child.
func appendFlagged[X word.Uint](e *encode.Workspace, dst []byte, code encoding.Code, child encode.Input[X], p *encode.Plan) []byte {
	start := len(dst)
	dst = trees.AppendHeader(dst, code, 1)
	dst, flag := encode.AppendPart(e, dst, child, p)
	dst[start+2] = flag
	return dst
}

func truncateCodec[U word.Uint](code encoding.Code) encode.Codec[U] {
	return encode.Codec[U]{
		Decoder: trees.Decoder[U]{Decode: func(dst []U, r *trees.Reader, s *trees.Scratch) error { return decodeTruncate(dst, code, r, s) }},
		Append:  appendTruncate[U],
	}
}

var (
	truncateU8  = truncateRow(encoding.TruncateU8, word.From16, encode.TierMiddle)
	truncateU16 = truncateRow(encoding.TruncateU16, word.From16, encode.TierMiddle)
	truncateU32 = truncateRow(encoding.TruncateU32, word.From32, encode.TierMiddle)
	truncateU64 = truncateRow(encoding.TruncateU64, word.From64, encode.TierNever)
)

func truncateRow(code encoding.Code, wide word.Types, tier encode.Tier) encode.Row {
	width := 8 * truncateSize(code)
	return encode.Row{
		Row:      trees.Row{Code: code, Types: wide & word.SignedInts, Layout: func(r *trees.Reader) { layoutOfFlagged(r, truncateType(code)) }},
		Codecs:   encode.Codecs{W16: truncateCodec[uint16](code), W32: truncateCodec[uint32](code), W64: truncateCodec[uint64](code)},
		Parts:    []encode.Part{{Role: encode.AsNarrowed, Type: encode.Always(truncateType(code))}},
		Tier:     tier,
		Levels:   2,
		Roles:    encode.InRoles(),
		PerValue: 240,
		Estimate: func(_ *encode.Weights, s *encode.Stats, _ encode.Found) int {
			if s.Signed != width || width >= 8*s.T.Size() {
				return 0
			}
			return 8 + s.N*width/8
		},
		Guess:    encode.TierHeavy,
		Nests:    true,
		Direct:   true,
		PartSize: wholeBytesSize,
	}
}

// wholeBytesSize is the size of n values in the narrowest integer type that holds so many bits, behind a header.
func wholeBytesSize(n int, _ word.Type, width int) int {
	size := 1
	for 8*size < width {
		size *= 2
	}
	return 8 + n*size
}

// layoutOfFlagged is that of encodings whose only header is the flag of their child, of type t.
func layoutOfFlagged(r *trees.Reader, t word.Type) (values trees.Part) {
	nested := r.Flag("values are a tree:")
	r.Pad()
	return r.Last("values", nested, t, r.N)
}
