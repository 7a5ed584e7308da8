package column

import "unsafe"

// unzigzag undoes zigzag encoding in place: 0, 1, 2, 3 become 0, -1, 1, -2.
func unzigzag(b []byte, width int) {
	switch width {
	case 2:
		unzigzagOf(view[uint16](b))
	case 4:
		unzigzagOf(view[uint32](b))
	case 8:
		unzigzagOf(view[uint64](b))
	}
}

func unzigzagOf[T uint16 | uint32 | uint64](values []T) {
	for i, u := range values {
		values[i] = u>>1 ^ -(u & 1)
	}
}

// dozigzag encodes src into dst.
func dozigzag(dst, src []byte, width int) {
	switch width {
	case 2:
		dozigzagOf(view[int16](dst), view[int16](src))
	case 4:
		dozigzagOf(view[int32](dst), view[int32](src))
	case 8:
		dozigzagOf(view[int64](dst), view[int64](src))
	}
}

func dozigzagOf[T int16 | int32 | int64](dst, src []T) {
	dst = dst[:len(src)]
	sign := 8*unsafe.Sizeof(T(0)) - 1
	for i, v := range src {
		dst[i] = v<<1 ^ v>>sign
	}
}

// undelta turns differences into sums in place, from the sum of those before on. The result is the last sum.
func undelta[T uint32 | uint64](values []T, sum T) T {
	for i, v := range values {
		sum += v
		values[i] = sum
	}
	return sum
}

// dodelta puts the differences of elements into dst, the first to last. The result is the last element.
func dodelta[T uint32 | uint64](dst, src []T, last T) T {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = v - last
		last = v
	}
	return last
}
