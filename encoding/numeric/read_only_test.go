package numeric

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/codec"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
)

// Encodings that are only read are written by tests, alone and in others.
func init() {
	writeInTests(encoding.FOR, encode.Codecs{
		W8: encode.Codec[uint8]{Append: appendFOR[uint8]}, W16: encode.Codec[uint16]{Append: appendFOR[uint16]},
		W32: encode.Codec[uint32]{Append: appendFOR[uint32]}, W64: encode.Codec[uint64]{Append: appendFOR[uint64]}})
	writeInTests(encoding.ZigZag, encode.Codecs{
		W8: encode.Codec[uint8]{Append: appendZigZag[uint8]}, W16: encode.Codec[uint16]{Append: appendZigZag[uint16]},
		W32: encode.Codec[uint32]{Append: appendZigZag[uint32]}, W64: encode.Codec[uint64]{Append: appendZigZag[uint64]}})
	writeInTests(encoding.BytePlanes, encode.Codecs{
		W16: encode.Codec[uint16]{Append: appendBytePlanes[uint16]},
		W32: encode.Codec[uint32]{Append: appendBytePlanes[uint32]}, W64: encode.Codec[uint64]{Append: appendBytePlanes[uint64]}})
}

func writeInTests(code encoding.Code, c encode.Codecs) {
	r := codec.Table.Find(code)
	r.ReadOnly = false
	r.Codecs.W8.Append, r.Codecs.W16.Append, r.Codecs.W32.Append, r.Codecs.W64.Append = c.W8.Append, c.W16.Append, c.W32.Append, c.W64.Append
}

// appendFOR writes the distances from the least value.
func appendFOR[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	low, _ := in.Bounds()
	distances := make([]U, len(in.Values))
	for i, v := range in.Values {
		distances[i] = v - low
	}
	start := len(dst)
	dst = trees.Pad(word.StoreOne(trees.AppendCode(dst, encoding.FOR), low), start)
	return encode.Append(e, dst, in.Child(e, distances, encoding.FOR, 0), p.Kids[0])
}

func appendZigZag[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	z := make([]U, len(in.Values))
	for i, v := range in.Values {
		z[i] = v<<1 ^ -(v >> (word.BitsOf[U]() - 1))
	}
	start := len(dst)
	dst = trees.AppendHeader(dst, encoding.ZigZag, 1)
	dst[start+2] = 1
	kid := p.Kids[0]
	if kid.Code == 0 { // the reference cannot read raw ones
		kid = &encode.Plan{Code: encoding.Plain}
	}
	return encode.Append(e, dst, in.Child(e, z, encoding.ZigZag, 0), kid)
}

func appendBytePlanes[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	size := word.SizeOf[U]()
	start := len(dst)
	dst = trees.AppendHeader(dst, encoding.BytePlanes, 4*size)
	for k := range size {
		plane := make([]uint8, len(in.Values))
		for i, v := range in.Values {
			plane[i] = uint8(v >> (8 * k))
		}
		at := len(dst)
		dst = encode.Append(e, dst, encode.ChildOf[U, uint8](e, in, plane, encoding.BytePlanes, k), p.Kids[0])
		binary.LittleEndian.PutUint32(dst[start+2+4*k:], uint32(len(dst)-at))
		dst = trees.Pad(dst, start)
	}
	return dst
}
