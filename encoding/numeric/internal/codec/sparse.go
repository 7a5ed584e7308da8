package codec

import (
	"encoding/binary"
	"math/bits"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Sparse, code 19, all types: only the slots that hold a value.
//
//	0  2  13 00
//	2  4  u32 number of values C
//	6  4  u32 size of the positions in bytes
//	10 1  the positions are a tree (not 0) or raw (0)
//	11 1  the values are a tree, or raw
//	12 4  zeros
//	16    positions, ascending: tree of C u32, or C u32
//	      zeros up to a multiple of 8
//	      values: tree of C T, or C little-endian T; to the end
//
// All other slots read as zero. (RunLength has size before count.) Example,
// int64 42 at position 7, all raw:
//
//	13 00 | 01 00 00 00 | 04 00 00 00 | 00 | 00 | 4 zeros | 07 00 00 00 | 4 zeros | 2a 00 00 00 00 00 00 00
func layoutOfSparse(r *trees.Reader) (positions, values trees.Part) {
	count, size := r.Count("values"), r.Uint(4, "size of positions")
	positionsNested, valuesNested := r.Flag("positions are a tree:"), r.Flag("values are a tree:")
	r.Pad()
	positions = r.Part("positions", size, positionsNested && count > 0, word.U32, count)
	r.Pad()
	return positions, r.Last("values", valuesNested && count > 0, r.T, count)
}

func decodeSparse[U word.Uint](dst []U, r *trees.Reader, s *trees.Scratch) error {
	where, what := layoutOfSparse(r)
	if r.Err != nil {
		return r.Err
	}
	clear(dst)
	if where.N == 0 { // nothing follows, whatever the flags say
		return nil
	}
	positions, values := word.Take[uint32](&s.Mem, where.N), word.Take[U](&s.Mem, where.N)
	if err := trees.DecodePart(positions, &where, s); err != nil {
		return err
	}
	if err := trees.DecodePart(values, &what, s); err != nil {
		return err
	}
	return scatter(dst, positions, values)
}

// scatter puts values at ascending positions.
func scatter[U word.Uint](dst []U, positions []uint32, values []U) error {
	last := int64(-1)
	values = values[:len(positions)]
	for i, p := range positions {
		if int64(p) <= last || uint64(p) >= uint64(len(dst)) {
			return fault.Corruptf("position %d after %d of %d", p, last, len(dst))
		}
		last = int64(p)
		dst[p] = values[i]
	}
	return nil
}

// appendSparse writes the slots that hold a value and, if it is not zero or a
// null made it one, no other: in.Values is zero at nulls only if it happens to be.
func appendSparse[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	mark := e.Mem.Mark()
	positions := word.Take[uint32](&e.Mem, len(in.Values))
	values := word.Take[U](&e.Mem, len(in.Values))
	count := 0
	for i := 0; i < len(in.Values); i += 64 {
		w := in.ValidWord(i)
		for ; w != 0; w &= w - 1 {
			at := i + bits.TrailingZeros64(w)
			v := in.Values[at]
			positions[count], values[count] = uint32(at), v
			if v != 0 {
				count++
			}
		}
	}
	start := len(dst)
	dst = trees.AppendHeader(dst, encoding.Sparse, 10)
	var flags [2]byte
	size := 0
	if count > 0 {
		dst, flags[0] = encode.AppendPart(e, dst, encode.ChildOf[U, uint32](e, in, positions[:count], encoding.Sparse, 0), p.Kids[0])
		size = len(dst) - start - 16
		dst = trees.Pad(dst, start)
		dst, flags[1] = encode.AppendPart(e, dst, in.Some(e, values[:count], encoding.Sparse, 1), p.Kids[1])
	}
	header := dst[start+2:]
	binary.LittleEndian.PutUint32(header, uint32(count))
	binary.LittleEndian.PutUint32(header[4:], uint32(size))
	header[8], header[9] = flags[0], flags[1]
	e.Mem.Release(mark)
	return dst
}

func sparseCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{Decoder: trees.Decoder[U]{Decode: decodeSparse[U]}, Append: appendSparse[U]}
}

var sparse = encode.Row{
	Row:      trees.Row{Code: encoding.Sparse, Types: word.All, Layout: func(r *trees.Reader) { layoutOfSparse(r) }},
	Codecs:   encode.Codecs{W8: sparseCodec[uint8](), W16: sparseCodec[uint16](), W32: sparseCodec[uint32](), W64: sparseCodec[uint64]()},
	Parts:    []encode.Part{{Type: encode.Always(word.U32)}, {Type: encode.SameType}},
	Tier:     encode.TierMiddle,
	Levels:   1,
	Roles:    encode.OnlyRoles(encode.AsValues),
	Once:     true,
	PerValue: 20,
	PerByte:  10,
	Estimate: estimateSparse,
	Nests:    true,
}

func estimateSparse(w *encode.Weights, s *encode.Stats, _ encode.Found) int {
	switch {
	case 4*s.Nulls >= 3*s.N:
		return sparseSize(w, s, s.N-s.Nulls)
	case s.Top == 0 && 4*s.Others <= s.N:
		return sparseSize(w, s, s.Others)
	}
	return 0
}

// sparseSize is about what Sparse takes with count values.
func sparseSize(w *encode.Weights, s *encode.Stats, count int) int {
	gap := min(bits.Len(uint(s.N/max(count, 1)))+2, bits.Len(uint(s.N)))
	return 16 + w.PartSize(word.U32, count, gap) + w.PartSize(s.T, count, s.Width)
}
