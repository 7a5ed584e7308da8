package fastlanes

import "unsafe"

// order is the order of the groups of 8 rows; it is its own inverse.
var order = [8]int{0, 4, 2, 6, 1, 5, 3, 7}

// index is the position in the chunk of the value in a row and lane.
func index(row, lane int) int { return 16*order[row/8] + 128*(row%8) + lane }

// packSimple is the formula of the layout, bit by bit. The kernels must agree with it, and machines without suitable
// kernels use it. w is in 1..bits of W.
func packSimple[W Word](dst []byte, src *[ChunkLen]W, base W, w int) {
	size := int(unsafe.Sizeof(base))
	bits := 8 * size
	lanes := ChunkLen / bits
	dst = dst[:PackedLen(w)]
	clear(dst)
	for lane := range lanes {
		for row := range bits {
			v := uint64(src[index(row, lane)] - base)
			for b := range w {
				at := row*w + b // start of the value's bits in the lane
				word := at/bits*lanes + lane
				dst[word*size+at%bits/8] |= byte(v>>b&1) << (at % 8)
			}
		}
	}
}

// unpackSimple is the inverse of packSimple.
func unpackSimple[W Word](dst *[ChunkLen]W, src []byte, base W, w int) {
	size := int(unsafe.Sizeof(base))
	bits := 8 * size
	lanes := ChunkLen / bits
	src = src[:PackedLen(w)]
	for lane := range lanes {
		for row := range bits {
			var v uint64
			for b := range w {
				at := row*w + b
				word := at/bits*lanes + lane
				v |= uint64(src[word*size+at%bits/8]>>(at%8)&1) << b
			}
			dst[index(row, lane)] = W(v) + base
		}
	}
}
