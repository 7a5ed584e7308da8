package fastlanes

import "unsafe"

const errPlace = "fastlanes: no value with that index"

// Pick sets dst to the values with the given indexes, plus base. src holds consecutive packed chunks, and indexes
// count from the first. It panics if src is too short, or if w is not in 1..bits of W.
func Pick[W Word](dst []W, src []byte, places []uint32, base W, w int) {
	size := uint32(unsafe.Sizeof(base))
	bits := 8 * size
	chunk := packedLen(base, w)
	if len(places) == 0 {
		return
	}
	width := uint32(w)
	mask := ^W(0) >> ((bits - width) & (bits - 1))
	n := uint64(len(src)/chunk) * ChunkLen
	p := unsafe.Pointer(unsafe.SliceData(src))
	dst = dst[:len(places)]
	for k, i := range places {
		if uint64(i) >= n {
			panic(errPlace)
		}
		row, lane := place(i, ChunkLen/bits)
		from := row * width // start of the value's bits in the lane
		to := from + width - 1
		at := unsafe.Add(p, int(i/ChunkLen)*chunk+int(lane*size))
		low := load[W](unsafe.Add(at, from/bits*(ChunkLen/8)))
		high := load[W](unsafe.Add(at, to/bits*(ChunkLen/8))) // the same word, or the next of the lane
		dst[k] = (low>>(from%bits)|high<<1<<(^from%bits))&mask + base
	}
}

// place returns the row and the lane of an index: the inverse of index.
func place(i, lanes uint32) (row, lane uint32) {
	group := i / 16 & 7 &^ (lanes/16 - 1)
	return uint32(0x73516240>>(4*group))&7<<3 | i/128&7, i % min(lanes, 128)
}
