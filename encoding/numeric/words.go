package numeric

import (
	"encoding/binary"
	"unsafe"
)

// bigEndian machines have to swap the bytes of what is read and written.
var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// sizeOf is the number of bytes of a value.
func sizeOf[T Value]() int {
	var v T
	return int(unsafe.Sizeof(v))
}

// bytesOf is the memory of values.
func bytesOf[T Value](values []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*sizeOf[T]())
}

// load reads len(dst) little-endian values. src holds at least as many.
func load[T Value](dst []T, src []byte) {
	b := bytesOf(dst)
	copy(b, src[:len(b)])
	if bigEndian {
		swap(b, sizeOf[T]())
	}
}

// store appends values in little-endian order.
func store[T Value](dst []byte, values []T) []byte {
	at := len(dst)
	dst = append(dst, bytesOf(values)...)
	if bigEndian {
		swap(dst[at:], sizeOf[T]())
	}
	return dst
}

// swap reverses the bytes of each of the values of b.
func swap(b []byte, size int) {
	for ; len(b) >= size; b = b[size:] {
		for i, j := 0, size-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
}

// loadOne reads one little-endian value from src, which holds it whole.
func loadOne[U word](src []byte) U {
	var v U
	switch unsafe.Sizeof(v) {
	case 1:
		return U(src[0])
	case 2:
		return U(binary.LittleEndian.Uint16(src))
	case 4:
		return U(binary.LittleEndian.Uint32(src))
	}
	return U(binary.LittleEndian.Uint64(src))
}

// storeOne appends one value in little-endian order.
func storeOne[U word](dst []byte, v U) []byte {
	switch unsafe.Sizeof(v) {
	case 1:
		return append(dst, byte(v))
	case 2:
		return binary.LittleEndian.AppendUint16(dst, uint16(v))
	case 4:
		return binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(v))
}

// fill sets all of dst to v.
func fill[U comparable](dst []U, v U) {
	const direct = 64
	if len(dst) <= direct {
		for i := range dst {
			dst[i] = v
		}
		return
	}
	var zero U
	if v == zero {
		clear(dst)
		return
	}
	head := dst[:direct]
	for i := range head {
		head[i] = v
	}
	for done := direct; done < len(dst); done *= 2 {
		copy(dst[done:], dst[:done])
	}
}
