package packing

import (
	"encoding/binary"
	"math/bits"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// PatchedPack, code 0x8005 (edition 2026), integers (T of size bytes, U the
// unsigned type of that size): FFOR with exceptions, so that a few outliers do
// not widen all (Zukowski, Heman, Nes and Boncz, "Super-Scalar RAM-CPU Cache
// Compression", ICDE 2006).
//
//	0    2  05 80
//	2    1  W: bits of a packed value, 1 to bits of T - 1
//	3    1  the positions are a tree (not 0) or raw (0)
//	4    1  the high parts are a tree, or raw
//	5    3  zeros
//	8    4  u32 number of exceptions X
//	12   4  u32 size of the positions in bytes
//	16      T base, then zeros up to 24
//	24      ceil(n/1024) chunks of 128*W bytes (package fastlanes): the low W bits of value - base
//	        positions, ascending: tree of X u32, or X u32
//	        zeros up to a multiple of 8
//	        high parts: tree of X I, or X little-endian I; to the end
//
// I is the signed type as wide as T: an exception may lie on either side of the
// base. value = base + low, at an exception base + low + (high << W), all modulo
// 2^bits. Without exceptions nothing follows the chunks. Example, the header for
// uint16 with base 10, W=2 and one exception, both parts raw:
//
//	05 80 | 02 | 00 | 00 | 00 00 00 | 01 00 00 00 | 04 00 00 00 | 0a 00 00 00 00 00 00 00
type patched struct {
	w                int
	base             uint64
	chunks           []byte
	positions, highs trees.Part
}

const patchedHeader = 22 // bytes behind the code

func layoutOfPatched(r *trees.Reader) (p patched) {
	p.w = int(r.Uint(1, "bits"))
	positionsNested, highsNested := r.Flag("positions are a tree:"), r.Flag("high parts are a tree:")
	r.Pad()
	x := r.Count("exceptions")
	size := r.Uint(4, "size of positions")
	p.base = r.Value("base")
	r.Pad()
	r.Params("%d,x=%d", uint64(p.w), uint64(x))
	if p.w < 1 || p.w >= 8*r.T.Size() {
		r.Fail(fault.Corruptf("width of %d bits in patched values of %d", p.w, 8*r.T.Size()))
	}
	p.chunks = r.Bytes(uint64(trees.PackedSize(r.N, p.w)), "chunks")
	if x == 0 {
		r.End()
		return p
	}
	p.positions = r.Part("positions", size, positionsNested, word.U32, x)
	r.Pad()
	p.highs = r.Last("high parts", highsNested, r.T.ToSigned(), x)
	return p
}

func viewPatched[U word.Uint](v *trees.View[U], _ []U, r *trees.Reader, places []uint32, s *trees.Scratch) (err error) {
	p := layoutOfPatched(r)
	if r.Err != nil {
		return r.Err
	}
	if err = v.SetPacked(U(p.base), p.w, p.chunks, r.N); err != nil || p.positions.N == 0 {
		return err
	}
	v.Chunks.Positions, v.Chunks.Highs, err = exceptionsOf[U](&p, r.N, places, s)
	return err
}

// exceptionsOf reads the exceptions among n values: where they are, and what they add. If places are given, which ascend, it leaves
// out others.
func exceptionsOf[U word.Uint](p *patched, n int, places []uint32, s *trees.Scratch) (positions []uint32, highs []U, err error) {
	positions = word.Take[uint32](&s.Mem, p.positions.N)
	if err := trees.DecodePart(positions, &p.positions, s); err != nil {
		return nil, nil, err
	}
	if err := checkAscending(positions, n); err != nil {
		return nil, nil, err
	}
	if places == nil {
		highs = word.Take[U](&s.Mem, p.highs.N)
		err = trees.DecodePart(highs, &p.highs, s)
	} else {
		var found []uint32
		if positions, found = common(positions, places, s); len(found) == 0 {
			return nil, nil, nil
		}
		highs = word.Take[U](&s.Mem, len(found))
		err = trees.DecodePartPlaces(highs, found, &p.highs, s)
	}
	for i := range highs {
		highs[i] <<= p.w
	}
	return positions, highs, err
}

// checkAscending requires that each position is higher than the one before, and the last less than n.
func checkAscending(positions []uint32, n int) error {
	last, gaps := int64(-1), int64(0)
	for _, at := range positions {
		gaps |= int64(at) - last - 1
		last = int64(at)
	}
	if gaps >= 0 && last < int64(n) {
		return nil
	}
	last = -1
	for _, at := range positions {
		if int64(at) <= last || int64(at) >= int64(n) {
			break
		}
		last = int64(at)
	}
	return fault.Corruptf("positions of exceptions do not ascend behind %d, below %d", last, n)
}

// common returns the positions that are among the places, and their numbers. Both ascend. Most of either are not among the
// others: a bit for each place tells so without a search.
func common(positions, places []uint32, s *trees.Scratch) (found, numbers []uint32) {
	if len(places) == 0 {
		return nil, nil
	}
	first := places[0] / 64
	wanted := word.Take[uint64](&s.Mem, int(places[len(places)-1]/64-first)+1)
	clear(wanted)
	for _, p := range places {
		wanted[p/64-first] |= 1 << (p % 64)
	}
	most := min(len(positions), len(places))
	found, numbers = word.Take[uint32](&s.Mem, most)[:0], word.Take[uint32](&s.Mem, most)[:0]
	for i, p := range positions {
		if at := p/64 - first; uint(at) < uint(len(wanted)) && wanted[at]>>(p%64)&1 != 0 {
			found, numbers = append(found, p), append(numbers, uint32(i))
		}
	}
	return found, numbers
}

// appendPatched packs to p.Width bits from p.Reference on, or to those that take
// least if p.Width is 0.
func appendPatched[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	n := len(in.Values)
	base, w := U(p.Reference), p.Width
	if w == 0 {
		f := findPatches(e, in)
		base, w = U(f.Reference), f.Width
	}
	if w == 0 || w >= word.BitsOf[U]() {
		return appendFFOR(e, dst, in, encode.Plan{})
	}
	mark := e.Mem.Mark()
	defer e.Mem.Release(mark)
	positions := word.Take[uint32](&e.Mem, n)
	highs := word.Take[U](&e.Mem, n)
	count := 0
	for i, v := range in.Values {
		high := U(word.SignedOf(v-base) >> w)
		positions[count], highs[count] = uint32(i), high
		if high != 0 {
			count++
		}
	}
	e.Decode += encode.PerRun * int64(count)
	start := len(dst)
	dst = trees.AppendHeader(dst, encoding.PatchedPack, patchedHeader)
	dst = appendChunks(e, dst, in.Values, base, w)
	size := 0
	var flags [2]byte
	if count > 0 {
		at := len(dst)
		dst, flags[0] = encode.AppendPart(e, dst, encode.ChildOf[U, uint32](e, in, positions[:count], encoding.PatchedPack, 0), p.Kids[0])
		size = len(dst) - at
		dst = trees.Pad(dst, start)
		dst, flags[1] = encode.AppendPart(e, dst, in.Child(e, highs[:count], encoding.PatchedPack, 1), p.Kids[1])
	}
	header := dst[start+2:]
	header[0], header[1], header[2] = byte(w), flags[0], flags[1]
	binary.LittleEndian.PutUint32(header[6:], uint32(count))
	binary.LittleEndian.PutUint32(header[10:], uint32(size))
	word.StoreOne(header[14:14], base)
	return dst
}

// findPatches finds how to pack values, going by a sample: those from Reference on in Width bits, 0 if that does not pay,
// and Count of 1024 values are exceptions then.
func findPatches[U word.Uint](e *encode.Workspace, in encode.Input[U]) (f encode.Found) {
	flip := in.Flip()
	mark := e.Mem.Mark()
	defer e.Mem.Release(mark)
	sample := word.Take[U](&e.Mem, encode.SampleLen)[:0]
	for i := range in.Windows() {
		sample = append(sample, in.Window(i)...)
	}
	n := len(sample)
	low, high := word.Span(in.Values, flip)
	full := bits.Len64(uint64(high - low))
	for i, v := range sample {
		sample[i] = v ^ flip - low
	}
	word.SortBits(&e.Mem, sample, full)
	best := n * full
	for bit := min(full-1, max(bits.Len64(uint64(sample[n-1]-sample[0])), 1)); bit >= 1; bit-- { // more bits hold no more of the sample
		first, covered := densest(sample, U(1)<<bit-1)
		cost := n*bit + (n-covered)*patchedBits
		if cost < best {
			best = cost
			base := (low + lowered(sample[first:first+covered], U(1)<<bit-1)) ^ flip
			f = encode.Found{Reference: uint64(base), Width: bit, Count: (n - covered) * 1024 / n}
		}
		if covered < n/2 {
			break
		}
	}
	return f
}

// lowered is where a range as wide as reach, which holds sorted values, best
// begins: at 0 if that is near enough, else with equal room on both sides.
func lowered[U word.Uint](sorted []U, reach U) U {
	first := sorted[0]
	room := reach - (sorted[len(sorted)-1] - first)
	if first <= room {
		return 0
	}
	return first - room/2
}

// minPatched is the number of values below which packing, in chunks of 1024, does
// not pay.
const minPatched = 512

// patchedBits is about what an exception takes: position and high part.
const patchedBits = 18

// densest finds where in sorted values a range as wide as reach holds most.
func densest[U word.Uint](sorted []U, reach U) (first, covered int) {
	j := 0
	for i, v := range sorted {
		for j < len(sorted) && sorted[j]-v <= reach {
			j++
		}
		if j-i > covered {
			first, covered = i, j-i
		}
	}
	return first, covered
}

func patchedPackCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{
		Decoder: trees.Decoder[U]{View: viewPatched[U]},
		Append:  appendPatched[U],
		Look:    lookForPatches[U],
	}
}

