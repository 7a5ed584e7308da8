package codec

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
)

// Zstd, code 16, all types: the n little-endian values as a Zstandard stream (RFC 8878, one or more frames, no
// dictionary), to the end.
//
//	10 00 | 6 zeros | frames
func layoutOfZstd(r *trees.Reader) (frames []byte) {
	r.Pad()
	return r.Rest("frames")
}

func decodeZstd[U word.Uint](dst []U, r *trees.Reader, s *trees.Scratch) error {
	frames := layoutOfZstd(r)
	if r.Err != nil {
		return r.Err
	}
	want := word.Bytes(dst)
	if err := s.Zstd.Decode(want, frames); err != nil {
		return err
	}
	if word.BigEndian {
		word.Swap(want, word.SizeOf[U]())
	}
	return nil
}

// appendZstd compresses values, whole. In a trial it does so only if a quarter from their middle promises that it may be of use.
func appendZstd[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	mark := e.Mem.Mark()
	defer e.Mem.Release(mark)
	raw := littleEndian(e, in.Values)
	z := e.Zstd(p.Level, len(raw))
	if n := len(raw) / 4; n >= leastQuarter && e.Weights.Features != 0 && e.Beyond(dst, 2*len(raw)) {
		head := len(dst)
		dst = z.EncodeAll(raw[3*n/2:3*n/2+n], dst)
		size := len(dst) - head
		if dst = dst[:head]; e.Beyond(dst, 3*size) {
			return encode.AppendPlain(dst, in.Values)
		}
	}
	return z.EncodeAll(raw, trees.AppendHeader(dst, encoding.Zstd, 0))
}

// leastQuarter is the size of a quarter that is worth a look.
const leastQuarter = 2 << 10

// littleEndian is the bytes of values: their memory, or a copy on a big-endian machine.
func littleEndian[U word.Uint](e *encode.Workspace, values []U) []byte {
	if !word.BigEndian {
		return word.Bytes(values)
	}
	return word.Store(word.Take[uint8](&e.Mem, len(values)*word.SizeOf[U]())[:0], values)
}

func zstdCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{Decoder: trees.Decoder[U]{Decode: decodeZstd[U]}, Append: appendZstd[U]}
}

var zstandard = encode.Row{
	Row:     trees.Row{Code: encoding.Zstd, Types: word.All, Layout: func(r *trees.Reader) { layoutOfZstd(r) }},
	Codecs:  encode.Codecs{W8: zstdCodec[uint8](), W16: zstdCodec[uint16](), W32: zstdCodec[uint32](), W64: zstdCodec[uint64]()},
	Tier:    encode.TierHeavy,
	Levels:  3,
	Fewer:   1,
	Roles:   encode.InRoles(encode.AsCodes, encode.AsNarrowed),
	PerByte: 1300,
	Estimate: func(_ *encode.Weights, s *encode.Stats, _ encode.Found) int {
		if s.N*s.T.Size() < encode.LeastCompressed {
			return 0
		}
		return s.N * s.T.Size() / 32
	},
	Guess: encode.TierLight,
	Params: func(p *encode.Plan, text string) error {
		if p.Level = encode.ZstdBest; text == "2" {
			p.Level = encode.ZstdBetter
		}
		return nil
	},
}

// bestLevel asks a compressor for its better level, whatever the parameter.
func bestLevel(p *encode.Plan, _ string) error {
	p.Level = 1
	return nil
}
