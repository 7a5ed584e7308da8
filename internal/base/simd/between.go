package simd

import "math/bits"

// Unsigned are the words that Between compares. Signed numbers are compared as unsigned ones,
// in arithmetic that wraps.
type Unsigned interface {
	uint8 | uint16 | uint32 | uint64
}

// Between sets bit i%64 of dst[i/64] for every key i for which key - low is at most
// size, modulo its width; other bits stay as they are. dst is at least
// (len(keys)+63)/64 long.
func Between[W Unsigned](dst []uint64, keys []W, low, size W) {
	dst = dst[:(len(keys)+63)/64]
	n := betweenFast(dst, keys, low, size)
	for i := n; i < len(keys)/64; i++ {
		dst[i] |= wordBetween((*[64]W)(keys[64*i:]), low, size)
	}
	for i, k := range keys[len(keys)&^63:] {
		if k-low <= size {
			dst[len(dst)-1] |= 1 << i
		}
	}
}

// wordBetween has a bit for each of the keys from low to low+size.
func wordBetween[W Unsigned](keys *[64]W, low, size W) (w uint64) {
	most := uint64(size)
	for i := 0; i < 64; i += 8 {
		k := (*[8]W)(keys[i:])
		_, b0 := bits.Sub64(most, uint64(k[0]-low), 0)
		_, b1 := bits.Sub64(most, uint64(k[1]-low), 0)
		_, b2 := bits.Sub64(most, uint64(k[2]-low), 0)
		_, b3 := bits.Sub64(most, uint64(k[3]-low), 0)
		_, b4 := bits.Sub64(most, uint64(k[4]-low), 0)
		_, b5 := bits.Sub64(most, uint64(k[5]-low), 0)
		_, b6 := bits.Sub64(most, uint64(k[6]-low), 0)
		_, b7 := bits.Sub64(most, uint64(k[7]-low), 0)
		w |= (b0 | b1<<1 | b2<<2 | b3<<3 | b4<<4 | b5<<5 | b6<<6 | b7<<7) << (i & 63)
	}
	return ^w
}
