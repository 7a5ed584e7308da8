package packing

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/fastlanes"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// TightPack, code 0x800a (edition 2026), integers (T of size bytes): FFOR without
// chunks, for sequences that are short or end in the middle of one.
//
//	0a 80 | T base | u8 W | zeros up to 8, or 16 if size is 8 | ceil(n*W/8) bytes: value - base, modulo 2^bits
//
// 1 <= W <= bits of T. Value i has the bits i*W to i*W+W-1, counted from the least
// significant bit of each byte; what is left of the last byte is zero. Example,
// uint16 1000, 1001, 1003:
//
//	0a 80 | e8 03 | 02 | 00 00 00 | 34
type tightValues[U word.Uint] struct {
	base U
	w    int
	data []byte
}

func decodeTight[U word.Uint](dst []U, r *trees.Reader, _ *trees.Scratch) error {
	base, w, data := layoutOfFFOR(r, "differences")
	switch {
	case r.Err != nil:
		return r.Err
	case w < 1 || w > word.BitsOf[U]():
		return fault.Corruptf("width of %d bits in values of %d", w, word.BitsOf[U]())
	case uint64(len(data)) != (uint64(r.N)*uint64(w)+7)/8:
		return fault.Corruptf("%d bytes for %d values of %d bits", len(data), r.N, w)
	}
	p := tightValues[U]{U(base), w, data}
	p.unpack(dst)
	return nil
}

// tightSize is the size of n values of w bits.
func tightSize(n, w int) int { return (n*w + 7) / 8 }

// tightLoad is how many bytes are looked at for a value: 8, and one more for wide
// ones that begin in the middle of a byte.
const tightLoad = 9

// unpack reads the values for which all bytes are there from where they are, and
// the last ones from a copy with zeros behind it.
func (p *tightValues[U]) unpack(dst []U) {
	fast := 0
	if room := len(p.data) - tightLoad; room >= 0 {
		fast = int(min((8*uint64(room)+7)/uint64(p.w)+1, uint64(len(dst))))
		p.read(dst[:fast], p.data, 0)
	}
	var tail [3 * tightLoad]byte
	at := uint64(fast) * uint64(p.w)
	copy(tail[:], p.data[min(at/8, uint64(len(p.data))):])
	p.read(dst[fast:], tail[:], at%8)
}

// read reads values from a bit of data on, which has the bytes that are looked at.
func (p *tightValues[U]) read(dst []U, data []byte, at uint64) {
	base, w := p.base, uint64(p.w)
	mask := ^U(0) >> (word.BitsOf[U]() - p.w)
	if w > 64-7 {
		for i := range dst {
			b := data[at>>3:][:tightLoad]
			v := binary.LittleEndian.Uint64(b)>>(at&7) | uint64(b[8])<<(64-at&7)
			dst[i] = U(v)&mask + base
			at += w
		}
		return
	}
	if len(dst) == 0 || uint64(len(data)) < (at+uint64(len(dst)-1)*w)>>3+8 {
		return
	}
	from := unsafe.Pointer(unsafe.SliceData(data))
	for i := range dst {
		dst[i] = U(word.Load64(from, at>>3)>>(at&7))&mask + base
		at += w
	}
}

// appendTight packs the distances from the least value, in the order of in.
func appendTight[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	low, w := U(p.Reference), p.Width
	if w == 0 {
		var high U
		low, high = in.Bounds()
		if low == high {
			return encode.AppendSame(dst, low)
		}
		w = bits.Len64(uint64(high - low))
	}
	start := len(dst)
	dst = append(word.StoreOne(trees.AppendCode(dst, encoding.TightPack), low), byte(w))
	out := word.NewBitWriter(trees.Pad(dst, start))
	for _, v := range in.Values {
		out.Put(uint64(v-low), w)
	}
	return out.End()
}

func tightPackCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{Decoder: trees.Decoder[U]{Decode: decodeTight[U]}, Append: appendTight[U]}
}

// TightPack, code 0x800a.
var TightPack = encode.Row{
	Row:      trees.Row{Code: encoding.TightPack, Types: word.Ints, Layout: func(r *trees.Reader) { layoutOfFFOR(r, "differences") }},
	Codecs:   encode.Codecs{W8: tightPackCodec[uint8](), W16: tightPackCodec[uint16](), W32: tightPackCodec[uint32](), W64: tightPackCodec[uint64]()},
	Needs:    edition.Only(edition.TightPack),
	Tier:     encode.TierLight,
	Levels:   encode.AnyLevel,
	Roles:    encode.InRoles(encode.AsCodes),
	PerValue: 600,
	PerByte:  50,
	Estimate: func(_ *encode.Weights, s *encode.Stats, _ encode.Found) int {
		if s.Width == 0 || s.N%fastlanes.ChunkLen == 0 {
			return 0
		}
		return trees.HeaderLen(s.T.Size()+1) + tightSize(s.N, s.Width)
	},
	Direct:   true,
	PartSize: func(n int, _ word.Type, width int) int { return 16 + tightSize(n, width) },
	Plan:     planFFOR,
}
