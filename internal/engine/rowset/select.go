package rowset

import (
	"math/bits"

	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Select returns the rows of the set whose bits are 1: bit i of the bitmap belongs to the i-th row of the set.
// Bits are in Arrow's order, the least significant first. Bits beyond the end of the bitmap count as 0.
//
//	set {{10, 13}, {20, 22}}, bits 0 1 1 1 0   gives {{11, 13}, {20, 21}}
func (s Set) Select(data []byte) Set {
	s = s.Listed()
	view := bitmap.Bits{Data: data, Len: 8 * len(data)}
	switch {
	case s.spans() == 1:
		return FromBits(data, 0, int(s.n), s.Bounds().From)
	case s.rows != nil:
		return s.selectRows(view)
	}
	var out []Range
	at := 0
	for k := range s.ranges {
		r := s.span(k)
		n := int(r.Len())
		for i := 0; i < n; {
			i = next(view, at, i, n, 0)
			end := next(view, at, i, n, ^uint64(0))
			if i < end {
				out = append(out, Range{r.From + int64(i), r.From + int64(end)})
			}
			i = end
		}
		at += n
	}
	return setOf(out)
}

// selectRows is Select for a set of single rows.
func (s Set) selectRows(view bitmap.Bits) Set {
	view.Len = min(view.Len, len(s.rows))
	var out []uint32
	for i := 0; i < view.Len; i += 64 {
		for w := view.Word(i); w != 0; w &= w - 1 {
			out = append(out, s.rows[i+bits.TrailingZeros64(w)])
		}
	}
	if len(out) == 0 {
		return Set{}
	}
	s.rows, s.n = out, int64(len(out))
	return s
}

// next returns the first i up to n whose bit at off+i differs from those of flip.
func next(view bitmap.Bits, off, i, n int, flip uint64) int {
	for i < n {
		k := min(n-i, 64)
		if w := (view.Word(off+i) ^ flip) & (^uint64(0) >> (64 - k)); w != 0 {
			return i + bits.TrailingZeros64(w)
		}
		i += k
	}
	return n
}

// Indices returns the positions of the rows within another set. ok is false if it does not contain all of them.
//
//	{{11, 13}, {20, 21}} among {{10, 13}, {20, 22}}   is 1, 2, 3
func (s Set) Indices(among Set) (places []int64, ok bool) {
	s, among = s.Listed(), among.Listed()
	places = make([]int64, 0, s.n)
	k, before := 0, int64(0)
	if s.rows != nil && among.rows != nil {
		by := s.by - among.by
		for _, row := range s.rows {
			row := by + int64(row)
			for k < len(among.rows) && int64(among.rows[k]) < row {
				k++
			}
			if k == len(among.rows) || int64(among.rows[k]) > row {
				return nil, false
			}
			places = append(places, int64(k))
		}
		return places, true
	}
	for row := range s.Rows() {
		for ; k < among.spans() && among.span(k).To <= row; k++ {
			before += among.span(k).Len()
		}
		if k == among.spans() || among.span(k).From > row {
			return nil, false
		}
		places = append(places, before+row-among.span(k).From)
	}
	return places, true
}

// Pick copies the values of the rows to dst, which may be the beginning of src.
func Pick[T any](dst, src []T, rows Set) {
	rows = rows.Listed()
	if rows.rows != nil {
		by := int(rows.by)
		dst = dst[:len(rows.rows)]
		for i, row := range rows.rows {
			dst[i] = src[by+int(row)]
		}
		return
	}
	for i := range rows.ranges {
		r := rows.span(i)
		dst = dst[copy(dst, src[r.From:r.To]):]
	}
}

// PickBytes moves the values of the rows, of a width in bytes, to the front.
func PickBytes(values []byte, width int, rows Set) {
	at := 0
	for r := range rows.Ranges() {
		at += copy(values[at:], values[int(r.From)*width:int(r.To)*width])
	}
}

// PickBits copies the bits of the rows to dst, from bit at on, and counts the clear ones. The bits may be those of dst from bit at on.
func PickBits(dst []byte, at int, src bitmap.Bits, rows Set) (clear int) {
	rows = rows.Listed()
	by := int(rows.by)
	for rest := rows.rows; len(rest) > 0; {
		some := rest[:min(len(rest), 64)]
		rest = rest[len(some):]
		w := uint64(0)
		for i, row := range some {
			w |= uint64(bitmap.Bit(src.At(by+int(row)))) << i
		}
		clear += len(some) - bits.OnesCount64(w)
		bitmap.PutWord(dst, at, w, len(some))
		at += len(some)
	}
	for i := range rows.ranges {
		r := rows.span(i)
		bits := src.Slice(int(r.From), int(r.To))
		clear += bits.Nulls()
		bits.CopyTo(dst, at)
		at += bits.Len
	}
	return clear
}

// Positions fills dst with the rows, which must fit into 32 bits. The length of dst is that of the set.
func (s Set) Positions(dst []uint32) {
	s = s.Listed()
	if s.rows != nil {
		dst = dst[:len(s.rows)]
		for i, row := range s.rows {
			dst[i] = uint32(s.by) + row
		}
		return
	}
	for i := range s.ranges {
		r := s.span(i)
		for k := range dst[:r.Len()] {
			dst[k] = uint32(r.From) + uint32(k)
		}
		dst = dst[r.Len():]
	}
}
