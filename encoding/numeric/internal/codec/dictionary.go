package codec

import (
	"cmp"
	"encoding/binary"
	"math/bits"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
)

// BlockDictionary, code 14, all types:
//
//	0  2  0e 00
//	2  4  u32 size of the codes in bytes
//	6  4  u32 number of dictionary values D
//	10 1  the dictionary values are a tree (not 0) or raw (0)
//	11 5  zeros
//	16    codes: tree of n u32
//	      dictionary values, without zeros before them: tree of D T, or D little-endian T
//
// Code 0 stands for null and reads as zero, code k for dictionary value k-1.
// Example, int16 7, 9, 7, codes as Plain:
//
//	0e 00 | 0e 00 00 00 | 02 00 00 00 | 00 | 5 zeros | 01 00 01 00 00 00 02 00 00 00 01 00 00 00 | 07 00 09 00
func layoutOfDictionary(r *trees.Reader) (codes, values trees.Part) {
	size, count := r.Uint(4, "size of codes"), r.Count("dictionary values")
	nested := r.Flag("dictionary values are a tree:")
	r.Pad()
	codes = r.Part("codes", size, true, word.U32, r.N)
	return codes, r.Last("dictionary", nested, r.T, count)
}

func viewDictionary[U word.Uint](v *trees.View[U], _ []U, r *trees.Reader, places []uint32, s *trees.Scratch) (err error) {
	codes, values := layoutOfDictionary(r)
	if r.Err != nil {
		return r.Err
	}
	v.Form, v.Values = trees.Coded, word.Take[U](&s.Mem, values.N+1) // from what code 0 stands for on
	v.Values[0] = 0
	if err := trees.DecodePart(v.Values[1:], &values, s); err != nil {
		return err
	}
	v.Codes, err = trees.ReadCodes(codes, places, s)
	return err
}

// appendDictionary writes the distinct values in ascending order, and the codes
// of the slots. It falls back to Plain if more than p.Limit values are distinct.
func appendDictionary[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	n := len(in.Values)
	limit := cmp.Or(p.Limit, n)
	mark := e.Mem.Mark()
	defer e.Mem.Release(mark)
	codes := word.Take[uint32](&e.Mem, n)
	distinct := word.Take[U](&e.Mem, limit+1)
	count, ok := word.Number(&e.Hash, codes, distinct, in.Values, limit)
	if !ok {
		return encode.AppendPlain(dst, in.Values)
	}
	values := sortDistinct(e, codes, distinct[:count], in.Flip())

	start := len(dst)
	dst = trees.AppendHeader(dst, encoding.BlockDictionary, 9)
	dst = encode.Append(e, dst, encode.ChildOf[U, uint32](e, in, codes, encoding.BlockDictionary, 0), p.Kids[0])
	size := len(dst) - start - 16
	kid := p.Kids[1]
	if size%8 != 0 && e.Weights.Features == 0 { // the reference reads a tree only where it is aligned
		kid = &encode.Plan{}
	}
	dst, flag := encode.AppendPart(e, dst, in.Some(e, values, encoding.BlockDictionary, 1), kid)
	header := dst[start+2:]
	binary.LittleEndian.PutUint32(header, uint32(size))
	binary.LittleEndian.PutUint32(header[4:], uint32(len(values)))
	header[8] = flag
	return dst
}

// sortDistinct brings distinct values, as word.Number made them last, into ascending order, and turns their numbers in
// codes into dictionary codes: from 1.
func sortDistinct[U word.Uint](e *encode.Workspace, codes []uint32, distinct []U, flip U) []U {
	sorted := word.Take[U](&e.Mem, len(distinct))
	low, high := word.Span(distinct, flip)
	for i, v := range distinct {
		sorted[i] = v ^ flip - low
	}
	word.SortBits(&e.Mem, sorted, bits.Len64(uint64(high-low)))
	rank := word.Take[uint32](&e.Mem, len(distinct))
	for i, v := range sorted {
		v = (v + low) ^ flip
		sorted[i] = v
		rank[e.Hash.Index(uint64(v), 0)] = uint32(i + 1)
	}
	for i, c := range codes {
		codes[i] = rank[c]
	}
	return sorted
}

func dictionaryCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{
		Decoder: trees.Decoder[U]{View: viewDictionary[U]},
		Append:  appendDictionary[U],
		Look:    lookForDistinct[U],
	}
}

var dictionary = encode.Row{
	Row:      trees.Row{Code: encoding.BlockDictionary, Types: word.All, Layout: func(r *trees.Reader) { layoutOfDictionary(r) }},
	Codecs:   encode.Codecs{W8: dictionaryCodec[uint8](), W16: dictionaryCodec[uint16](), W32: dictionaryCodec[uint32](), W64: dictionaryCodec[uint64]()},
	Parts:    []encode.Part{{Role: encode.AsCodes, Type: encode.Always(word.U32)}, {Type: encode.SameType}},
	Tier:     encode.TierMiddle,
	Levels:   2,
	Fewer:    1,
	Roles:    encode.InRoles(),
	Once:     true,
	PerValue: 330,
	Estimate: estimateDictionary,
	Guess:    encode.TierLight,
	Nests:    true,
	Plan:     planDictionary,
}

func estimateDictionary(w *encode.Weights, s *encode.Stats, f encode.Found) int {
	if 2*f.Count > s.N {
		return 0
	}
	return 16 + 16 + trees.PackedSize(s.N, bits.Len(uint(f.Count-1))) + w.PartSize(s.T, f.Count, s.Width)
}

// planDictionary stops at dictionaries that take more than the best other encoding does.
func planDictionary(s *encode.Stats, _ encode.Found, size int) encode.Plan {
	p := encode.Plan{Limit: s.N / 2}
	if size > 0 {
		p.Limit = min(p.Limit, size)
	}
	return p
}

// spots is how many values are looked at for distinct ones.
const spots = 1024

// lookForDistinct estimates how many of the values are distinct, from spots spread over them: those that came twice say
// how many came not at all (Chao, "Nonparametric Estimation of the Number of Classes in a Population", 1984). It is the
// number of values if hardly any came twice.
func lookForDistinct[U word.Uint](e *encode.Workspace, in encode.Input[U], _ *encode.Stats) encode.Found {
	n := len(in.Values)
	step := (n + spots - 1) / spots
	h := &e.Hash
	h.Begin(spots)
	var seen [spots]uint8 // how often, at most 3
	distinct, once, twice := 0, 0, 0
	for i := 0; i < n; i += step {
		k := h.Index(uint64(in.Values[i]), uint32(distinct))
		switch seen[k] {
		case 0:
			distinct++
			once++
		case 1:
			once--
			twice++
		case 2:
			twice--
		}
		seen[k] = min(seen[k]+1, 3)
	}
	if step == 1 {
		return encode.Found{Count: distinct}
	}
	if 16*twice < once {
		return encode.Found{Count: n}
	}
	return encode.Found{Count: min(n, distinct+once*once/(2*max(twice, 1)))}
}
