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
	var a, b [partWords]uint64
	for at := 0; at < len(out); at += 8 * partWords {
		part := out[at:min(at+8*partWords, len(out))]
		from, n := within.From+8*int64(at), len(part)/8
		s.words(a[:n], from)
		o.words(b[:n], from)
		switch op {
		case and:
			for i, w := range b[:n] {
				a[i] &= w
			}
		case or:
			for i, w := range b[:n] {
				a[i] |= w
			}
		case minus:
			for i, w := range b[:n] {
				a[i] &^= w
			}
		}
		for i, w := range a[:n] {
			binary.LittleEndian.PutUint64(part[8*i:], w)
		}
	}
	return Dense(out, within.From), true
}

// words sets dst to the bits of the rows from a row on.
func (s *Set) words(dst []uint64, from int64) {
	clear(dst)
	if s.bits != nil {
		s.copyWords(dst, from-s.by)
		return
	}
	end := add(from, 64*int64(len(dst)))
	for i := s.after(0, from); i < s.spans(); i++ {
		r := s.span(i)
		if r.From >= end {
			break
		}
		setBits(dst, int(max(r.From, from)-from), int(min(r.To, end)-from))
	}
}

// copyWords sets dst, which is clear, to the bits from bit at on, which may be outside the window.
func (s *Set) copyWords(dst []uint64, at int64) {
	first, end := max(s.window.From, at), min(s.window.To, at+64*int64(len(dst)))
	if first >= end {
		return
	}
	view := bitmap.Bits{Data: s.bits, Len: int(end)}
	i, last := int(first-at)/64, int(end-1-at)/64
	dst[i] = view.Word(int(first)) << ((first - at) & 63)
	i++
	if at&7 == 0 && i < last {
		bytes := s.bits[(at+64*int64(i))/8:]
		for k := range dst[i:last] {
			dst[i+k] = binary.LittleEndian.Uint64(bytes[8*k:])
		}
		i = last
	}
	for ; i <= last; i++ {
		dst[i] = view.Word(int(at) + 64*i)
	}
}

// setBits sets the bits from from up to to.
func setBits(dst []uint64, from, to int) {
	i, last := from/64, (to-1)/64
	head, tail := ^uint64(0)<<(from%64), ^uint64(0)>>(63-(to-1)%64)
	if i == last {
		dst[i] |= head & tail
		return
	}
	dst[i] |= head
	for k := i + 1; k < last; k++ {
		dst[k] = ^uint64(0)
	}
	dst[last] |= tail
}
