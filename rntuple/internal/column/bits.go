package column

// Elements of a number of bits that is none of whole bytes lie side by side, the least significant bit first.

// bitsAt gives the bits from one on: at least 57, or all that there are.
func bitsAt(src []byte, bit uint64) uint64 {
	at := int(bit / 8)
	if at+8 <= len(src) {
		return le.Uint64(src[at:]) >> (bit % 8)
	}
	var word [8]byte
	if at < len(src) {
		copy(word[:], src[at:])
	}
	return le.Uint64(word[:]) >> (bit % 8)
}

// unpackBits makes a byte of 0 or 1 of each bit from one on.
func unpackBits(out, page []byte, from int) {
	for i := range out {
		out[i] = page[(from+i)/8] >> ((from + i) % 8) & 1
	}
}

// unpackWords gives out 32-bit words, one for each element of so many bits. It loads 8 bytes for each as long as the page has them.
func unpackWords(out []uint32, page []byte, from, bits int) {
	mask := uint64(1)<<bits - 1
	bit := uint64(from) * uint64(bits)
	loads := 0
	if room := 8*int64(len(page)-8) - int64(bit); room >= 0 {
		loads = int(min(room/int64(bits)+1, int64(len(out))))
	}
	for i := range out[:loads] {
		out[i] = uint32(le.Uint64(page[bit/8:]) >> (bit % 8) & mask)
		bit += uint64(bits)
	}
	for i := loads; i < len(out); i++ {
		out[i] = uint32(bitsAt(page, bit) & mask)
		bit += uint64(bits)
	}
}

// packBits stores words of 32 bits, as elements of so many bits from one on, which begins at a byte.
func packBits(page, in []byte, from, bits int) {
	page = page[uint64(from)*uint64(bits)/8:]
	word, fill := uint64(0), 0
	for ; len(in) >= 4; in = in[4:] {
		word |= uint64(le.Uint32(in)) & (1<<bits - 1) << fill
		fill += bits
		if fill >= 32 {
			le.PutUint32(page, uint32(word))
			page, word, fill = page[4:], word>>32, fill-32
		}
	}
	for i := 0; fill > 0; i++ {
		page[i] = byte(word)
		word, fill = word>>8, fill-8
	}
}

// unpackTruncated restores floats of which only the upper bits are stored.
func unpackTruncated(out, page []byte, from, bits int) {
	var words [blockLen]uint32
	for len(out) > 0 {
		k := min(len(out)/4, blockLen)
		unpackWords(words[:k], page, from, bits)
		shift := uint(32-bits) & 31
		for i, w := range words[:k] {
			le.PutUint32(out[4*i:], w<<shift)
		}
		out, from = out[4*k:], from+k
	}
}

// step is the difference between neighbours among the values of a quantized column.
func (c *Codec) step() float64 { return (c.max - c.min) / float64(uint64(1)<<c.bits-1) }

func dequantize[T float32 | float64](d *decoder, out []T, from int) {
	var words [blockLen]uint32
	step := d.step()
	for len(out) > 0 {
		k := min(len(out), blockLen)
		unpackWords(words[:k], d.page, from, d.bits)
		for i, w := range words[:k] {
			out[i] = T(d.dequantized(w, step))
		}
		out, from = out[k:], from+k
	}
}

// dequantized rounds the product before the sum, on all machines.
func (c *Codec) dequantized(q uint32, step float64) float64 {
	return min(float64(float64(q)*step)+c.min, c.max)
}
