package fastlanes

import (
	"encoding/binary"
	"unsafe"
)

// At is the value with index i, from 0 to 1023, of a packed chunk, plus base: one
// value of [Unpack] without the others. It panics if src is shorter than
// PackedLen(w); w must be in 1..bits of W.
func At[W Word](src []byte, i int, base W, w int) W {
	size := int(unsafe.Sizeof(base))
	bits := 8 * size
	src = src[:PackedLen(w)]
	row, lane := place(i, ChunkLen/bits)
	at := row * w
	stride := ChunkLen / 8                              // bytes from a word of a lane to the next
	first := at/bits*stride + lane*size                 // where the word of the first bit lies
	v := uint64(word(src[first:], base)) >> (at % bits) // at%bits < 64
	if got := bits - at%bits; got < w {
		v |= uint64(word(src[first+stride:], base)) << got
	}
	return W(v&(^uint64(0)>>(64-w))) + base
}

// place is the row and the lane of an index: the inverse of index.
func place(i, lanes int) (row, lane int) {
	i &= ChunkLen - 1
	lane = i & (min(lanes, 128) - 1)
	return 8*order[i&127>>4&^(lanes>>4-1)] + i>>7, lane
}

// word is a little-endian word at the start of src.
func word[W Word](src []byte, _ W) W {
	var v W
	switch unsafe.Sizeof(v) {
	case 1:
		return W(src[0])
	case 2:
		return W(binary.LittleEndian.Uint16(src))
	case 4:
		return W(binary.LittleEndian.Uint32(src))
	}
	return W(binary.LittleEndian.Uint64(src))
}
