package numeric

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/simd"
)

// RunLength, code 6, all types:
//
//	0  2  06 00
//	2  4  u32 size of the run values in bytes
//	6  4  u32 number of runs R
//	10 1  the run values are a tree (not 0) or raw (0)
//	11 1  the run lengths are a tree, or raw
//	12 4  zeros
//	16    run values: tree of R T, or R little-endian T
//	      zeros up to a multiple of 8
//	      run lengths: tree of R u32, or R u32; to the end
//
// Example, int32 5, 5, 5, 9, 9, all raw:
//
//	06 00 | 08 00 00 00 | 02 00 00 00 | 00 | 00 | 00 00 00 00 | 05 00 00 00 09 00 00 00 | 03 00 00 00 02 00 00 00
type runLength struct {
	count                       int
	values, lengths             []byte
	valuesNested, lengthsNested bool
}

func parseRunLength(tree []byte, n int) (r runLength, err error) {
	header, payload, err := split(tree, 10)
	if err != nil {
		return r, err
	}
	size := binary.LittleEndian.Uint32(header)
	count := binary.LittleEndian.Uint32(header[4:])
	if uint64(count) > uint64(n) {
		return r, fault.Corruptf("%d runs for %d values", count, n)
	}
	r.count = int(count)
	r.valuesNested, r.lengthsNested = header[8] != 0, header[9] != 0
	r.values, r.lengths, err = cutPadded(payload, size)
	return r, err
}

// cutPadded cuts off a part of size bytes and the zeros behind it.
func cutPadded(b []byte, size uint32) (part, rest []byte, err error) {
	if end := (uint64(size) + 7) &^ 7; end <= uint64(len(b)) {
		return b[:size], b[end:], nil
	}
	return nil, nil, fault.Corruptf("a part of %d bytes in %d", size, len(b))
}

// decodePart decodes a part that is a tree or raw.
func decodePart[U word](dst []U, part []byte, nested bool, t Type, s *Scratch) error {
	if nested {
		return decode(dst, part, t, s)
	}
	return loadSome(dst, part)
}

func decodeRunLength[U word](dst []U, tree []byte, t Type, s *Scratch) error {
	values, lengths, err := readRuns[U](tree, t, len(dst), s)
	if err != nil {
		return err
	}
	return expandRuns(dst, values, lengths)
}

// readRuns reads the runs of a tree of n values.
func readRuns[U word](tree []byte, t Type, n int, s *Scratch) (values []U, lengths []uint32, err error) {
	r, err := parseRunLength(tree, n)
	if err != nil {
		return nil, nil, err
	}
	values, lengths = take[U](s, r.count), take[uint32](s, r.count)
	if err := decodePart(values, r.values, r.valuesNested, t, s); err != nil {
		return nil, nil, err
	}
	return values, lengths, decodePart(lengths, r.lengths, r.lengthsNested, U32, s)
}

// expandRuns repeats each value. Most runs are short: the first values of a run
// are written without asking for its length, where there is room.
func expandRuns[U comparable](dst []U, values []U, lengths []uint32) error {
	const ahead = 8
	total := len(dst)
	done, n := simd.Repeat(dst, values, lengths)
	dst, values, lengths = dst[n:], values[done:], lengths[done:len(values)]
	for i, v := range values {
		n := uint64(lengths[i])
		if n > uint64(len(dst)) {
			return fault.Corruptf("runs of more than %d values", total)
		}
		if len(dst) >= ahead {
			d := (*[ahead]U)(dst)
			d[0], d[1], d[2], d[3] = v, v, v, v
			d[4], d[5], d[6], d[7] = v, v, v, v
			if n > ahead {
				fill(dst[ahead:n], v)
			}
		} else {
			fill(dst[:n], v)
		}
		dst = dst[n:]
	}
	if len(dst) != 0 {
		return fault.Corruptf("runs of %d values for %d", total-len(dst), total)
	}
	return nil
}

func appendRunLength[U word](e *enc, dst []byte, in input[U], p *plan) []byte {
	if len(in.values) == 0 {
		return appendPlain(dst, in.values)
	}
	mark := e.scratch.mark()
	values := take[U](&e.scratch, len(in.values))
	lengths := take[uint32](&e.scratch, len(in.values))
	count := findRuns(values, lengths, in.values)

	start := len(dst)
	dst = appendHeader(dst, encoding.RunLength, 10)
	var flags [2]byte
	dst, flags[0] = appendPart(e, dst, in.child(values[:count], in.t, encoding.RunLength, 0), p.kids[0])
	size := len(dst) - start - 16
	dst = padTree(dst, start)
	dst, flags[1] = appendPart(e, dst, childOf[U, uint32](in, lengths[:count], U32, encoding.RunLength, 1), p.kids[1])
	header := dst[start+2:]
	binary.LittleEndian.PutUint32(header, uint32(size))
	binary.LittleEndian.PutUint32(header[4:], uint32(count))
	header[8], header[9] = flags[0], flags[1]
	e.scratch.release(mark)
	return dst
}

// findRuns sets runs and lengths, which are as long as values, to the runs of
// values, and returns how many there are. It writes the end of the current run
// at every step and moves on where it was one: no branch depends on the data.
func findRuns[U word](runs []U, lengths []uint32, values []U) int {
	n := len(values)
	runs, lengths = runs[:n], lengths[:n]
	k := 0
	last := values[0]
	for i, v := range values {
		step := 0
		if v != last {
			step = 1
		}
		runs[k], lengths[k] = last, uint32(i)
		k += step
		last = v
	}
	runs[k], lengths[k] = last, uint32(n)
	k++
	for i := k - 1; i > 0; i-- {
		lengths[i] -= lengths[i-1]
	}
	return k
}
