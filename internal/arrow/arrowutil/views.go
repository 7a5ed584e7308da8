package arrowutil

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// inView is the number of bytes of a value that a view holds instead of its place.
const inView = 12

// viewMasks clear the bytes behind a value of each length: of the first four, and of the other eight.
var viewMasks = func() (m [inView + 1]struct {
	first uint32
	rest  uint64
}) {
	for n := range m {
		m[n].first = uint32(uint64(1)<<(8*min(n, 4)) - 1)
		m[n].rest = uint64(1)<<(8*max(n-4, 0)) - 1
	}
	return m
}()

// ToViews makes a string or binary view array from one with 64-bit offsets. They share data.
func ToViews(mem memory.Allocator, arr arrow.Array, dt arrow.DataType) arrow.Array {
	n := arr.Len()
	views := NewBuffer(mem, n*arrow.ViewHeaderSizeBytes)
	data := arr.Data().Buffers()[2]
	putViews(views.Bytes(), data.Bytes(), Offsets[int64](arr)[:n+1])
	data.Retain()
	return Make(dt, n, []*memory.Buffer{CopyValidity(mem, arr), views, data}, nil, NullN(arr))
}

// putViews writes the view of each value, 16 bytes:
//
//	length, 4 | up to 12 bytes: the value, then zeros
//	length, 4 | more: its first 4 bytes | number of the data buffer, 4: 0 | offset in it, 4
func putViews(views, data []byte, offsets []int64) {
	for i, from := range offsets[:len(offsets)-1] {
		v := (*[arrow.ViewHeaderSizeBytes]byte)(views[i*arrow.ViewHeaderSizeBytes:])
		size := offsets[i+1] - from
		binary.NativeEndian.PutUint32(v[:], uint32(size))
		switch {
		case size > inView:
			binary.NativeEndian.PutUint32(v[4:], binary.NativeEndian.Uint32(data[from:]))
			binary.NativeEndian.PutUint32(v[8:], 0)
			binary.NativeEndian.PutUint32(v[12:], uint32(from))
		case int64(len(data))-from >= inView:
			// Twelve bytes are copied at once, whatever the length.
			src, mask := data[from:from+inView], viewMasks[size]
			binary.LittleEndian.PutUint32(v[4:], binary.LittleEndian.Uint32(src)&mask.first)
			binary.LittleEndian.PutUint64(v[8:], binary.LittleEndian.Uint64(src[4:])&mask.rest)
		default:
			clear(v[4:])
			copy(v[4:], data[from:from+size])
		}
	}
}
