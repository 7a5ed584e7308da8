package column

import (
	"encoding/binary"
	"unsafe"
)

var le = binary.LittleEndian

// A split page has all first bytes of its elements, then all second bytes, and so on: a plane for each byte of an
// element.

// unsplit gathers the elements from the one numbered from on, out of a page of n, until out is full, and undoes their
// zigzag encoding if they have one.
func unsplit(out, page []byte, n, from, width int, zigzag bool) {
	done := unsplitFast(out, page, n, from, width, zigzag)
	out, from = out[done*width:], from+done
	switch width {
	case 2:
		gather(view[uint16](out), page, n, from)
	case 4:
		gather(view[uint32](out), page, n, from)
	case 8:
		gather(view[uint64](out), page, n, from)
	}
	if zigzag {
		unzigzag(out, width)
	}
}

// gather makes elements of their bytes, two planes at a time.
func gather[T uint16 | uint32 | uint64](out []T, page []byte, n, from int) {
	clear(out)
	for j := 0; j < int(unsafe.Sizeof(T(0))); j += 2 {
		low, high := page[j*n+from:][:len(out)], page[(j+1)*n+from:][:len(out)]
		for i, b := range low {
			out[i] |= T(uint16(b)|uint16(high[i])<<8) << (8 * j)
		}
	}
}

// split spreads elements over the planes of a page of n: they become those from the one numbered from on.
func split(page, in []byte, n, from, width int) {
	done := splitFast(page, in, n, from, width)
	in, from = in[done*width:], from+done
	for j := range width {
		plane := page[j*n+from:][:len(in)/width]
		for i := range plane {
			plane[i] = in[i*width+j]
		}
	}
}
