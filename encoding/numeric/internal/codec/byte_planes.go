package codec

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// BytePlanes, code 0x8003 (edition 2026), types of 2 to 8 bytes: byte k of all
// values is a sequence of its own, which compresses better than the values do.
//
//	03 80 | size * u32: bytes of each plane | zeros up to H | planes: trees of n u8, each padded with zeros to a multiple of 8
//
// H is 2 + 4*size rounded up to 8. Plane 0 holds the low bytes. Example, uint16
// 0x0102, 0x0103 with planes as Plain and SingleValue:
//
//	03 80 | 04 00 00 00 | 03 00 00 00 | 6 zeros | 01 00 02 03 | 4 zeros | 07 00 01 | 5 zeros
func layoutOfBytePlanes(r *trees.Reader) (planes [8]trees.Part) {
	var sizes [8]uint64
	for k := range r.T.Size() {
		sizes[k] = r.Uint(4, r.Nth("size of plane", k))
	}
	r.Pad()
	for k := range r.T.Size() {
		planes[k] = r.Part(r.Nth("plane", k), sizes[k], true, word.U8, r.N)
		r.Pad()
	}
	r.End()
	return planes
}

func decodeBytePlanes[U word.Uint](dst []U, r *trees.Reader, s *trees.Scratch) error {
	planes := layoutOfBytePlanes(r)
	if r.Err != nil {
		return r.Err
	}
	var same U // of the planes that hold but one value
	tmp := word.Take[uint8](&s.Mem, len(dst))
	clear(dst)
	for k, p := range planes[:word.SizeOf[U]()] {
		v, err := trees.ParseView(tmp, p.Bytes, p.T, p.N, nil, s)
		switch {
		case err != nil:
			return err
		case v.Form == trees.Single:
			same |= U(v.Values[0]) << (8 * k)
			continue
		}
		if err := v.Put(tmp, p.Bytes, s); err != nil {
			return err
		}
		addPlane(dst, tmp, 8*k)
	}
	if same != 0 {
		for i := range dst {
			dst[i] |= same
		}
	}
	return nil
}

func addPlane[U word.Uint](dst []U, plane []uint8, shift int) {
	plane = plane[:len(dst)]
	for i, b := range plane {
		dst[i] |= U(b) << (shift & 63)
	}
}

func appendBytePlanes[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	size := word.SizeOf[U]()
	if size == 1 {
		return encode.AppendPlain(dst, in.Values)
	}
	mark := e.Mem.Mark()
	plane := word.Take[uint8](&e.Mem, len(in.Values))
	start := len(dst)
	dst = trees.AppendHeader(dst, encoding.BytePlanes, 4*size)
	for k := range size {
		if e.Beyond(dst, 0) {
			dst = encode.AppendPlain(dst[:start], in.Values)
			break
		}
		for i, v := range in.Values {
			plane[i] = uint8(v >> (8 * k))
		}
		at := len(dst)
		dst = encode.Append(e, dst, encode.ChildOf[U, uint8](e, in, plane, encoding.BytePlanes, k), p.Kids[0])
		binary.LittleEndian.PutUint32(dst[start+2+4*k:], uint32(len(dst)-at))
		dst = trees.Pad(dst, start)
	}
	e.Mem.Release(mark)
	return dst
}

func bytePlanesCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{Decoder: trees.Decoder[U]{Decode: decodeBytePlanes[U]}, Append: appendBytePlanes[U]}
}

var bytePlanes = encode.Row{
	Row:      trees.Row{Code: encoding.BytePlanes, Types: word.From16, Layout: func(r *trees.Reader) { layoutOfBytePlanes(r) }},
	Codecs:   encode.Codecs{W16: bytePlanesCodec[uint16](), W32: bytePlanesCodec[uint32](), W64: bytePlanesCodec[uint64]()},
	Needs:    edition.Only(edition.BytePlanes),
	Parts:    []encode.Part{{Role: encode.AsPlane, Type: encode.Always(word.U8)}},
	Tier:     encode.TierHeavy,
	Levels:   1,
	Roles:    encode.InRoles(encode.AsNarrowed),
	PerValue: 100,
	PerByte:  150,
	Estimate: func(_ *encode.Weights, s *encode.Stats, _ encode.Found) int {
		if s.N < encode.LeastCompressed {
			return 0
		}
		return trees.HeaderLen(4*s.T.Size()) + s.N*s.T.Size()/8
	},
	Guess: encode.TierLight,
}
