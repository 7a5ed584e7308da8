package column

// The lowest bits of all elements in a word of 64 bits, by their bytes.
const (
	low2 = 0x0001000100010001
	low4 = 0x0000000100000001
)

// unzigzag undoes zigzag encoding in place.
func unzigzag(b []byte, width int) {
	i := 0
	switch width {
	case 2:
		for ; i+8 <= len(b); i += 8 {
			le.PutUint64(b[i:], decodeZigzag(le.Uint64(b[i:]), low2, 16))
		}
	case 4:
		for ; i+8 <= len(b); i += 8 {
			le.PutUint64(b[i:], decodeZigzag(le.Uint64(b[i:]), low4, 32))
		}
	case 8:
		for ; i+8 <= len(b); i += 8 {
			u := le.Uint64(b[i:])
			le.PutUint64(b[i:], u>>1^-(u&1))
		}
	}
	if i < len(b) {
		var last [8]byte
		n := copy(last[:], b[i:])
		unzigzag(last[:], width)
		copy(b[i:], last[:n])
	}
}

// dozigzag encodes src into dst.
func dozigzag(dst, src []byte, width int) {
	dst = dst[:len(src)]
	i := 0
	switch width {
	case 2:
		for ; i+8 <= len(src); i += 8 {
			le.PutUint64(dst[i:], encodeZigzag(le.Uint64(src[i:]), low2, 16))
		}
	case 4:
		for ; i+8 <= len(src); i += 8 {
			le.PutUint64(dst[i:], encodeZigzag(le.Uint64(src[i:]), low4, 32))
		}
	case 8:
		for ; i+8 <= len(src); i += 8 {
			v := int64(le.Uint64(src[i:]))
			le.PutUint64(dst[i:], uint64(v<<1^v>>63))
		}
	}
	if i < len(src) {
		var last [8]byte
		n := copy(last[:], src[i:])
		dozigzag(last[:], last[:], width)
		copy(dst[i:], last[:n])
	}
}

// decodeZigzag turns 0, 1, 2, 3 into 0, -1, 1, -2, in a word of several elements of so many bits.
func decodeZigzag(x, low uint64, bits int) uint64 {
	negative := x & low
	return x>>1&^(low<<(bits-1)) ^ (negative<<bits - negative)
}

func encodeZigzag(x, low uint64, bits int) uint64 {
	negative := x >> (bits - 1) & low
	return x<<1&^low ^ (negative<<bits - negative)
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
