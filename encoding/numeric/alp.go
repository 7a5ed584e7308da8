package numeric

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/alp"
	"github.com/amudai/amudai-go/encoding/fastlanes"
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
	params     alp.Params
	ints       []byte
	exceptions int
	positions  []byte
	values     []byte
}

func parseALP[U word](tree []byte, n int) (a alpTree, err error) {
	header, payload, err := split(tree, 8)
	if err != nil {
		return a, err
	}
	size := binary.LittleEndian.Uint32(header)
	a.exceptions = int(binary.LittleEndian.Uint16(header[4:]))
	a.params = alp.Params{E: header[6], F: header[7]}
	if uint64(size) > uint64(len(payload)) {
		return a, fault.Corruptf("integers of %d bytes in %d", size, len(payload))
	}
	a.ints, payload = payload[:size], payload[size:]
	if want := a.exceptions * (4 + sizeOf[U]()); len(payload) != want || a.exceptions > n {
		return a, fault.Corruptf("%d bytes for %d exceptions in %d values", len(payload), a.exceptions, n)
	}
	a.positions, a.values = payload[:4*a.exceptions], payload[4*a.exceptions:]
	return a, nil
}

func decodeALP[U word](dst []U, tree []byte, t Type, s *Scratch) error {
	a, err := parseALP[U](tree, len(dst))
	if err != nil {
		return err
	}
	if t == F32 {
		err = decodeALPInts[U, float32, int32](dst, a, t, s)
	} else {
		err = decodeALPInts[U, float64, int64](dst, a, t, s)
	}
	if err != nil {
		return err
	}
	return patch(dst, a.positions, a.values)
}

// decodeALPInts decodes the integers into the memory of the floats, and turns
// them into floats there.
func decodeALPInts[U word, F alp.Float, I alp.Int](dst []U, a alpTree, t Type, s *Scratch) error {
	if err := alp.Valid[F](a.params); err != nil {
		return err
	}
	p, ok, err := parsePacked[U](a.ints, t.integer(), len(dst))
	if err != nil {
		return err
	}
	if !ok {
		if err := decode(dst, a.ints, t.integer(), s); err != nil {
			return err
		}
		alp.Decode(as[F](dst), as[I](dst), a.params)
		return nil
	}
	for at := 0; at < len(dst); at += fastlanes.ChunkLen {
		c := dst[at:min(at+fastlanes.ChunkLen, len(dst))]
		p.chunk(c, at, s)
		alp.Decode(as[F](c), as[I](c), a.params)
	}
	return nil
}

// patch replaces the values at ascending positions.
func patch[U word](dst []U, positions, values []byte) error {
	last := int64(-1)
	for len(positions) >= 4 && len(values) >= sizeOf[U]() {
		p := binary.LittleEndian.Uint32(positions)
		if int64(p) <= last || uint64(p) >= uint64(len(dst)) {
			return fault.Corruptf("exception at %d after %d of %d", p, last, len(dst))
		}
		last = int64(p)
		dst[p] = loadOne[U](values)
		positions, values = positions[4:], values[sizeOf[U]():]
	}
	return nil
}

// maxExceptions is how many exceptions the header can count.
const maxExceptions = 1<<16 - 1

func appendALP[U word](e *enc, dst []byte, in input[U], p *plan) []byte {
	if in.t == F32 {
		return appendALPInts[U, float32, int32](e, dst, in, p)
	}
	return appendALPInts[U, float64, int64](e, dst, in, p)
}

// chooseALP chooses among the parameters that suited parts of an earlier block,
// and looks for others if none of them does.
func chooseALP[F alp.Float, I alp.Int](values []F, h *hint) (p alp.Params, ok bool) {
	if h == nil {
		return alp.Search[F, I](values)
	}
	if h.since > 1 && len(h.alp) > 0 {
		if p, ok := alp.Choose[F, I](values, h.alp); ok {
			return p, true
		}
	}
	h.alp = alp.Candidates[F, I](h.alp[:0], values)
	return alp.Choose[F, I](values, h.alp)
}

func appendALPInts[U word, F alp.Float, I alp.Int](e *enc, dst []byte, in input[U], p *plan) []byte {
	floats := as[F](in.values)
	params, ok := p.alp, p.alpSet
	if !ok || alp.Valid[F](params) != nil {
		params, ok = chooseALP[F, I](floats, in.hint)
	}
	if !ok || len(floats) == 0 {
		return appendPlain(dst, in.values)
	}
	mark := e.scratch.mark()
	ints := take[U](&e.scratch, len(floats))
	e.positions = alp.Encode(as[I](ints), floats, params, e.positions[:0])
	exceptions := e.positions
	if len(exceptions) > maxExceptions {
		e.scratch.release(mark)
		return appendPlain(dst, in.values)
	}
	start := len(dst)
	dst = appendHeader(dst, encoding.ALP, 8)
	kept := take[uint32](&e.scratch, len(exceptions)) // the child may hold another ALP
	copy(kept, exceptions)
	dst = appendTree(e, dst, in.child(ints, in.t.integer(), encoding.ALP, 0), p.kids[0])
	header := dst[start+2:]
	binary.LittleEndian.PutUint32(header, uint32(len(dst)-start-16))
	binary.LittleEndian.PutUint16(header[4:], uint16(len(kept)))
	header[6], header[7] = params.E, params.F
	dst = store(dst, kept)
	for _, at := range kept {
		dst = storeOne(dst, in.values[at])
	}
	e.scratch.release(mark)
	return dst
}
