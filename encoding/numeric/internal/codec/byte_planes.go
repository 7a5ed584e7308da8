package codec

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
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

func bytePlanesCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{Decoder: trees.Decoder[U]{Decode: decodeBytePlanes[U]}}
}

var bytePlanes = encode.Row{
	Row:      trees.Row{Code: encoding.BytePlanes, Types: word.From16, Layout: func(r *trees.Reader) { layoutOfBytePlanes(r) }},
	Codecs:   encode.Codecs{W16: bytePlanesCodec[uint16](), W32: bytePlanesCodec[uint32](), W64: bytePlanesCodec[uint64]()},
	ReadOnly: true,
	Parts:    []encode.Part{{Type: encode.Always(word.U8)}},
}
