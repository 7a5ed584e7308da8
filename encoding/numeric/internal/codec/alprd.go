package codec

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/alp"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/packing"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// ALPRD, code 13, floats whose bits are split (package alp; U is uint32 for
// float32, uint64 for float64):
//
//	0  2  0d 00
//	2  4  u32 size of the left codes in bytes
//	6  4  u32 size of the right parts in bytes
//	10 2  u16 number of exceptions X
//	12 1  R, bits of the right parts
//	13 1  D, entries of the dictionary: 1 to 8
//	14 2  zeros
//	16    D u16 dictionary of left parts
//	      left codes: tree of n u16
//	      right parts: tree of n U
//	      X u32 positions, ascending, then X u16 left parts that replace those; to the end
//
// There are no zeros between the parts; bits of a value = left << R | right.
// Example, float32 1.5 (3fc00000) twice with R=16, both parts as SingleValue:
//
//	0d 00 | 04 00 00 00 | 06 00 00 00 | 00 00 | 10 | 01 | 00 00 | c0 3f | 07 00 00 00 | 07 00 00 00 00 00
type alprdTree struct {
	right                 uint8 // bits
	dict                  []byte
	codes, rights         trees.Part
	positions, exceptions []byte
}

const alprdMaxDict = 8

func layoutOfALPRD(r *trees.Reader) (a alprdTree) {
	left, right := r.Uint(4, "size of left codes"), r.Uint(4, "size of right parts")
	x, bits, k := r.Uint(2, "exceptions"), r.Uint(1, "bits of right parts"), r.Uint(1, "dictionary entries")
	r.Params("R=%d,D=%d,x=%d", bits, k, x)
	r.Pad()
	a.right, a.dict = uint8(bits), r.Bytes(2*k, "dictionary of left parts")
	a.codes = r.Part("left codes", left, true, word.U16, r.N)
	a.rights = r.Part("right parts", right, true, r.T.ToInteger().ToUnsigned(), r.N)
	a.positions, a.exceptions = layoutOfExceptions(r, x, 2)
	if k < 1 || k > alprdMaxDict {
		r.Fail(fault.Corruptf("dictionary of %d left parts", k))
	}
	return a
}

func decodeALPRD[U word.Uint](dst []U, r *trees.Reader, s *trees.Scratch) error {
	a := layoutOfALPRD(r)
	if r.Err != nil {
		return r.Err
	}
	codes := word.Take[uint16](&s.Mem, len(dst))
	if err := trees.DecodePart(codes, &a.codes, s); err != nil {
		return err
	}
	if err := trees.DecodePart(dst, &a.rights, s); err != nil {
		return err
	}
	dict := word.Take[uint16](&s.Mem, len(a.dict)/2)
	positions, lefts := word.Take[uint32](&s.Mem, len(a.positions)/4), word.Take[uint16](&s.Mem, len(a.exceptions)/2)
	word.Load(dict, a.dict)
	word.Load(positions, a.positions)
	word.Load(lefts, a.exceptions)
	p := alp.RDParams{RightBits: a.right, Dict: dict}
	if r.T == word.F32 {
		return joinRD[float32](word.As[uint32](dst), codes, p, positions, lefts)
	}
	return joinRD[float64](word.As[uint64](dst), codes, p, positions, lefts)
}

// joinRD joins left parts to right parts.
func joinRD[F alp.Float, U alp.Bits](dst []U, codes []uint16, p alp.RDParams, positions []uint32, lefts []uint16) error {
	if err := alp.ValidRD[F](p); err != nil {
		return err
	}
	return alp.DecodeRD(dst, codes, p, positions, lefts)
}

func appendALPRD[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], _ encode.Plan) []byte {
	if in.T == word.F32 {
		return appendALPRDParts[U, float32, uint32](e, dst, in)
	}
	return appendALPRDParts[U, float64, uint64](e, dst, in)
}

// appendALPRDParts needs a left tree whose size is a multiple of 8, and so a
// dictionary of 4 or 8 entries: the reference refuses to read right parts that
// do not begin at a multiple of their size.
func appendALPRDParts[U word.Uint, F alp.Float, R alp.Bits](e *encode.Workspace, dst []byte, in encode.Input[U]) []byte {
	floats := word.As[F](in.Values)
	params, ok := alp.SearchRD(floats)
	if !ok || len(floats) == 0 {
		return encode.AppendPlain(dst, in.Values)
	}
	mark := e.Mem.Mark()
	codes := word.Take[uint16](&e.Mem, len(floats))
	right := word.Take[R](&e.Mem, len(floats))
	var lefts []uint16
	table := word.Take[uint8](&e.Mem, params.Lefts(in.T.Size()))
	e.Exceptions, lefts = alp.EncodeRD(codes, right, floats, params, table, e.Exceptions[:0], nil)
	if len(e.Exceptions) > maxExceptions {
		e.Mem.Release(mark)
		return encode.AppendPlain(dst, in.Values)
	}
	start := len(dst)
	dst = trees.AppendHeader(dst, encoding.ALPRD, 12)
	dst = word.Store(dst, params.Dict)
	left := len(dst)
	dst = packing.AppendBits(e, dst, codes, 2+len(params.Dict)/8)
	middle := len(dst)
	dst = packing.AppendBits(e, dst, right, int(params.RightBits))
	header := dst[start+2:]
	binary.LittleEndian.PutUint32(header, uint32(middle-left))
	binary.LittleEndian.PutUint32(header[4:], uint32(len(dst)-middle))
	binary.LittleEndian.PutUint16(header[8:], uint16(len(e.Exceptions)))
	header[10], header[11] = params.RightBits, byte(len(params.Dict))
	dst = word.Store(word.Store(dst, e.Exceptions), lefts)
	e.Mem.Release(mark)
	return dst
}

func alprdCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{
		Decoder: trees.Decoder[U]{Decode: decodeALPRD[U]},
		Append:  appendALPRD[U],
	}
}

var alpSplit = encode.Row{
	Row:      trees.Row{Code: encoding.ALPRD, Types: word.Floats, Layout: func(r *trees.Reader) { layoutOfALPRD(r) }},
	Codecs:   encode.Codecs{W32: alprdCodec[uint32](), W64: alprdCodec[uint64]()},
	Parts:    []encode.Part{{Type: encode.Always(word.U16)}, {Type: func(t word.Type) word.Type { return t.ToInteger().ToUnsigned() }}},
	Tier:     encode.TierMiddle,
	Levels:   1,
	Roles:    encode.InRoles(),
	PerValue: 1200, // without AVX2; a third of that with it
	Estimate: func(_ *encode.Weights, s *encode.Stats, _ encode.Found) int {
		return 32 + trees.PackedSize(s.N, 8*s.T.Size()-16) + trees.PackedSize(s.N, 2)
	},
	Guess: encode.TierLight,
}
