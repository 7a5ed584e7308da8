package fastlanes

import (
	"encoding/binary"
	"runtime"
	"unsafe"
)

const errWidth = "fastlanes: width out of range"

// direct reports whether rows can be processed in place: the loops load several values as one little-endian integer,
// at any address.
var direct = binary.NativeEndian.Uint16([]byte{1, 0}) == 1 && loadsAnywhere[runtime.GOARCH]

var loadsAnywhere = map[string]bool{"386": true, "amd64": true, "arm64": true, "loong64": true, "ppc64le": true, "wasm": true}

// Pack writes the low w bits of each src[i]-base to dst[:PackedLen(w)]. It panics if dst is shorter or w is not in
// 1..bits of W.
func Pack[W Word](dst []byte, src *[ChunkLen]W, base W, w int) {
	dst = dst[:packedLen(base, w)]
	switch {
	case packFast(dst, src, base, w):
	case direct:
		packRows(rowsOf(unsafe.SliceData(dst), len(dst)), rowsOf(src, int(unsafe.Sizeof(*src))), uint64(base))
	default:
		packSimple(dst, src, base, w)
	}
}

// Unpack sets dst to the values packed in src[:PackedLen(w)], plus base
// (wrapping). It panics if src is shorter or w is not in 1..bits of W.
func Unpack[W Word](dst *[ChunkLen]W, src []byte, base W, w int) {
	src = src[:packedLen(base, w)]
	switch {
	case unpackFast(dst, src, base, w):
	case direct:
		unpackRows(rowsOf(dst, int(unsafe.Sizeof(*dst))), rowsOf(unsafe.SliceData(src), len(src)), uint64(base))
	default:
		unpackSimple(dst, src, base, w)
	}
}

// packedLen is PackedLen of a width, which it checks.
func packedLen[W Word](_ W, w int) int {
	if w < 1 || w > int(8*unsafe.Sizeof(W(0))) {
		panic(errWidth)
	}
	return PackedLen(w)
}

// row is a row of values or of packed words: 128 bytes, for every width of words.
type row = [16]uint64

// rowsOf returns the rows in size bytes at p.
func rowsOf[T any](p *T, size int) []row {
	return unsafe.Slice((*row)(unsafe.Pointer(p)), size/int(unsafe.Sizeof(row{})))
}
