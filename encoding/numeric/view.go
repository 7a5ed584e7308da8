package numeric

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/fastlanes"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// view is a tree that was parsed and checked, whose values can be had in some
// other way than all of them in order: where the encoding allows that without
// decoding the others. Its memory belongs to the Scratch.
type view[U word] struct {
	form    form
	values  []U        // single: one; runs: one for each; coded: what codes 0, 1, ... stand for; dense: all
	lengths []uint32   // runs: how long each is; nobody has checked them
	codes   codes      // coded
	chunks  chunked[U] // packed in chunks
}

// form is how the values of a view are reached.
type form uint8

const (
	dense   form = iota // all were decoded
	single              // all are the same
	runs                // values and how often each comes
	coded               // places in a table
	inPacks             // FastLanes chunks
)

// parseView parses a tree of n values. Encodings without a form of their own are
// decoded whole.
func parseView[U word](tree []byte, t Type, n int, s *Scratch) (v view[U], err error) {
	code, err := codeOf(tree, t)
	if err != nil {
		return v, err
	}
	if err := s.enter(); err != nil {
		return v, err
	}
	defer s.leave()
	switch code {
	case encoding.SingleValue:
		v.form, v.values = single, take[U](s, 1)
		err = decodeSingleValue(v.values, tree)
	case encoding.RunLength:
		v.form = runs
		v.values, v.lengths, err = readRuns[U](tree, t, n, s)
	case encoding.BlockDictionary:
		v.form = coded
		v.values, v.codes, err = readDictionary[U](tree, t, n, s)
	default:
		var ok bool
		v.form = inPacks
		if v.chunks, ok, err = parseChunked[U](tree, t, n, s); ok || err != nil {
			break
		}
		v.form, v.values = dense, take[U](s, n)
		err = decodeAs(v.values, code, tree, t, s)
	}
	if err != nil {
		return v, fault.In(err, code.String(), -1)
	}
	return v, nil
}

// runEnds turns the lengths of runs, which must make n values, into the places behind
// them.
func runEnds(lengths []uint32, n int) ([]uint32, error) {
	sum := uint64(0)
	for i, l := range lengths {
		sum += uint64(l)
		lengths[i] = uint32(sum)
	}
	if sum != uint64(n) {
		return nil, fault.Corruptf("runs of %d values for %d", sum, n)
	}
	return lengths, nil
}

// chunked is a sequence of values that come out of FastLanes chunks, each by
// itself: value i is add + step * (packed value i), with the exceptions of
// PatchedPack added before.
type chunked[U word] struct {
	packed[U]
	add, step U
	positions []uint32 // of the exceptions, ascending
	highs     []U      // what they add, shifted to its place
}

// parseChunked parses a tree of n values if it is nothing but chunks and what
// can be done to one at a time.
func parseChunked[U word](tree []byte, t Type, n int, s *Scratch) (c chunked[U], ok bool, err error) {
	c.step = 1
	var inner []byte
	var d divided[U]
	switch code := peek(tree); {
	case code == encoding.PatchedPack && !t.Float():
		var p patched[U]
		if p, err = parsePatched[U](tree, n); err == nil {
			c.packed = p.packed
			c.positions, c.highs, err = p.exceptions(t, n, s)
		}
		return c, true, err
	case code == encoding.FOR && !t.Float():
		d.divisor = 1
		d.base, inner, err = parseFOR[U](tree)
	case code == encoding.CommonDivisor && !t.Float():
		d, inner, err = parseCommonDivisor[U](tree)
	default:
		c.packed, ok, err = parsePacked[U](tree, t, n)
		return c, ok, err
	}
	if err != nil {
		return c, true, err
	}
	if err := s.enter(); err != nil {
		return c, true, err
	}
	defer s.leave()
	if c, ok, err = parseChunked[U](inner, t.unsigned(), n, s); ok && err == nil {
		c.add, c.step = d.base+d.divisor*c.add, d.divisor*c.step
		if c.step == 1 {
			c.base, c.add = c.base+c.add, 0
		}
	}
	return c, ok, err
}

// whole unpacks the chunk that begins at value at to dst, exceptions and all, but
// leaves add and step to the caller. next is the first exception that is not
// before at; the result is the first one behind the chunk.
func (c *chunked[U]) whole(dst *[fastlanes.ChunkLen]U, base U, at, next int) int {
	c.unpackOnly(dst, base, at)
	for ; next < len(c.positions); next++ {
		p := int(c.positions[next]) - at
		if p >= fastlanes.ChunkLen {
			break
		}
		dst[p] += c.highs[next]
	}
	return next
}

// unpackOnly is whole without the exceptions.
func (c *chunked[U]) unpackOnly(dst *[fastlanes.ChunkLen]U, base U, at int) {
	size := fastlanes.PackedLen(c.w)
	fastlanes.Unpack(dst, c.data[at/fastlanes.ChunkLen*size:][:size], base, c.w)
}

// codes are the codes of a dictionary: packed, or all of them.
type codes struct {
	chunks chunked[uint32]
	next   int      // first exception behind the chunk that was unpacked last
	all    []uint32 // nil if packed
}

func readCodes(tree []byte, n int, s *Scratch) (c codes, err error) {
	var ok bool
	if c.chunks, ok, err = parseChunked[uint32](tree, U32, n, s); ok || err != nil {
		return c, err
	}
	c.all = take[uint32](s, n)
	return c, decode(c.all, tree, U32, s)
}

// chunk is the codes from at on, up to 1024 of n, in tmp or where they are. Chunks
// are asked for in their order.
func (c *codes) chunk(tmp *[fastlanes.ChunkLen]uint32, at, n int) []uint32 {
	to := min(at+fastlanes.ChunkLen, n)
	if c.all != nil {
		return c.all[at:to]
	}
	c.next = c.chunks.whole(tmp, c.chunks.base, at, c.next)
	part := tmp[:to-at]
	c.chunks.finish(part)
	return part
}

// finish turns packed values into values, in place.
func (c *chunked[U]) finish(dst []U) {
	if c.step != 1 || c.add != 0 {
		divided[U]{c.add, c.step}.multiply(dst)
	}
}
