package codec

import (
	"encoding/binary"
	"math/bits"
	"strconv"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// LagDelta, code 0x8010 (edition 2026), integers: differences from the value some positions before, the lag, as of series
// that take turns.
//
//	0  2  10 80
//	2  4  u32 lag L, from 1 to n
//	6  4  u32 size of the first values in bytes
//	10 6  zeros
//	16    tree of L T: the first values
//	      zeros up to a multiple of 8
//	      tree of n-L T: value - value L positions before, wrapping; to the end
func layoutOfLagDelta(r *trees.Reader) (first, differences trees.Part) {
	lag, size := r.Count("first values"), r.Uint(4, "size of the first values")
	if lag == 0 {
		r.Fail(fault.Corruptf("a lag of 0"))
	}
	r.Params("%d", uint64(lag))
	r.Pad()
	first = r.Part("first values", size, true, r.T, lag)
	r.Pad()
	return first, r.Last("differences", true, r.T, r.N-lag)
}

func decodeLagDelta[U word.Uint](dst []U, r *trees.Reader, s *trees.Scratch) error {
	first, differences := layoutOfLagDelta(r)
	if r.Err != nil {
		return r.Err
	}
	lag := first.N
	if err := trees.DecodePart(dst[:lag], &first, s); err != nil {
		return err
	}
	if err := trees.DecodePart(dst[lag:], &differences, s); err != nil {
		return err
	}
	for len(dst) > lag {
		before := dst[:min(lag, len(dst)-lag)]
		dst = dst[lag:]
		sums := dst[:len(before)]
		for i, v := range before {
			sums[i] += v
		}
	}
	return nil
}

func appendLagDelta[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	lag := int(p.Reference)
	if lag < 1 || lag >= len(in.Values) {
		return encode.AppendPlain(dst, in.Values)
	}
	mark := e.Mem.Mark()
	differences := word.Take[U](&e.Mem, len(in.Values)-lag)
	before := in.Values[:len(differences)]
	for i, v := range in.Values[lag:] {
		differences[i] = v - before[i]
	}
	start := len(dst)
	dst = trees.AppendHeader(dst, encoding.LagDelta, 8)
	binary.LittleEndian.PutUint32(dst[start+2:], uint32(lag))
	dst = encode.Append(e, dst, in.Child(e, in.Values[:lag], encoding.LagDelta, 0), p.Kids[0])
	binary.LittleEndian.PutUint32(dst[start+6:], uint32(len(dst)-start-trees.HeaderLen(8)))
	child := in.Child(e, differences, encoding.LagDelta, 1)
	child.Wrap = true
	dst = encode.Append(e, trees.Pad(dst, start), child, p.Kids[1])
	e.Mem.Release(mark)
	return dst
}

// lookForLag looks for the lag where a few values in the second half of a sequence differ least from those before, by half of the bits that the
// values or differences of neighbours have, or less, and about the bits of all differences, those of 0 none. Four values show that most lags are not worth
// a look at more. Where size alone counts, Zstandard finds what repeats.
func lookForLag[U word.Uint](e *encode.Workspace, in encode.Input[U], s *encode.Stats) (found encode.Found) {
	const first, anchors = 4, 32
	n := len(in.Values)
	width := min(s.Width, s.Diff)
	if s.Usual > 0 {
		width = min(width, s.Usual+(s.Diff+bits.Len(uint(n)))*s.Jumps/n)
	}
	if !e.Weights.Features.Has(edition.LagDelta) || e.Weights.Smallest() || width < 2 || n < 512 || 4*s.Runs < n {
		return found
	}
	step := (n - n/2) / anchors
	values := in.Values[n-1-step*anchors:]
	least := anchors * width / 2
	for lag := 2; lag <= n/4; lag++ {
		before := in.Values[n-1-step*anchors-lag:]
		size, some := 0, least*first/anchors
		for i := 0; i < first*step*(anchors/first) && size <= some; i += step * (anchors / first) {
			size += bitsBetween(values[i], before[i])
		}
		if size > some {
			continue
		}
		size = 0
		for i := 0; i < anchors*step && size < least; i += step {
			size += bitsBetween(values[i], before[i])
		}
		if size < least {
			found.Count, least = lag, size
		}
	}
	if found.Count == 0 {
		return found
	}
	size, others, before := 0, 0, in.Values[:n-found.Count]
	for i, v := range in.Values[found.Count:] {
		b := bitsBetween(v, before[i])
		size += b
		others += bitmap.Bit(b > 0)
	}
	size += others * (bits.Len(uint(n/max(others, 1))) + 1)
	if 3*size > min(n*width, s.Runs*(s.Width+bits.Len(uint(n/s.Runs)))) {
		return encode.Found{}
	}
	found.Reference = uint64(size)
	return found
}

// bitsBetween is the bits of the difference of two values.
func bitsBetween[U word.Uint](a, b U) int {
	d := word.SignedOf(a - b)
	return bits.Len64(uint64(d<<1 ^ d>>63))
}

func lagDeltaCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{Decoder: trees.Decoder[U]{Decode: decodeLagDelta[U]}, Append: appendLagDelta[U], Look: lookForLag[U]}
}

var lagDelta = encode.Row{
	Row:      trees.Row{Code: encoding.LagDelta, Types: word.Ints, Layout: func(r *trees.Reader) { layoutOfLagDelta(r) }},
	Codecs:   encode.Codecs{W8: lagDeltaCodec[uint8](), W16: lagDeltaCodec[uint16](), W32: lagDeltaCodec[uint32](), W64: lagDeltaCodec[uint64]()},
	Needs:    edition.Only(edition.LagDelta),
	Parts:    []encode.Part{{Type: encode.SameType}, {Type: encode.SameType, Free: true}},
	Tier:     encode.TierMiddle,
	Levels:   1,
	Roles:    encode.OnlyRoles(encode.AsValues, encode.AsCodes),
	Once:     true,
	PerValue: 200,
	PerByte:  50,
	Estimate: estimateLagDelta,
	Guess:    encode.TierLight, // it does not nest: the bits of its parts are counted
	Plan: func(_ *encode.Stats, f encode.Found, _ int) encode.Plan {
		return encode.Plan{Reference: uint64(f.Count)}
	},
	Params: func(p *encode.Plan, text string) (err error) {
		p.Reference, err = strconv.ParseUint(text, 10, 32)
		return err
	},
}

func estimateLagDelta(w *encode.Weights, s *encode.Stats, f encode.Found) int {
	if f.Count == 0 {
		return 0
	}
	return trees.HeaderLen(8) + w.PartSize(s.T, f.Count, s.Width) + int(f.Reference/8)
}
