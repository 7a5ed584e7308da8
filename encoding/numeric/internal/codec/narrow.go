package codec

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// Narrow, code 0x8004 (edition 2026), uint16 to uint64: values that fit into a
// narrower unsigned type of X bytes.
//
//	04 80 | u8 X: 1, 2 or 4, less than the size of the type | nested flag | 4 zeros | tree of n uX, or n little-endian uX
//
// Example, uint32 5, 200 as raw bytes:
//
//	04 80 | 01 | 00 | 00 00 00 00 | 05 c8
func layoutOfNarrow(r *trees.Reader) (size int, values trees.Part) {
	size = int(r.Uint(1, "bytes of a value"))
	t, ok := narrowType(size)
	if !ok || size >= r.T.Size() {
		r.Fail(fault.Corruptf("values of %d bytes narrowed to %d", r.T.Size(), size))
	}
	return size, layoutOfFlagged(r, t)
}

func decodeNarrow[U word.Uint](dst []U, r *trees.Reader, s *trees.Scratch) error {
	size, values := layoutOfNarrow(r)
	switch {
	case r.Err != nil:
		return r.Err
	case size == 1:
		return widen(dst, &values, extendZero[U, uint8], s)
	case size == 2:
		return widen(dst, &values, extendZero[U, uint16], s)
	}
	return widen(dst, &values, extendZero[U, uint32], s)
}

// narrowType is the unsigned type of 1, 2 or 4 bytes.
func narrowType(size int) (word.Type, bool) {
	switch size {
	case 1:
		return word.U8, true
	case 2:
		return word.U16, true
	case 4:
		return word.U32, true
	}
	return 0, false
}

// extendZero handles 8 values at a time: the speed of shorter loops depends on where the linker puts them.
func extendZero[U, X word.Uint](dst []U, src []X) {
	src = src[:len(dst)]
	for len(src) >= 8 && len(dst) >= 8 {
		d, s := (*[8]U)(dst), (*[8]X)(src)
		d[0], d[1], d[2], d[3] = U(s[0]), U(s[1]), U(s[2]), U(s[3])
		d[4], d[5], d[6], d[7] = U(s[4]), U(s[5]), U(s[6]), U(s[7])
		dst, src = dst[8:], src[8:]
	}
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = U(v)
	}
}

// appendNarrow cuts values to the least number of bytes that holds them.
func appendNarrow[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	var all U
	for _, v := range in.Values {
		all |= v
	}
	switch {
	case uint64(all) < 1<<8 && word.SizeOf[U]() > 1:
		return appendNarrowTo[U, uint8](e, dst, in, p)
	case uint64(all) < 1<<16 && word.SizeOf[U]() > 2:
		return appendNarrowTo[U, uint16](e, dst, in, p)
	case uint64(all) < 1<<32 && word.SizeOf[U]() > 4:
		return appendNarrowTo[U, uint32](e, dst, in, p)
	}
	return encode.AppendPlain(dst, in.Values)
}

func appendNarrowTo[U, X word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	mark := e.Mem.Mark()
	narrow := word.Take[X](&e.Mem, len(in.Values))
	for i, v := range in.Values {
		narrow[i] = X(v)
	}
	t, _ := narrowType(word.SizeOf[X]())
	start := len(dst)
	dst = trees.AppendHeader(dst, encoding.Narrow, 2)
	child := encode.ChildOf[U, X](e, in, narrow, encoding.Narrow, 0)
	child.T = t
	dst, flag := encode.AppendPart(e, dst, child, p.Kids[0])
	dst[start+2], dst[start+3] = byte(word.SizeOf[X]()), flag
	e.Mem.Release(mark)
	return dst
}

func narrowCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{
		Decoder: trees.Decoder[U]{Decode: decodeNarrow[U]},
		Append:  appendNarrow[U],
	}
}

var narrow = encode.Row{
	Row:      trees.Row{Code: encoding.Narrow, Types: word.UnsignedInts & word.From16, Layout: func(r *trees.Reader) { layoutOfNarrow(r) }},
	Codecs:   encode.Codecs{W16: narrowCodec[uint16](), W32: narrowCodec[uint32](), W64: narrowCodec[uint64]()},
	Needs:    edition.Only(edition.Narrow),
	Parts:    []encode.Part{{Role: encode.AsNarrowed, Type: encode.Always(word.U8)}}, // or wider,
	Tier:     encode.TierMiddle,
	Levels:   3,
	Fewer:    1,
	Roles:    encode.InRoles(encode.AsCodes),
	PerValue: 250,
	Estimate: estimateNarrow,
	Guess:    encode.TierHeavy,
	Nests:    true,
	Direct:   true,
	PartSize: wholeBytesSize,
}

func estimateNarrow(_ *encode.Weights, s *encode.Stats, _ encode.Found) int {
	width := 8
	for width < s.MaxWidth {
		width *= 2
	}
	if s.MaxWidth == 0 || width >= 8*s.T.Size() {
		return 0
	}
	return 8 + s.N*width/8
}
