package rowset

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// A set of many rows of an index may be bits, so that operations go by words. Its window begins and ends with a row:
//
//	bits    0 1 1 0 1 0 1 1   by 100
//	window    {1        5}    rows 101, 102, 104
//
// Bits take at most 32 bytes for each row. What columns read has no bits: [Set.Listed].

// maxGap is the most bits for each row of a set of bits.
const maxGap = 256

// Dense returns the set of the rows base+i whose bit is 1, the least significant bit of a byte first. It keeps the bits, which must not change any
// more, if they are fast to work with: if there are many rows.
func Dense(data []byte, base int64) Set {
	s := Set{by: base, window: Range{0, min(8*int64(len(data)), math.MaxInt)}, bits: data}
	return s.trimmed()
}

// InBits returns those rows base+i of a set whose bits are 1, without keeping the bits: for few rows.
func (s Set) InBits(data []byte, base int64) Set {
	s = s.Clip(base, add(base, 8*int64(len(data)))).Listed()
	if s.rows == nil {
		return s.And(Dense(slices.Clone(data), base))
	}
	rows, by := make([]uint32, 0, len(s.rows)), s.by-base
	for _, r := range s.rows {
		if at := uint64(by + int64(r)); data[at>>3]>>(at&7)&1 != 0 {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return Set{}
	}
	return Set{n: int64(len(rows)), by: s.by, rows: rows}
}

// Listed is the set without bits, which is fast to walk through.
func (s Set) Listed() Set {
	if s.bits == nil {
		return s
	}
	from := s.window.From
	if k := from & 7; s.bits[from/8]&(1<<k-1) == 0 { // whole bytes are faster
		from -= k
	}
	return fromBits(s.bits, int(from), int(s.window.To-from), s.by+from, 0)
}

// view is the bits of the window.
func (s *Set) view() bitmap.Bits {
	return bitmap.Bits{Data: s.bits, Off: int(s.window.From), Len: int(s.window.Len())}
}

// trimmed cuts a window of bits at its first and last row, counts its rows, and lists few of them.
func (s Set) trimmed() Set {
	view := s.view()
	first, end := next(view, 0, 0, view.Len, 0), view.Len
	if first == end {
		return Set{}
	}
	for w := uint64(0); ; end -= 64 {
		from := max(end-64, 0)
		if w = view.Slice(from, end).Word(0); w != 0 {
			end = from + bits.Len64(w)
			break
		}
	}
	s.window = Range{s.window.From + int64(first), s.window.From + int64(end)}
	s.n = int64(view.Slice(first, end).Count())
	if s.window.Len() > maxGap*s.n {
		return s.Listed()
	}
	return s
}

// partWords are combined at a time.
const partWords = 1024

// operation is one of two sets.
type operation uint8

const (
	and operation = iota
	or
	minus
)

// combined is the result of an operation on two sets, of which one has bits, in a range of rows; ok is false if its bits would take much more memory than those.
func (s Set) combined(o Set, within Range, op operation) (_ Set, ok bool) {
	by := s.by
	if s.bits == nil {
		by = o.by
	}
	shift := (within.From - by) & 7 // bits within a byte of one of the sets, which are not to be shifted
	if within.From < math.MinInt64+shift || within.Len() > min(4*8*int64(max(len(s.bits), len(o.bits))), math.MaxInt32) {
		return Set{}, false
	}
	within.From -= shift
	out := make([]byte, (within.Len()+63)/64*8)
	s.PutBits(out, 0, 8*len(out), within.From)
	var other [8 * partWords]byte
	for at := 0; at < len(out); at += len(other) {
		part := out[at:min(at+len(other), len(out))]
		b := other[:len(part)]
		o.PutBits(b, 0, 8*len(b), add(within.From, 8*int64(at)))
		switch op {
		case and:
			for i := 0; i < len(b); i += 8 {
				binary.LittleEndian.PutUint64(part[i:], binary.LittleEndian.Uint64(part[i:])&binary.LittleEndian.Uint64(b[i:]))
			}
		case or:
			for i := 0; i < len(b); i += 8 {
				binary.LittleEndian.PutUint64(part[i:], binary.LittleEndian.Uint64(part[i:])|binary.LittleEndian.Uint64(b[i:]))
			}
		case minus:
			for i := 0; i < len(b); i += 8 {
				binary.LittleEndian.PutUint64(part[i:], binary.LittleEndian.Uint64(part[i:])&^binary.LittleEndian.Uint64(b[i:]))
			}
		}
	}
	return Dense(out, within.From), true
}
