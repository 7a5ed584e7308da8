package codec

import (
	"math/bits"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// Delta, code 5, integers (T of size bytes):
//
//	05 00 | T first value | zeros up to 8, or 16 if size is 8 | tree of n-1 T: next - value, wrapping
//
// Example, int64 100 to 109, the differences as SingleValue:
//
//	05 00 | 64 00 00 00 00 00 00 00 | 6 zeros | 07 00 01 00 00 00 00 00 00 00
func layoutOfDelta(r *trees.Reader) (first uint64, differences trees.Part) {
	first = r.Value("first value")
	r.Pad()
	return first, r.Last("differences", true, r.T, max(r.N-1, 0))
}

func decodeDelta[U word.Uint](dst []U, r *trees.Reader, s *trees.Scratch) error {
	first, differences := layoutOfDelta(r)
	switch {
	case r.Err != nil:
		return r.Err
	case len(dst) == 0:
		return fault.Corruptf("differences without a first value")
	}
	sum := U(first)
	dst[0] = sum
	return trees.EachChunk(dst[1:], &differences, s, func(some []U) { sum = prefixSum(some, sum) })
}

// deltaAscends reports whether the differences are packed, and too small to wrap.
func deltaAscends(r *trees.Reader, s *trees.Scratch) bool {
	first, d := layoutOfDelta(r)
	if r.Err != nil || first > 1<<62 {
		return false
	}
	p, ok, err := trees.ParsePacked[uint64](d.Bytes, d.T, d.N, s)
	return ok && err == nil && p.W <= 30 && p.Base <= 1<<30 && int64(r.N) <= 1<<31
}

// prefixSum turns differences into values, in place, and returns the last. It handles 8 at a time, as extendZero does.
func prefixSum[U word.Uint](dst []U, sum U) U {
	for len(dst) >= 8 {
		d := (*[8]U)(dst)
		sum += d[0]
		d[0] = sum
		sum += d[1]
		d[1] = sum
		sum += d[2]
		d[2] = sum
		sum += d[3]
		d[3] = sum
		sum += d[4]
		d[4] = sum
		sum += d[5]
		d[5] = sum
		sum += d[6]
		d[6] = sum
		sum += d[7]
		d[7] = sum
		dst = dst[8:]
	}
	for i, d := range dst {
		sum += d
		dst[i] = sum
	}
	return sum
}

func appendDelta[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	if len(in.Values) < 2 {
		return encode.AppendPlain(dst, in.Values)
	}
	mark := e.Mem.Mark()
	diffs := word.Take[U](&e.Mem, len(in.Values)-1)
	last := in.Values[0]
	for i, v := range in.Values[1:] {
		diffs[i] = v - last
		last = v
	}
	start := len(dst)
	dst = trees.Pad(word.StoreOne(trees.AppendCode(dst, encoding.Delta), in.Values[0]), start)
	child := in.Child(e, diffs, encoding.Delta, 0)
	child.Wrap = true
	dst = encode.Append(e, dst, child, p.Kids[0])
	e.Mem.Release(mark)
	return dst
}

func deltaCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{Decoder: trees.Decoder[U]{Decode: decodeDelta[U]}, Append: appendDelta[U]}
}

var delta = encode.Row{
	Row:      trees.Row{Code: encoding.Delta, Types: word.Ints, Layout: func(r *trees.Reader) { layoutOfDelta(r) }, Ascends: deltaAscends},
	Codecs:   encode.Codecs{W8: deltaCodec[uint8](), W16: deltaCodec[uint16](), W32: deltaCodec[uint32](), W64: deltaCodec[uint64]()},
	Parts:    []encode.Part{{Type: encode.SameType}},
	Tier:     encode.TierMiddle,
	Levels:   2,
	Roles:    encode.InRoles(),
	Later:    encode.OnlyRoles(encode.AsCodes), // which are in the order of the values
	PerValue: 270,
	Estimate: estimateDelta,
	Guess:    encode.TierHeavy,
	Nests:    true,
}

func estimateDelta(w *encode.Weights, s *encode.Stats, _ encode.Found) int {
	if s.N < 8 || s.Diff == 0 && s.Single {
		return 0
	}
	header := trees.HeaderLen(s.T.Size())
	size := header + w.PartSize(s.T, s.N-1, s.Diff)
	if s.Diff == 0 { // a SingleValue
		size = header + 2 + s.T.Size()
	}
	if s.Bends > 0 { // runs of differences
		runs := w.PartSize(s.T, s.Bends, s.Diff) + w.PartSize(word.U32, s.Bends, bits.Len(uint(s.N/s.Bends))+1)
		size = min(size, 32+runs)
	}
	if s.Usual > 0 && s.Jumps < s.N/4 && w.Features.Has(edition.PatchedPack) {
		gap := bits.Len(uint(s.N/max(s.Jumps, 1))) + 2
		jumps := w.PartSize(word.U32, s.Jumps, gap) + w.PartSize(s.T, s.Jumps, s.Diff)
		size = min(size, header+trees.PackedSize(s.N, s.Usual)+jumps)
	}
	if size >= w.DirectSize(s) && (w.Tier < encode.TierHeavy || s.Diff > s.Width || s.Rough) {
		return 0
	}
	return size
}
