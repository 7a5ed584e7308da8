package rowset

import "math/bits"

// Select is the rows of the set whose bits are set: bit i of the bitmap, least
// significant bit first, is that of the i-th row of the set. Bits that the bitmap
// does not have count as clear.
//
//	set {{10, 13}, {20, 22}}, bits 0 1 1 1 0   gives {{11, 13}, {20, 21}}
func (s Set) Select(bitmap []byte) Set {
	switch {
	case s.spans() == 1:
		return FromBits(bitmap, 0, int(s.n), s.Bounds().From)
	case s.rows != nil:
		return s.selectRows(bitmap)
	}
	var out []Range
	at := 0
	for k := range s.ranges {
		r := s.span(k)
		n := int(r.Len())
		for i := 0; i < n; {
			i = next(bitmap, at, i, n, 0)
			end := next(bitmap, at, i, n, ^uint64(0))
			if i < end {
				out = append(out, Range{r.From + int64(i), r.From + int64(end)})
			}
			i = end
		}
		at += n
	}
	return setOf(out)
}

// selectRows is Select of single rows.
func (s Set) selectRows(bitmap []byte) Set {
	var out []uint32
	n := min(len(s.rows), 8*len(bitmap))
	for i := 0; i < n; i += 64 {
		for w := next64(bitmap, i, n-i); w != 0; w &= w - 1 {
			out = append(out, s.rows[i+bits.TrailingZeros64(w)])
		}
	}
	if len(out) == 0 {
		return Set{}
	}
	s.rows, s.n = out, int64(len(out))
	return s
}

// next is the first i up to n from which on the bit at off+i differs from those of flip.
func next(bitmap []byte, off, i, n int, flip uint64) int {
	for i < n {
		k := min(n-i, 64)
		w := flip & (^uint64(0) >> (64 - k))
		if at := off + i; at/8 < len(bitmap) {
			w ^= word(bitmap, at, k)
		}
		if w != 0 {
			return i + bits.TrailingZeros64(w)
		}
		i += k
	}
	return n
}

// Indices are the places of the rows among those of another set, which has them
// all.
//
//	{{11, 13}, {20, 21}} among {{10, 13}, {20, 22}}   is 1, 2, 3
func (s Set) Indices(among Set) []int64 {
	out := make([]int64, 0, s.n)
	k, before := 0, int64(0)
	for row := range s.Rows() {
		if among.rows != nil {
			k = among.after(k, row)
			out = append(out, int64(k))
			continue
		}
		for ; among.span(k).To <= row; k++ {
			before += among.span(k).Len()
		}
		out = append(out, before+row-among.span(k).From)
	}
	return out
}

// Pick copies the values of the rows to dst, which may be the beginning of src.
func Pick[T any](dst, src []T, rows Set) {
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

// Places sets dst, which has room for just them, to the rows of a set of numbers of
// 32 bits.
func (s Set) Places(dst []uint32) {
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
