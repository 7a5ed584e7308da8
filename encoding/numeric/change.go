package numeric

import (
	"errors"

	"github.com/amudai/amudai-go/encoding/internal/fastlanes"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Change converts stored values to values of another type while they are decoded. It is applied to as few values as
// possible: to the values of runs and dictionaries, and to chunks in the cache.
type Change[D any, T Value] interface {
	// Values sets dst to the results of src, which has the same length. It returns false if a value has no result.
	Values(dst []D, src []T) bool
	// Line returns a and b such that each value base + step*q, modulo 2^64, has the result a + b*q in D, for all q
	// from 0 to most. ok is false if there are none.
	Line(base, step, most uint64) (a, b uint64, ok bool)
	// Steps sets dst to a + b*q, for a and b of Line.
	Steps(dst []D, q []T, a, b uint64)
}

// ErrChange means that a value, perhaps under a null, has no result in the other type.
var ErrChange = errors.New("a value cannot be changed to the type wanted")

// DecodeBlockAs is [DecodeBlock] with the conversion c of each value. The error is [ErrChange] if c cannot convert
// one.
func DecodeBlockAs[D comparable, T Value](dst []D, validity []byte, off int, blk []byte, c Change[D, T], o BlockOptions, s *Scratch) (nulls int, err error) {
	b, nulls, err := parseBlock(blk, len(dst), validity, off, o)
	if err != nil {
		return 0, err
	}
	if err := DecodeAs(dst, b.Values, c, s); err != nil {
		return 0, fault.In(err, "values", int64(b.ValuesOffset))
	}
	return nulls, nil
}

// DecodeAs is [Decode] with the conversion c of each value to a type D without pointers. The error is [ErrChange] if
// c cannot convert one.
func DecodeAs[D comparable, T Value](dst []D, tree []byte, c Change[D, T], s *Scratch) error {
	s.begin()
	switch word.SizeOf[T]() {
	case 1:
		return decodeChanged[D, T, uint8](dst, tree, c, s)
	case 2:
		return decodeChanged[D, T, uint16](dst, tree, c, s)
	case 4:
		return decodeChanged[D, T, uint32](dst, tree, c, s)
	}
	return decodeChanged[D, T, uint64](dst, tree, c, s)
}

func decodeChanged[D comparable, T Value, U word.Uint](dst []D, tree []byte, c Change[D, T], s *Scratch) error {
	v, err := trees.ParseView[U](nil, tree, Of[T](), len(dst), nil, &s.s)
	if err != nil || len(dst) == 0 {
		return err
	}
	ok := true
	switch v.Form {
	case trees.Single:
		ok = c.Values(dst[:1], word.As[T](v.Values))
		word.Fill(dst[1:], dst[0])
	case trees.Runs:
		values := word.Take[D](&s.s.Mem, len(v.Values))
		ok = c.Values(values, word.As[T](v.Values))
		err = trees.ExpandRuns(dst, values, v.Lengths)
	case trees.Coded:
		table := word.Take[D](&s.s.Mem, len(v.Values))
		clear(table[:1]) // of nulls
		ok = c.Values(table[1:], word.As[T](v.Values[1:]))
		err = trees.GatherCodes(dst, v.Codes, table, &s.s)
	case trees.InChunks:
		ok = changeChunks(dst, &v.Chunks, c, s)
	default:
		ok = c.Values(dst, word.As[T](v.Values))
	}
	if err == nil && !ok {
		return ErrChange
	}
	return err
}

// changeChunks converts chunk by chunk. If all values are on a line, packed values are converted without decoding
// them first.
func changeChunks[D comparable, T Value, U word.Uint](dst []D, v *trees.Chunked[U], c Change[D, T], s *Scratch) bool {
	if word.SizeOf[U]() == 8 {
		first := uint64(v.Add) + uint64(v.Step)*uint64(v.Base)
		if a, b, ok := c.Line(first, uint64(v.Step), ^uint64(0)>>(64-v.W)); ok {
			return changeLine(dst, v, c, a, b, s)
		}
	}
	tmp := (*[fastlanes.ChunkLen]U)(word.Take[U](&s.s.Mem, fastlanes.ChunkLen))
	next := 0
	for at := 0; at < len(dst); at += fastlanes.ChunkLen {
		next = v.Whole(tmp, v.Base, at, next)
		to := dst[at:min(at+fastlanes.ChunkLen, len(dst))]
		from := tmp[:len(to)]
		v.Finish(from)
		if !c.Values(to, word.As[T](from)) {
			return false
		}
	}
	return true
}

// changeLine converts packed values on the line a + b*q, and then the exceptions, which are not on it.
func changeLine[D comparable, T Value, U word.Uint](dst []D, v *trees.Chunked[U], c Change[D, T], a, b uint64, s *Scratch) bool {
	mark := s.s.Mem.Mark()
	defer s.s.Mem.Release(mark)
	tmp := (*[fastlanes.ChunkLen]U)(word.Take[U](&s.s.Mem, fastlanes.ChunkLen))
	others, next := word.Take[U](&s.s.Mem, len(v.Positions)), 0
	for at := 0; at < len(dst); at += fastlanes.ChunkLen {
		v.Unpack(tmp, 0, at)
		to := dst[at:min(at+fastlanes.ChunkLen, len(dst))]
		c.Steps(to, word.As[T](tmp[:len(to)]), a, b)
		for ; next < len(others) && int(v.Positions[next]) < at+len(to); next++ {
			others[next] = v.Base + v.Highs[next] + tmp[int(v.Positions[next])-at]
		}
	}
	v.Finish(others)
	changed := word.Take[D](&s.s.Mem, len(others))
	if !c.Values(changed, word.As[T](others)) {
		return false
	}
	for i, p := range v.Positions {
		dst[p] = changed[i]
	}
	return true
}
