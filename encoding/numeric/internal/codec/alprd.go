package codec

import (
	"encoding/binary"
	"fmt"

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
	right                 int // bits
	dict                  [alprdMaxDict]uint16
	dictLen               int
	leftCodes, rightParts []byte
	exceptions            int
	positions, leftsPatch []byte
}

const alprdMaxDict = 8

func parseALPRD(tree []byte, n int) (a alprdTree, err error) {
	header, payload, err := trees.Split(tree, 12)
	if err != nil {
		return a, err
	}
	left, right := binary.LittleEndian.Uint32(header), binary.LittleEndian.Uint32(header[4:])
	a.exceptions = int(binary.LittleEndian.Uint16(header[8:]))
	a.right, a.dictLen = int(header[10]), int(header[11])
	if a.dictLen < 1 || a.dictLen > alprdMaxDict {
		return a, fault.Corruptf("dictionary of %d left parts", a.dictLen)
	}
	want := uint64(2*a.dictLen) + uint64(left) + uint64(right) + 6*uint64(a.exceptions)
	if uint64(len(payload)) != want || a.exceptions > n {
		return a, fault.Corruptf("parts of %d, %d and %d bytes and %d exceptions in %d bytes",
			2*a.dictLen, left, right, a.exceptions, len(payload))
	}
	for i := range a.dictLen {
		a.dict[i] = binary.LittleEndian.Uint16(payload[2*i:])
	}
	payload = payload[2*a.dictLen:]
	a.leftCodes, payload = payload[:left], payload[left:]
	a.rightParts, payload = payload[:right], payload[right:]
	a.positions, a.leftsPatch = payload[:4*a.exceptions], payload[4*a.exceptions:]
	return a, nil
}

func decodeALPRD[U word.Uint](dst []U, tree []byte, t word.Type, s *trees.Scratch) error {
	a, err := parseALPRD(tree, len(dst))
	if err != nil {
		return err
	}
	codes := word.Take[uint16](&s.Mem, len(dst))
	if err := trees.Decode(codes, a.leftCodes, word.U16, s); err != nil {
		return err
	}
	right := word.Take[U](&s.Mem, len(dst))
	if err := trees.Decode(right, a.rightParts, t.ToInteger().ToUnsigned(), s); err != nil {
		return err
	}
	positions, lefts := word.Take[uint32](&s.Mem, a.exceptions), word.Take[uint16](&s.Mem, a.exceptions)
	word.Load(positions, a.positions)
	word.Load(lefts, a.leftsPatch)
	p := alp.RDParams{RightBits: uint8(a.right), Dict: a.dict[:a.dictLen]}
	if t == word.F32 {
		return joinRD[float32, uint32](word.As[float32](dst), codes, word.As[uint32](right), p, positions, lefts)
	}
	return joinRD[float64, uint64](word.As[float64](dst), codes, word.As[uint64](right), p, positions, lefts)
}

// joinRD joins left and right parts.
func joinRD[F alp.Float, U alp.Bits](dst []F, codes []uint16, right []U, p alp.RDParams, positions []uint32, lefts []uint16) error {
	if err := alp.ValidRD[F](p); err != nil {
		return err
	}
	return alp.DecodeRD(dst, codes, right, p, positions, lefts)
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
	e.Exceptions, lefts = alp.EncodeRD(codes, right, floats, params, e.Exceptions[:0], nil)
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
	Row:      trees.Row{Code: encoding.ALPRD, Types: word.Floats, Describe: describeALPRD},
	Codecs:   encode.Codecs{W32: alprdCodec[uint32](), W64: alprdCodec[uint64]()},
	Parts:    []encode.Part{{Type: encode.Always(word.U16)}, {Type: func(t word.Type) word.Type { return t.ToInteger().ToUnsigned() }}},
	Tier:     encode.TierMiddle,
	Levels:   1,
	Roles:    encode.InRoles(),
	PerValue: 1500,
	Estimate: func(_ *encode.Weights, s *encode.Stats, _ encode.Found) int {
		return 32 + trees.PackedSize(s.N, 8*s.T.Size()-16) + trees.PackedSize(s.N, 2)
	},
	Guess: encode.TierLight,
}

func describeALPRD(d *trees.Describer) {
	left, right := d.Uint(4, "size of left codes"), d.Uint(4, "size of right parts")
	x, r, k := d.Uint(2, "exceptions"), d.Uint(1, "bits of right parts"), d.Uint(1, "dictionary entries")
	d.Node.Params = fmt.Sprintf("R=%d,D=%d,x=%d", r, k, x)
	d.Pad()
	d.Bytes(2*k, "dictionary of left parts")
	d.Part("left codes", left, true, word.U16, d.N)
	d.Part("right parts", right, true, d.T.ToInteger().ToUnsigned(), d.N)
	describeExceptions(d, x, 2)
}
