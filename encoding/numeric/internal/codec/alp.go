package codec

import (
	"encoding/binary"
	"fmt"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/alp"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// ALP, code 12, floats (package alp; I is int32 for float32, int64 for float64):
//
//	0  2  0c 00
//	2  4  u32 size of the integers in bytes
//	6  2  u16 number of exceptions X
//	8  1  exponent e
//	9  1  factor f
//	10 6  zeros
//	16    integers: tree of n I; value = integer * 10^f * 10^-e
//	      X u32 positions, ascending, then X little-endian values that replace those; to the end
//
// There are no zeros between the parts. Example, float64 1.5, 2.5, NaN with e=1,
// f=0 and the integers 15, 25, 15 as Plain:
//
//	0c 00 | 1a 00 00 00 | 01 00 | 01 | 00 | 6 zeros | 01 00 | 24 bytes | 02 00 00 00 | 00 00 00 00 00 00 f8 7f
type alpTree struct {
	params            alp.Params
	integers          trees.Part
	positions, values []byte
}

func layoutOfALP(r *trees.Reader) (a alpTree) {
	size, x, e, f := r.Uint(4, "size of integers"), r.Uint(2, "exceptions"), r.Uint(1, "e"), r.Uint(1, "f")
	r.Params("e=%d,f=%d,x=%d", e, f, x)
	r.Pad()
	a.params = alp.Params{E: uint8(e), F: uint8(f)}
	a.integers = r.Part("integers", size, true, r.T.ToInteger(), r.N)
	a.positions, a.values = layoutOfExceptions(r, x, r.T.Size())
	return a
}

// layoutOfExceptions is that of the exceptions at the end of a tree, whose values have some bytes each.
func layoutOfExceptions(r *trees.Reader, count uint64, size int) (positions, values []byte) {
	positions = r.Bytes(4*count, "positions of exceptions")
	values = r.Bytes(uint64(size)*count, "values of exceptions")
	r.End()
	return positions, values
}

func decodeALP[U word.Uint](dst []U, r *trees.Reader, s *trees.Scratch) (err error) {
	a := layoutOfALP(r)
	switch {
	case r.Err != nil:
		return r.Err
	case r.T == word.F32:
		err = decodeALPInts[U, float32, int32](dst, a, s)
	default:
		err = decodeALPInts[U, float64, int64](dst, a, s)
	}
	if err != nil {
		return err
	}
	return patch(dst, a.positions, a.values)
}

// decodeALPInts decodes the integers into the memory of the floats, and turns
// them into floats there.
func decodeALPInts[U word.Uint, F alp.Float, I alp.Int](dst []U, a alpTree, s *trees.Scratch) error {
	if err := alp.Valid[F](a.params); err != nil {
		return err
	}
	return trees.EachChunk(dst, &a.integers, s, func(some []U) {
		alp.Decode(word.As[F](some), word.As[I](some), a.params)
	})
}

// patch replaces the values at ascending positions.
func patch[U word.Uint](dst []U, positions, values []byte) error {
	last := int64(-1)
	for len(positions) >= 4 && len(values) >= word.SizeOf[U]() {
		p := binary.LittleEndian.Uint32(positions)
		if int64(p) <= last || uint64(p) >= uint64(len(dst)) {
			return fault.Corruptf("exception at %d after %d of %d", p, last, len(dst))
		}
		last = int64(p)
		dst[p] = word.LoadOne[U](values)
		positions, values = positions[4:], values[word.SizeOf[U]():]
	}
	return nil
}

// maxExceptions is how many exceptions the header can count.
const maxExceptions = 1<<16 - 1

func appendALP[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	if in.T == word.F32 {
		return appendALPInts[U, float32, int32](e, dst, in, p)
	}
	return appendALPInts[U, float64, int64](e, dst, in, p)
}

// chooseALP chooses among the parameters that suited parts of an earlier block,
// and looks for others if none of them does.
func chooseALP[F alp.Float, I alp.Int](values []F, h *encode.Hint) (p alp.Params, ok bool) {
	if h == nil {
		return alp.Search[F, I](values)
	}
	if !h.Fresh() && len(h.ALP) > 0 {
		if p, ok := alp.Choose[F, I](values, h.ALP); ok {
			return p, true
		}
	}
	h.ALP = alp.Candidates[F, I](h.ALP[:0], values)
	return alp.Choose[F, I](values, h.ALP)
}

func appendALPInts[U word.Uint, F alp.Float, I alp.Int](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	floats := word.As[F](in.Values)
	params, ok := p.ALP, p.ALPSet
	if !ok || alp.Valid[F](params) != nil {
		params, ok = chooseALP[F, I](floats, in.Hint)
	}
	if !ok || len(floats) == 0 {
		return encode.AppendPlain(dst, in.Values)
	}
	mark := e.Mem.Mark()
	ints := word.Take[U](&e.Mem, len(floats))
	e.Exceptions = alp.Encode(word.As[I](ints), floats, params, e.Exceptions[:0])
	exceptions := e.Exceptions
	if len(exceptions) > maxExceptions {
		e.Mem.Release(mark)
		return encode.AppendPlain(dst, in.Values)
	}
	start := len(dst)
	dst = trees.AppendHeader(dst, encoding.ALP, 8)
	kept := word.Take[uint32](&e.Mem, len(exceptions)) // the child may hold another ALP
	copy(kept, exceptions)
	dst = encode.Append(e, dst, in.Child(e, ints, encoding.ALP, 0), p.Kids[0])
	header := dst[start+2:]
	binary.LittleEndian.PutUint32(header, uint32(len(dst)-start-16))
	binary.LittleEndian.PutUint16(header[4:], uint16(len(kept)))
	header[6], header[7] = params.E, params.F
	dst = word.Store(dst, kept)
	for _, at := range kept {
		dst = word.StoreOne(dst, in.Values[at])
	}
	e.Mem.Release(mark)
	return dst
}

// estimateALP guesses a quarter, and less if values repeat those a lag before.
func estimateALP(_ *encode.Weights, s *encode.Stats, f encode.Found) int {
	size := s.N * s.T.Size() / 4
	if f.Count > 0 {
		size = min(size, int(f.Reference/32))
	}
	return 32 + size
}

func alpCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{Decoder: trees.Decoder[U]{Decode: decodeALP[U]}, Append: appendALP[U], Look: lookForLag[U]}
}

var alpFloats = encode.Row{
	Row:      trees.Row{Code: encoding.ALP, Types: word.Floats, Layout: func(r *trees.Reader) { layoutOfALP(r) }},
	Codecs:   encode.Codecs{W32: alpCodec[uint32](), W64: alpCodec[uint64]()},
	Parts:    []encode.Part{{Type: word.Type.ToInteger}},
	Tier:     encode.TierMiddle,
	Levels:   1,
	Roles:    encode.InRoles(),
	PerValue: 350,
	Estimate: estimateALP,
	Guess:    encode.TierLight,
	Nests:    true,
	Params: func(p *encode.Plan, text string) error {
		if _, err := fmt.Sscanf(text, "e=%d,f=%d", &p.ALP.E, &p.ALP.F); err != nil {
			return fmt.Errorf("parameters of ALP: %w", err)
		}
		p.ALPSet = true
		return alp.Valid[float64](p.ALP)
	},
}
