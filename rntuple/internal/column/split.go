package column

import "encoding/binary"

// A split page has all first bytes of its elements, then all second bytes, and so on: a plane for each byte of an
// element. Both ways work on 8 elements at a time, with 8 bytes of each plane in a word. Two words exchange what
// each has for the other by
//
//	x  a0 a1 a2 a3 …        a0 b0 a2 b2 …
//	y  b0 b1 b2 b3 …   →    a1 b1 a3 b3 …
//
// first by bytes, then by pairs and by fours of them.
const (
	evenBytes = 0x00FF00FF00FF00FF
	evenPairs = 0x0000FFFF0000FFFF
	evenFours = 0x00000000FFFFFFFF
)

func swapBytes(x, y uint64) (uint64, uint64) {
	t := (x>>8 ^ y) & evenBytes
	return x ^ t<<8, y ^ t
}

func swapPairs(x, y uint64) (uint64, uint64) {
	t := (x>>16 ^ y) & evenPairs
	return x ^ t<<16, y ^ t
}

func swapFours(x, y uint64) (uint64, uint64) {
	t := (x>>32 ^ y) & evenFours
	return x ^ t<<32, y ^ t
}

var le = binary.LittleEndian

// unsplit gathers the elements from the one numbered from on, out of a page of n, until out is full, and undoes their
// zigzag encoding if they have one.
func unsplit(out, page []byte, n, from, width int, zigzag bool) {
	done := unsplitFast(out, page, n, from, width, zigzag)
	out, from = out[done*width:], from+done
	switch width {
	case 2:
		done = unsplit2(out, page[from:n], page[n+from:2*n])
	case 4:
		done = unsplit4(out, page[from:n], page[n+from:2*n], page[2*n+from:3*n], page[3*n+from:4*n])
	case 8:
		done = unsplit8(out, page, n, from)
	}
	for i := done; i < len(out)/width; i++ {
		for j := range width {
			out[i*width+j] = page[j*n+from+i]
		}
	}
	if zigzag {
		unzigzag(out, width)
	}
}

func unsplit2(out, p0, p1 []byte) (done int) {
	for ; len(out) >= 16; out = out[16:] {
		a, b := swapBytes(le.Uint64(p0), le.Uint64(p1))
		a, b = swapPairs(a, b)
		a, b = swapFours(a, b)
		le.PutUint64(out, a)
		le.PutUint64(out[8:], b)
		p0, p1 = p0[8:], p1[8:]
		done += 8
	}
	return done
}

func unsplit4(out, p0, p1, p2, p3 []byte) (done int) {
	for ; len(out) >= 32; out = out[32:] {
		a, b := swapBytes(le.Uint64(p0), le.Uint64(p1))
		c, d := swapBytes(le.Uint64(p2), le.Uint64(p3))
		a, c = swapPairs(a, c) // elements 0 and 4, 2 and 6
		b, d = swapPairs(b, d) // 1 and 5, 3 and 7
		a, b = swapFours(a, b)
		c, d = swapFours(c, d)
		le.PutUint64(out, a)
		le.PutUint64(out[8:], c)
		le.PutUint64(out[16:], b)
		le.PutUint64(out[24:], d)
		p0, p1, p2, p3 = p0[8:], p1[8:], p2[8:], p3[8:]
		done += 8
	}
	return done
}

func unsplit8(out, page []byte, n, from int) (done int) {
	for ; len(out) >= 64; out = out[64:] {
		at := from + done
		a, b := swapBytes(le.Uint64(page[at:]), le.Uint64(page[n+at:]))
		c, d := swapBytes(le.Uint64(page[2*n+at:]), le.Uint64(page[3*n+at:]))
		e, f := swapBytes(le.Uint64(page[4*n+at:]), le.Uint64(page[5*n+at:]))
		g, h := swapBytes(le.Uint64(page[6*n+at:]), le.Uint64(page[7*n+at:]))
		a, c = swapPairs(a, c)
		b, d = swapPairs(b, d)
		e, g = swapPairs(e, g)
		f, h = swapPairs(f, h)
		a, e = swapFours(a, e)
		b, f = swapFours(b, f)
		c, g = swapFours(c, g)
		d, h = swapFours(d, h)
		le.PutUint64(out, a)
		le.PutUint64(out[8:], b)
		le.PutUint64(out[16:], c)
		le.PutUint64(out[24:], d)
		le.PutUint64(out[32:], e)
		le.PutUint64(out[40:], f)
		le.PutUint64(out[48:], g)
		le.PutUint64(out[56:], h)
		done += 8
	}
	return done
}

// split spreads elements over the planes of a page of n: they become those from the one numbered from on.
func split(page, in []byte, n, from, width int) {
	done := splitFast(page, in, n, from, width)
	in, from = in[done*width:], from+done
	switch width {
	case 2:
		done = split2(page[from:n], page[n+from:2*n], in)
	case 4:
		done = split4(page[from:n], page[n+from:2*n], page[2*n+from:3*n], page[3*n+from:4*n], in)
	case 8:
		done = split8(page, in, n, from)
	}
	for i := done; i < len(in)/width; i++ {
		for j := range width {
			page[j*n+from+i] = in[i*width+j]
		}
	}
}

func split2(p0, p1, in []byte) (done int) {
	for ; len(in) >= 16; in = in[16:] {
		a, b := swapFours(le.Uint64(in), le.Uint64(in[8:]))
		a, b = swapPairs(a, b)
		a, b = swapBytes(a, b)
		le.PutUint64(p0, a)
		le.PutUint64(p1, b)
		p0, p1 = p0[8:], p1[8:]
		done += 8
	}
	return done
}

func split4(p0, p1, p2, p3, in []byte) (done int) {
	for ; len(in) >= 32; in = in[32:] {
		a, b := swapFours(le.Uint64(in), le.Uint64(in[16:]))
		c, d := swapFours(le.Uint64(in[8:]), le.Uint64(in[24:]))
		a, c = swapPairs(a, c)
		b, d = swapPairs(b, d)
		a, b = swapBytes(a, b)
		c, d = swapBytes(c, d)
		le.PutUint64(p0, a)
		le.PutUint64(p1, b)
		le.PutUint64(p2, c)
		le.PutUint64(p3, d)
		p0, p1, p2, p3 = p0[8:], p1[8:], p2[8:], p3[8:]
		done += 8
	}
	return done
}

func split8(page, in []byte, n, from int) (done int) {
	for ; len(in) >= 64; in = in[64:] {
		at := from + done
		a, e := swapFours(le.Uint64(in), le.Uint64(in[32:]))
		b, f := swapFours(le.Uint64(in[8:]), le.Uint64(in[40:]))
		c, g := swapFours(le.Uint64(in[16:]), le.Uint64(in[48:]))
		d, h := swapFours(le.Uint64(in[24:]), le.Uint64(in[56:]))
		a, c = swapPairs(a, c)
		b, d = swapPairs(b, d)
		e, g = swapPairs(e, g)
		f, h = swapPairs(f, h)
		a, b = swapBytes(a, b)
		c, d = swapBytes(c, d)
		e, f = swapBytes(e, f)
		g, h = swapBytes(g, h)
		le.PutUint64(page[at:], a)
		le.PutUint64(page[n+at:], b)
		le.PutUint64(page[2*n+at:], c)
		le.PutUint64(page[3*n+at:], d)
		le.PutUint64(page[4*n+at:], e)
		le.PutUint64(page[5*n+at:], f)
		le.PutUint64(page[6*n+at:], g)
		le.PutUint64(page[7*n+at:], h)
		done += 8
	}
	return done
}
