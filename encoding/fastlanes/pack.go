package fastlanes

import (
	"encoding/binary"
	"runtime"
	"unsafe"
)

//go:generate go run -C ../../tools ./fastlanesgen ../encoding/fastlanes

const errWidth = "fastlanes: width out of range"

const errPlace = "fastlanes: no value with that index"

// direct tells whether the kernels can work on memory as it is: they take the
// bytes of several values for one little-endian integer, at any address.
var direct = binary.NativeEndian.Uint16([]byte{1, 0}) == 1 && loadsAnywhere[runtime.GOARCH]

var loadsAnywhere = map[string]bool{"386": true, "amd64": true, "arm64": true, "loong64": true, "ppc64le": true, "wasm": true}

// Pack writes src[i]-base, cut to its low w bits, to dst[:PackedLen(w)]. It
// panics if dst is shorter or w is not in 1..bits of W.
func Pack[W Word](dst []byte, src *[ChunkLen]W, base W, w int) {
	if !direct {
		packSimple(dst, src, base, w)
		return
	}
	p := unsafe.Pointer(src)
	switch unsafe.Sizeof(base) {
	case 1:
		pack8(dst, (*[ChunkLen / 8]uint64)(p), uint8(base), w)
	case 2:
		pack16(dst, (*[ChunkLen / 4]uint64)(p), uint16(base), w)
	case 4:
		pack32(dst, (*[ChunkLen / 2]uint64)(p), uint32(base), w)
	case 8:
		pack64(dst, (*[ChunkLen]uint64)(p), uint64(base), w)
	}
}

// Unpack sets dst to the values packed in src[:PackedLen(w)], plus base
// (wrapping). It panics if src is shorter or w is not in 1..bits of W.
func Unpack[W Word](dst *[ChunkLen]W, src []byte, base W, w int) {
	if !direct {
		unpackSimple(dst, src, base, w)
		return
	}
	if unpackFast(dst, src, base, w) {
		return
	}
	p := unsafe.Pointer(dst)
	switch unsafe.Sizeof(base) {
	case 1:
		unpack8((*[ChunkLen / 8]uint64)(p), src, uint8(base), w)
	case 2:
		unpack16((*[ChunkLen / 4]uint64)(p), src, uint16(base), w)
	case 4:
		unpack32((*[ChunkLen / 2]uint64)(p), src, uint32(base), w)
	case 8:
		unpack64((*[ChunkLen]uint64)(p), src, uint64(base), w)
	}
}

// The kernels work on all lanes that 8 bytes hold at once. split8 and its
// siblings put the base into each lane, with its highest bit apart, since
// carries must stop there.
func split8(base uint8) (lo, hi uint64)   { return split(uint64(base)*(^uint64(0)/0xff), high8) }
func split16(base uint16) (lo, hi uint64) { return split(uint64(base)*(^uint64(0)/0xffff), high16) }
func split32(base uint32) (lo, hi uint64) { return split(uint64(base)*(^uint64(0)/0xffffffff), high32) }

func split(all, high uint64) (lo, hi uint64) { return all &^ high, all & high }

// The highest bit of each lane.
const (
	high8  = 0x8080808080808080
	high16 = 0x8000800080008000
	high32 = 0x8000000080000000
)

// plus8 and its siblings add the base in all lanes at full width, minus8 and
// its siblings subtract it.
func plus8(x, lo, hi uint64) uint64  { return (x&^high8 + lo) ^ hi ^ x&high8 }
func plus16(x, lo, hi uint64) uint64 { return (x&^high16 + lo) ^ hi ^ x&high16 }
func plus32(x, lo, hi uint64) uint64 { return (x&^high32 + lo) ^ hi ^ x&high32 }

func minus8(x, lo, hi uint64) uint64  { return ((x | high8) - lo) ^ hi ^ ^x&high8 }
func minus16(x, lo, hi uint64) uint64 { return ((x | high16) - lo) ^ hi ^ ^x&high16 }
func minus32(x, lo, hi uint64) uint64 { return ((x | high32) - lo) ^ hi ^ ^x&high32 }
