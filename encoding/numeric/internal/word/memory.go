package word

import (
	"encoding/binary"
	"unsafe"
)

// BigEndian machines have to swap the bytes of what is read and written.
var BigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// SizeOf is the number of bytes of a value.
func SizeOf[T Value]() int {
	var v T
	return int(unsafe.Sizeof(v))
}

// BitsOf is the number of bits of a word.
func BitsOf[U Uint]() int {
	var v U
	return 8 * int(unsafe.Sizeof(v))
}

// As is the same memory as values of another type of the same size.
func As[U, T Value](values []T) []U {
	return unsafe.Slice((*U)(unsafe.Pointer(unsafe.SliceData(values))), len(values))
}

// Bytes is the memory of values.
func Bytes[T Value](values []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*SizeOf[T]())
}

// Load reads len(dst) little-endian values. src holds at least as many.
func Load[T Value](dst []T, src []byte) {
	b := Bytes(dst)
	copy(b, src[:len(b)])
	if BigEndian {
		Swap(b, SizeOf[T]())
	}
}

// Store appends values in little-endian order.
func Store[T Value](dst []byte, values []T) []byte {
	at := len(dst)
	dst = append(dst, Bytes(values)...)
	if BigEndian {
		Swap(dst[at:], SizeOf[T]())
	}
	return dst
}

// Swap reverses the bytes of each of the values of b.
func Swap(b []byte, size int) {
	for ; len(b) >= size; b = b[size:] {
		for i, j := 0, size-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
}

// LoadOne reads one little-endian value from src, which holds it whole.
func LoadOne[U Uint](src []byte) U {
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

// StoreOne appends one value in little-endian order.
func StoreOne[U Uint](dst []byte, v U) []byte {
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

// Load64 reads 8 bytes in little-endian order, which the caller knows to be there.
func Load64(data unsafe.Pointer, at uint64) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(data, at))[:])
}

// SignedOf is a word as the signed number that it stands for.
func SignedOf[U Uint](v U) int64 {
	shift := 64 - BitsOf[U]()
	return int64(uint64(v)<<shift) >> shift
}

// Fill sets all of dst to v.
func Fill[U comparable](dst []U, v U) {
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

// Span is the least and largest of values, each with flip applied.
func Span[U Uint](values []U, flip U) (low, high U) {
	if len(values) == 0 {
		return flip, flip
	}
	low = values[0] ^ flip
	high = low
	low2, high2 := low, high // two chains run at a time
	for ; len(values) >= 2; values = values[2:] {
		a, b := values[0]^flip, values[1]^flip
		low, high = min(low, a), max(high, a)
		low2, high2 = min(low2, b), max(high2, b)
	}
	if len(values) == 1 {
		a := values[0] ^ flip
		low, high = min(low, a), max(high, a)
	}
	return min(low, low2), max(high, high2)
}
