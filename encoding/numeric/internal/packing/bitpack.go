// Package packing has the encodings of integers that store each value by itself, in as few bits as all of them need, or
// most, or those of its bin; and that of a single value, which needs none. Each is in a file of its own, as in package codec,
// whose table lists them.
package packing

import (
	"math/bits"
	"slices"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/fastlanes"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
)

// FLBitPack, code 2, unsigned integers:
//
//	02 00 | u8 W | 5 zeros | ceil(n/1024) chunks of 128*W bytes (package fastlanes)
//
// 1 <= W <= bits of the type. What fills the last chunk up to 1024 values has no
// meaning. Example, uint32 1, 2, 3 in 2 bits:
//
//	02 00 | 02 | 00 00 00 00 00 | 01 00 00 00 02 00 00 00 03 00 00 00 and 244 zeros
func viewBitPack[U word.Uint](v *trees.View[U], _ []U, r *trees.Reader, _ []uint32, _ *trees.Scratch) error {
	return viewPacked(v, r, 0)
}

// viewPacked makes a view one of chunks, and their width before them.
func viewPacked[U word.Uint](v *trees.View[U], r *trees.Reader, base U) error {
	w, chunks := layoutOfPacked(r, "chunks")
	if r.Err != nil {
		return r.Err
	}
	return v.SetPacked(base, w, chunks, r.N)
}

// layoutOfPacked is that of a width and what has it.
func layoutOfPacked(r *trees.Reader, rest string) (w int, packed []byte) {
	w = int(r.Uint(1, "bits"))
	r.Params("%d", uint64(w))
	r.Pad()
	return w, r.Rest(rest)
}

// appendBitPack packs values, which are unsigned.
func appendBitPack[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	if p.Width > 0 {
		return AppendBits(e, dst, in.Values, p.Width)
	}
	var all U
	for _, v := range in.Values {
		all |= v
	}
	if all == 0 {
		return encode.AppendSame(dst, in.Values[0])
	}
	return AppendBits(e, dst, in.Values, bits.Len64(uint64(all)))
}

// AppendBits appends a tree of FLBitPack with w bits for each value.
func AppendBits[U word.Uint](e *encode.Workspace, dst []byte, values []U, w int) []byte {
	dst = append(trees.AppendCode(dst, encoding.FLBitPack), byte(w), 0, 0, 0, 0, 0)
	return appendChunks(e, dst, values, 0, w)
}

// appendChunks packs values less base; what fills the last chunk packs to zeros.
func appendChunks[U word.Uint](e *encode.Workspace, dst []byte, values []U, base U, w int) []byte {
	size := fastlanes.PackedLen(w)
	chunks := (len(values) + fastlanes.ChunkLen - 1) / fastlanes.ChunkLen
	at := len(dst)
	dst = slices.Grow(dst, chunks*size)[:at+chunks*size]
	for ; len(values) >= fastlanes.ChunkLen; values = values[fastlanes.ChunkLen:] {
		fastlanes.Pack(dst[at:at+size], (*[fastlanes.ChunkLen]U)(values), base, w)
		at += size
	}
	if len(values) > 0 {
		mark := e.Mem.Mark()
		last := word.Take[U](&e.Mem, fastlanes.ChunkLen)
		word.Fill(last[copy(last, values):], base)
		fastlanes.Pack(dst[at:at+size], (*[fastlanes.ChunkLen]U)(last), base, w)
		e.Mem.Release(mark)
	}
	return dst
}

func bitsCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{Decoder: trees.Decoder[U]{View: viewBitPack[U]}, Append: appendBitPack[U]}
}

// BitPack, code 2.
var BitPack = encode.Row{
	Row:      trees.Row{Code: encoding.FLBitPack, Types: word.UnsignedInts, Layout: func(r *trees.Reader) { layoutOfPacked(r, "chunks") }, Packed: true},
	Codecs:   encode.Codecs{W8: bitsCodec[uint8](), W16: bitsCodec[uint16](), W32: bitsCodec[uint32](), W64: bitsCodec[uint64]()},
	Tier:     encode.TierLight,
	Levels:   encode.AnyLevel,
	Roles:    encode.InRoles(encode.AsCodes),
	PerValue: 60,
	PerByte:  30,
	Estimate: func(_ *encode.Weights, s *encode.Stats, _ encode.Found) int {
		if s.MaxWidth == 0 {
			return 0
		}
		return 8 + trees.PackedSize(s.N, s.MaxWidth)
	},
	Plan: func(s *encode.Stats, _ encode.Found, _ int) encode.Plan { return encode.Plan{Width: s.MaxWidth} },
}
