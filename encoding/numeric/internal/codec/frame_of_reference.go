package codec

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
)

// FOR, code 3, integers (T of size bytes, U the unsigned type of that size):
//
//	03 00 | T reference | zeros up to 8, or 16 if size is 8 | tree of n U: value - reference, modulo 2^bits
//
// Example, int16 1000, 1001, 1003 over Plain:
//
//	03 00 | e8 03 | 00 00 00 00 | 01 00 | 00 00 01 00 03 00
func decodeFOR[U word.Uint](dst []U, tree []byte, t word.Type, s *trees.Scratch) error {
	base, payload, err := parseFOR[U](tree)
	if err != nil {
		return err
	}
	p, ok, err := trees.ParsePacked[U](payload, t.ToUnsigned(), len(dst), s)
	if err != nil {
		return err
	}
	if ok {
		p.Base += base
		p.Unpack(dst, s)
		return nil
	}
	if err := trees.Decode(dst, payload, t.ToUnsigned(), s); err != nil {
		return err
	}
	if base != 0 {
		for i := range dst {
			dst[i] += base
		}
	}
	return nil
}

func chunkedFOR[U word.Uint](tree []byte, t word.Type, n int, places []uint32, s *trees.Scratch) (c trees.Chunked[U], ok bool, err error) {
	base, payload, err := parseFOR[U](tree)
	if err != nil {
		return c, true, err
	}
	return trees.ParseScaled(payload, base, 1, t.ToUnsigned(), n, places, s)
}

func parseFOR[U word.Uint](tree []byte) (base U, payload []byte, err error) {
	header, payload, err := trees.Split(tree, word.SizeOf[U]())
	if err != nil {
		return 0, nil, err
	}
	return word.LoadOne[U](header), payload, nil
}

func appendFOR[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	if p.Width > 0 {
		return appendFORAs(e, dst, in, U(p.Reference), p)
	}
	low, _ := in.Bounds()
	return appendFORAs(e, dst, in, low, p)
}

// appendFORAs writes the distances from a reference, which need not be the
// least value: they wrap.
func appendFORAs[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], reference U, p encode.Plan) []byte {
	mark := e.Mem.Mark()
	distances := word.Take[U](&e.Mem, len(in.Values))
	for i, v := range in.Values {
		distances[i] = v - reference
	}
	start := len(dst)
	dst = trees.Pad(word.StoreOne(trees.AppendCode(dst, encoding.FOR), reference), start)
	dst = encode.Append(e, dst, in.Child(e, distances, encoding.FOR, 0), p.Kids[0])
	e.Mem.Release(mark)
	return dst
}

func forCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{Decoder: trees.Decoder[U]{Decode: decodeFOR[U], Chunked: chunkedFOR[U]}, Append: appendFOR[U]}
}

var frameOfReference = encode.Row{
	Row:      trees.Row{Code: encoding.FOR, Types: word.Ints, Describe: describeFOR},
	Codecs:   encode.Codecs{W8: forCodec[uint8](), W16: forCodec[uint16](), W32: forCodec[uint32](), W64: forCodec[uint64]()},
	Parts:    []encode.Part{{Role: encode.AsMostZero, Type: word.Type.ToUnsigned}},
	Tier:     encode.TierMiddle,
	Roles:    encode.OnlyRoles(encode.AsValues),
	PerValue: 40,
	PerByte:  20,
	Estimate: estimateFOR,
	Nests:    true,
	Plan: func(s *encode.Stats, _ encode.Found, _ int) encode.Plan {
		return encode.Plan{Reference: s.Top, Width: s.Width}
	},
}

// estimateFOR is FOR over Sparse: most values are the same, but not zero.
func estimateFOR(w *encode.Weights, s *encode.Stats, _ encode.Found) int {
	if s.Top == 0 || 4*s.Others > s.N {
		return 0
	}
	return trees.HeaderLen(s.T.Size()) + sparseSize(w, s, s.Others)
}

func describeFOR(d *trees.Describer) {
	d.Value("reference")
	d.Pad()
	d.Last("differences", true, d.T.ToUnsigned(), d.N)
}
