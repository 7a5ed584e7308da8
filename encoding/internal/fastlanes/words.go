package fastlanes

import (
	"encoding/binary"
	"unsafe"
)

// Machines without kernels in assembly process a chunk row by row, and the words of a row, which are adjacent in memory whether packed or
// not, one after the other.

const rowLen = ChunkLen / 8 // bytes of a row of packed words, for every width of words

// order is the order of the groups of 8 rows; it is its own inverse.
var order = [8]int{0, 4, 2, 6, 1, 5, 3, 7}

// index is the position in the chunk of the value in a row and lane.
func index(row, lane int) int { return 16*order[row/8] + 128*(row%8) + lane }

// bitsOf is the number of bits of a word.
func bitsOf[W Word]() int { return int(8 * unsafe.Sizeof(W(0))) }

// unpackWords sets dst to the values of src plus base.
func unpackWords[W Word](dst *[ChunkLen]W, src []byte, base W, w int) {
	bits := bitsOf[W]()
	mask := ^W(0) >> (bits - w)
	for row := range bits {
		at, from := row*w/bits*rowLen, row*w%bits // of the word that the value begins in, and its first bit there
		to, words := dst[index(row, 0):][:ChunkLen/bits], unsafe.Pointer(&src[at])
		for lane := range to {
			word := unsafe.Add(words, lane*bits/8)
			v := load[W](word) >> from
			if from+w > bits {
				v |= load[W](unsafe.Add(word, rowLen)) << (bits - from)
			}
			to[lane] = v&mask + base
		}
	}
}

// packWords sets dst to the low bits of the values of src minus base.
func packWords[W Word](dst []byte, src *[ChunkLen]W, base W, w int) {
	bits := bitsOf[W]()
	mask := ^W(0) >> (bits - w)
	for row := range bits {
		at, from := row*w/bits*rowLen, row*w%bits
		values, words := src[index(row, 0):][:ChunkLen/bits], unsafe.Pointer(&dst[at])
		for lane, v := range values {
			word := unsafe.Add(words, lane*bits/8)
			v = (v - base) & mask
			if from == 0 {
				store(word, v)
				continue
			}
			store(word, load[W](word)|v<<from)
			if from+w > bits {
				store(unsafe.Add(word, rowLen), v>>(bits-from))
			}
		}
	}
}

// load returns the little-endian word at p.
func load[W Word](p unsafe.Pointer) W {
	switch unsafe.Sizeof(W(0)) {
	case 1:
		return W(*(*byte)(p))
	case 2:
		return W(binary.LittleEndian.Uint16((*[2]byte)(p)[:]))
	case 4:
		return W(binary.LittleEndian.Uint32((*[4]byte)(p)[:]))
	}
	return W(binary.LittleEndian.Uint64((*[8]byte)(p)[:]))
}

// store is the inverse of load.
func store[W Word](p unsafe.Pointer, v W) {
	switch unsafe.Sizeof(v) {
	case 1:
		*(*byte)(p) = byte(v)
	case 2:
		binary.LittleEndian.PutUint16((*[2]byte)(p)[:], uint16(v))
	case 4:
		binary.LittleEndian.PutUint32((*[4]byte)(p)[:], uint32(v))
	default:
		binary.LittleEndian.PutUint64((*[8]byte)(p)[:], uint64(v))
	}
}