// PatchedPack, code 0x8005.
var PatchedPack = encode.Row{
	Row:      trees.Row{Code: encoding.PatchedPack, Types: word.Ints, Layout: func(r *trees.Reader) { layoutOfPatched(r) }},
	Codecs:   encode.Codecs{W8: patchedPackCodec[uint8](), W16: patchedPackCodec[uint16](), W32: patchedPackCodec[uint32](), W64: patchedPackCodec[uint64]()},
	Needs:    edition.Only(edition.PatchedPack),
	Parts:    []encode.Part{{Type: encode.Always(word.U32)}, {Type: word.Type.ToSigned}},
	Tier:     encode.TierLight,
	Levels:   2,
	Fewer:    2,
	Roles:    encode.InRoles(encode.AsCodes),
	Once:     true,
	PerValue: 70,
	PerByte:  30,
	Estimate: estimatePatched,
	Guess:    encode.TierLight,
	Nests:    true,
	Plan: func(_ *encode.Stats, f encode.Found, _ int) encode.Plan {
		return encode.Plan{Reference: f.Reference, Width: f.Width}
	},
}

// estimatePatched goes by what lookForPatches found: base, bits of a value, exceptions among 1024 values.
func estimatePatched(w *encode.Weights, s *encode.Stats, f encode.Found) int {
	if f.Width == 0 {
		return 0
	}
	count := max(s.N*f.Count/1024, 1)
	gap := min(bits.Len(uint(s.N/count))+2, bits.Len(uint(s.N)))
	return trees.HeaderLen(patchedHeader) + trees.PackedSize(s.N, f.Width) + w.PartSize(word.U32, count, gap) +
		w.PartSize(s.T.ToSigned(), count, s.Width-f.Width)
}

func lookForPatches[U word.Uint](e *encode.Workspace, in encode.Input[U], s *encode.Stats) encode.Found {
	if s.Width <= 1 || s.N < minPatched {
		return encode.Found{}
	}
	return findPatches(e, in)
}
