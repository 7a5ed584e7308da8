package packing

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/prefixbins"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// PrefixBins, code 0x8006 (edition 2026), integers: the number line is cut into
// bins; a value is the prefix code of its bin, short for bins that hold many
// values, and its offset in the bin. So do Deflate's distances (RFC 1951), and
// for columns Loncaric, Jeppesen and Zinberg, "Pcodec: Better Compression for
// Numerical Sequences" (2025).
//
//	0    2  06 80
//	2    2  u16 number of bins B, 1 to 4096
//	4    4  u32 size of the lows in bytes
//	8    4  u32 size of the widths in bytes
//	12  12  u32 size in bytes of streams 0, 1 and 2; stream 3 takes what is left
//	24      lows: tree of B T, the least value of each bin
//	        zeros up to a multiple of 8
//	        widths: tree of 2B u8: the code length of each bin, then the bits of its offsets
//	        zeros up to a multiple of 8
//	        streams 0 to 3, then 8 zero bytes
//
// Value i is in stream i mod 4: its code and then its offset. Streams are filled
// from the least significant bit of each byte; as in Deflate, codes begin with
// their most significant bit, offsets with the least. Codes are canonical:
// shorter ones first, equally long ones in the order of the bins, each one more
// than the last. They are 1 to 12 bits long and complete; a single bin has a code
// of 0 bits. value = low + offset, wrapping. Unused bits at the end are zero.
//
// Example: bins 10 and 20 with codes 0 and 1 and offsets of 0 and 2 bits; of the
// values 10, 21, 10, 10, 23 stream 0 holds 10 and 23, which is the byte 0e (0,
// then 1 and 3).
type binsParts struct {
	lows, widths trees.Part
	starts       [prefixbins.Streams + 1]int // of each stream in data, and the end of the last
	data         []byte                      // streams and 8 zero bytes
}

const binsHeader = 22 // bytes behind the code

func layoutOfPrefixBins(r *trees.Reader) (p binsParts) {
	bins := r.Uint(2, "bins")
	r.Params("%d", bins)
	lows, widths := r.Uint(4, "size of lows"), r.Uint(4, "size of widths")
	var sizes [prefixbins.Streams]uint64
	for k := range prefixbins.Streams - 1 {
		sizes[k] = r.Uint(4, r.Nth("size of stream", k))
	}
	p.lows = r.Part("lows", lows, true, r.T, int(bins))
	r.Pad()
	p.widths = r.Part("widths of codes and offsets", widths, true, word.U8, 2*int(bins))
	r.Pad()
	p.data = r.Next(int(r.Left()))
	for k := range sizes {
		if k == len(sizes)-1 {
			sizes[k] = max(r.Left(), prefixbins.Slack) - prefixbins.Slack
		}
		r.Bytes(sizes[k], r.Nth("stream", k))
		p.starts[k+1] = p.starts[k] + int(sizes[k])
	}
	r.Bytes(prefixbins.Slack, "zeros")
	if bins < 1 || bins > prefixbins.MaxBins {
		r.Fail(fault.Corruptf("%d bins", bins))
	}
	return p
}

func decodePrefixBins[U word.Uint](dst []U, r *trees.Reader, s *trees.Scratch) error {
	p := layoutOfPrefixBins(r)
	if r.Err != nil {
		return r.Err
	}
	lows, widths := word.Take[U](&s.Mem, p.lows.N), word.Take[uint8](&s.Mem, p.widths.N)
	if err := trees.DecodePart(lows, &p.lows, s); err != nil {
		return err
	}
	if err := trees.DecodePart(widths, &p.widths, s); err != nil {
		return err
	}
	return prefixbins.Decode(&s.Mem, dst, lows, widths, p.data, p.starts)
}

// appendPrefixBins falls back to FFOR where bins do not pay.
func appendPrefixBins[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	mark := e.Mem.Mark()
	defer e.Mem.Release(mark)
	flip := in.Flip()
	b := prefixbins.Choose(&e.Mem, in.Values, flip, func(size int) bool { return e.Beyond(dst, size) })
	if b.Lows == nil {
		return appendFFOR(e, dst, in, encode.Plan{})
	}
	if b.Widths == nil || e.Beyond(dst, b.Size()) {
		return encode.AppendPlain(dst, in.Values)
	}
	start := len(dst)
	dst = trees.AppendHeader(dst, encoding.PrefixBins, binsHeader)
	binary.LittleEndian.PutUint16(dst[start+2:], uint16(len(b.Lows)))
	lows := word.Take[U](&e.Mem, len(b.Lows))
	for i, low := range b.Lows {
		lows[i] = low ^ flip
	}
	at := len(dst)
	child := in.Child(e, lows, encoding.PrefixBins, 0)
	child.Wrap = in.Wrap
	dst = encode.Append(e, dst, child, p.Kids[0])
	binary.LittleEndian.PutUint32(dst[start+4:], uint32(len(dst)-at))
	dst = trees.Pad(dst, start)
	at = len(dst)
	dst = encode.Append(e, dst, encode.ChildOf[U, uint8](e, in, b.Widths, encoding.PrefixBins, 1), p.Kids[1])
	binary.LittleEndian.PutUint32(dst[start+8:], uint32(len(dst)-at))
	dst = trees.Pad(dst, start)
	codes := b.Codes(&e.Mem)
	for k := range prefixbins.Streams {
		at := len(dst)
		dst = b.AppendStream(dst, in.Values, k, codes, flip)
		if k < prefixbins.Streams-1 {
			binary.LittleEndian.PutUint32(dst[start+12+4*k:], uint32(len(dst)-at))
		}
	}
	var zeros [prefixbins.Slack]byte
	return append(dst, zeros[:]...)
}

func prefixBinsCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{Decoder: trees.Decoder[U]{Decode: decodePrefixBins[U]}, Append: appendPrefixBins[U]}
}

// PrefixBins, code 0x8006.
var PrefixBins = encode.Row{
	Row:      trees.Row{Code: encoding.PrefixBins, Types: word.Ints, Layout: func(r *trees.Reader) { layoutOfPrefixBins(r) }},
	Codecs:   encode.Codecs{W8: prefixBinsCodec[uint8](), W16: prefixBinsCodec[uint16](), W32: prefixBinsCodec[uint32](), W64: prefixBinsCodec[uint64]()},
	Needs:    edition.Only(edition.PrefixBins),
	Parts:    []encode.Part{{Type: encode.SameType}, {Type: encode.Always(word.U8)}},
	Tier:     encode.TierHeavy,
	Levels:   2,
	Roles:    encode.InRoles(encode.AsCodes, encode.AsNarrowed),
	PerValue: 1000,
	Estimate: func(_ *encode.Weights, s *encode.Stats, _ encode.Found) int {
		if s.N < encode.LeastCompressed || s.Width < 2 {
			return 0
		}
		return trees.HeaderLen(binsHeader) + 256 + s.N*s.Width/8
	},
	Guess: encode.TierLight,
	Nests: true,
}
