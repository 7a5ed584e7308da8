package rowset

import "math/bits"

// Select is the rows of the set whose bits are set: bit i of the bitmap, least
// significant bit first, is that of the i-th row of the set. Bits that the bitmap
// does not have count as clear.
//
//	set {{10, 13}, {20, 22}}, bits 0 1 1 1 0   gives {{11, 13}, {20, 21}}
func (s Set) Select(bitmap []byte) Set {
	if len(s) == 1 {
		return FromBits(bitmap, 0, int(s[0].Len()), s[0].From)
	}
	var out Set
	at := 0
	for _, r := range s {
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
	return out
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
	out := make([]int64, 0, s.Len())
	before := int64(0)
	for _, r := range s {
		for len(among) > 0 && among[0].To <= r.From {
			before += among[0].Len()
			among = among[1:]
		}
		for row := r.From; row < r.To && len(among) > 0; row++ {
			out = append(out, before+row-among[0].From)
		}
	}
	return out
}

// Pick copies the values of the rows to dst, which may be the beginning of src.
func Pick[T any](dst, src []T, rows Set) {
	at := 0
	for _, r := range rows {
		if r.To-r.From == 1 {
			dst[at] = src[r.From]
			at++
			continue
		}
		at += copy(dst[at:], src[r.From:r.To])
	}
}
