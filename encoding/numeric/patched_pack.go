package numeric

import (
	"encoding/binary"
	"math/bits"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/fault"
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
type patched[U word] struct {
	packed[U]
	count                      int
	positions, highs           []byte
	positionsNested, highsNest bool
}

const patchedHeader = 22 // bytes behind the code

func parsePatched[U word](tree []byte, n int) (p patched[U], err error) {
	header, payload, err := split(tree, patchedHeader)
	if err != nil {
		return p, err
	}
	w := int(header[0])
	p.positionsNested, p.highsNest = header[1] != 0, header[2] != 0
	count, size := binary.LittleEndian.Uint32(header[6:]), binary.LittleEndian.Uint32(header[10:])
	if w < 1 || w >= bitsOf[U]() {
		return p, fault.Corruptf("width of %d bits in patched values of %d", w, bitsOf[U]())
	}
	if uint64(count) > uint64(n) {
		return p, fault.Corruptf("%d exceptions in %d values", count, n)
	}
	p.count = int(count)
	chunks := packedSize(n, w)
	if chunks > len(payload) || p.count == 0 && chunks != len(payload) {
		return p, fault.Corruptf("%d bytes for chunks of %d", len(payload), chunks)
	}
	p.packed, err = newPacked(loadOne[U](header[14:]), w, payload[:chunks], n)
	if err != nil || p.count == 0 {
		return p, err
	}
	p.positions, p.highs, err = cutPadded(payload[chunks:], size)
	return p, err
}

func decodePatched[U word](dst []U, tree []byte, t Type, s *Scratch) error {
	p, err := parsePatched[U](tree, len(dst))
	if err != nil {
		return err
	}
	positions, highs, err := p.exceptions(t, len(dst), s)
	if err != nil {
		return err
	}
	p.unpack(dst, s)
	for i, at := range positions {
		dst[at] += highs[i]
	}
	return nil
}

// exceptions reads the exceptions among n values: where they are, and what they add.
func (p *patched[U]) exceptions(t Type, n int, s *Scratch) (positions []uint32, highs []U, err error) {
	if p.count == 0 {
		return nil, nil, nil
	}
	positions, highs = take[uint32](s, p.count), take[U](s, p.count)
	if err := decodePart(positions, p.positions, p.positionsNested, U32, s); err != nil {
		return nil, nil, err
	}
	if err := decodePart(highs, p.highs, p.highsNest, t.signed(), s); err != nil {
		return nil, nil, err
	}
	last := int64(-1)
	for i, at := range positions {
		if int64(at) <= last || uint64(at) >= uint64(n) {
			return nil, nil, fault.Corruptf("exception at %d after %d of %d", at, last, n)
		}
		last = int64(at)
		highs[i] <<= p.w
	}
	return positions, highs, nil
}

// appendPatched packs to p.width bits from p.reference on, or to those that take
// least if p.width is 0.
func appendPatched[U word](e *enc, dst []byte, in input[U], p *plan) []byte {
	n := len(in.values)
	base, w := U(p.reference), p.width
	if w == 0 {
		found := patchedPlan(e, in)
		base, w = U(found.base), found.width
	}
	if w == 0 || w >= bitsOf[U]() {
		return appendFFOR(e, dst, in, &plan{})
	}
	mark := e.scratch.mark()
	defer e.scratch.release(mark)
	positions := take[uint32](&e.scratch, n)
	highs := take[U](&e.scratch, n)
	count := 0
	for i, v := range in.values {
		high := U(signed(v-base) >> w)
		positions[count], highs[count] = uint32(i), high
		if high != 0 {
			count++
		}
	}
	e.decode += perRun * int64(count)
	start := len(dst)
	dst = appendHeader(dst, encoding.PatchedPack, patchedHeader)
	dst = appendChunks(e, dst, in.values, base, w)
	size := 0
	var flags [2]byte
	if count > 0 {
		at := len(dst)
		dst, flags[0] = appendPart(e, dst, childOf[U, uint32](in, positions[:count], U32, encoding.PatchedPack, 0), p.kids[0])
		size = len(dst) - at
		dst = padTree(dst, start)
		dst, flags[1] = appendPart(e, dst, in.child(highs[:count], in.t.signed(), encoding.PatchedPack, 1), p.kids[1])
	}
	header := dst[start+2:]
	header[0], header[1], header[2] = byte(w), flags[0], flags[1]
	binary.LittleEndian.PutUint32(header[6:], uint32(count))
	binary.LittleEndian.PutUint32(header[10:], uint32(size))
	storeOne(header[14:14], base)
	return dst
}

// patchPlan is how to pack values: those from base on in width bits, 0 if that
// does not pay, and how many of 1024 values are exceptions then.
type patchPlan struct {
	base              uint64
	width, exceptions int
}

// patchedPlan finds the base and the width that take the fewest bits, going by a
// sample.
func patchedPlan[U word](e *enc, in input[U]) (p patchPlan) {
	flip := in.flip()
	mark := e.scratch.mark()
	defer e.scratch.release(mark)
	sample := take[U](&e.scratch, smallLen)[:0]
	for i := range in.pieces() {
		sample = append(sample, in.piece(i)...)
	}
	n := len(sample)
	low, high := span(in.values, flip)
	full := bits.Len64(uint64(high - low))
	for i, v := range sample {
		sample[i] = v ^ flip - low
	}
	sortBits(e, sample, full)
	best := n * full
	for bit := full - 1; bit >= 1; bit-- {
		first, covered := densest(sample, U(1)<<bit-1)
		cost := n*bit + (n-covered)*patchedBits
		if cost < best {
			best = cost
			base := (low + lowered(sample[first:first+covered], U(1)<<bit-1)) ^ flip
			p = patchPlan{base: uint64(base), width: bit, exceptions: (n - covered) * 1024 / n}
		}
		if covered < n/2 {
			break
		}
	}
	return p
}

// lowered is where a range as wide as reach, which holds sorted values, best
// begins: at 0 if that is near enough, else with equal room on both sides.
func lowered[U word](sorted []U, reach U) U {
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
func densest[U word](sorted []U, reach U) (first, covered int) {
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
