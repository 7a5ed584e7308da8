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
func undelta(b []byte, width int, sum uint64) uint64 {
	if width == 4 {
		return uint64(undelta4(b, uint32(sum)))
	}
	for ; len(b) >= 32; b = b[32:] {
		w := b[:32:32]
		a := sum + le.Uint64(w)
		c := a + le.Uint64(w[8:])
		d := c + le.Uint64(w[16:])
		sum = d + le.Uint64(w[24:])
		le.PutUint64(w, a)
		le.PutUint64(w[8:], c)
		le.PutUint64(w[16:], d)
		le.PutUint64(w[24:], sum)
	}
	for ; len(b) >= 8; b = b[8:] {
		sum += le.Uint64(b)
		le.PutUint64(b, sum)
	}
	return sum
}

func undelta4(b []byte, sum uint32) uint32 {
	for ; len(b) >= 16; b = b[16:] {
		w := b[:16:16]
		a := sum + le.Uint32(w)
		c := a + le.Uint32(w[4:])
		d := c + le.Uint32(w[8:])
		sum = d + le.Uint32(w[12:])
		le.PutUint32(w, a)
		le.PutUint32(w[4:], c)
		le.PutUint32(w[8:], d)
		le.PutUint32(w[12:], sum)
	}
	for ; len(b) >= 4; b = b[4:] {
		sum += le.Uint32(b)
		le.PutUint32(b, sum)
	}
	return sum
}

// dodelta puts the differences of elements into dst, the first to last. The result is the last element.
func dodelta(dst, src []byte, width int, last uint64) uint64 {
	dst = dst[:len(src)]
	if width == 4 {
		last := uint32(last)
		for i := 0; i+4 <= len(src); i += 4 {
			v := le.Uint32(src[i:])
			le.PutUint32(dst[i:], v-last)
			last = v
		}
		return uint64(last)
	}
	for i := 0; i+8 <= len(src); i += 8 {
		v := le.Uint64(src[i:])
		le.PutUint64(dst[i:], v-last)
		last = v
	}
	return last
}
