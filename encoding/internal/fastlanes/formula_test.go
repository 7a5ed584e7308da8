package fastlanes

import "unsafe"

// packSimple is the formula of the layout, bit by bit, with which the kernels must agree. w is in 1..bits of W.
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
