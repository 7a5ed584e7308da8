// Package bitmap is a view of bits in bytes, least significant bit first, at
// any bit offset: Arrow's validity bitmaps without importing Arrow.
package bitmap

import (
	"encoding/binary"
	"math/bits"
)

// Bits is a read-only view of Len bits from bit Off of Data. If Data is nil, all bits are set,
// so that a column without nulls needs no bitmap.
type Bits struct {
	Data []byte
	Off  int
	Len  int
}

// All is n set bits.
func All(n int) Bits { return Bits{Len: n} }

// At is the i-th bit.
func (b Bits) At(i int) bool {
	if b.Data == nil {
		return true
	}
	i += b.Off
	return b.Data[i>>3]>>(i&7)&1 != 0
}

// Slice is the bits from i up to j.
func (b Bits) Slice(i, j int) Bits {
	if b.Data == nil {
		return Bits{Len: j - i}
	}
	return Bits{Data: b.Data, Off: b.Off + i, Len: j - i}
}

// Word is up to 64 bits from bit i on, the first in the lowest bit; bits past
// the end are 0.
func (b Bits) Word(i int) uint64 {
	n := min(b.Len-i, 64)
	if n <= 0 {
		return 0
	}
	mask := ^uint64(0) >> (64 - n)
	if b.Data == nil {
		return mask
	}
	at := b.Off + i
	d, shift := b.Data[at>>3:], uint(at&7)
	if shift == 0 && n == 64 {
		return binary.LittleEndian.Uint64(d)
	}
	if len(d) >= 9 {
		w := binary.LittleEndian.Uint64(d) >> shift
		if shift != 0 {
			w |= uint64(d[8]) << (64 - shift)
		}
		return w & mask
	}
	w := uint64(d[0]) >> shift
	for k := 1; k < len(d) && 8*k < n+int(shift); k++ {
		w |= uint64(d[k]) << (8*k - int(shift))
	}
	return w & mask
}

// Count is the number of set bits.
func (b Bits) Count() int {
	if b.Data == nil {
		return b.Len
	}
	n, i := 0, 0
	if head := -b.Off & 7; b.Len >= head+64 {
		n, i = bits.OnesCount64(b.Slice(0, head).Word(0)), head
		words := b.Data[(b.Off+head)>>3:][:(b.Len-head)>>6<<3]
		i += 8 * len(words)
		for ; len(words) >= 32; words = words[32:] {
			n += bits.OnesCount64(binary.LittleEndian.Uint64(words)) + bits.OnesCount64(binary.LittleEndian.Uint64(words[8:])) +
				bits.OnesCount64(binary.LittleEndian.Uint64(words[16:])) + bits.OnesCount64(binary.LittleEndian.Uint64(words[24:]))
		}
		for ; len(words) > 0; words = words[8:] {
			n += bits.OnesCount64(binary.LittleEndian.Uint64(words))
		}
	}
	for ; i < b.Len; i += 64 {
		n += bits.OnesCount64(b.Word(i))
	}
	return n
}

// Nulls is the number of clear bits.
func (b Bits) Nulls() int { return b.Len - b.Count() }

// EachClear calls f for each clear bit.
func (b Bits) EachClear(f func(i int)) {
	for i := 0; i < b.Len; i += 64 {
		w := ^b.Word(i)
		if rest := b.Len - i; rest < 64 {
			w &= 1<<rest - 1
		}
		for ; w != 0; w &= w - 1 {
			f(i + bits.TrailingZeros64(w))
		}
	}
}

// CopyTo writes the bits into dst from bit off on; bits of dst outside the
// range stay as they are.
func (b Bits) CopyTo(dst []byte, off int) {
	i := 0
	if head := -off & 7; b.Data != nil && (b.Off^off)&7 == 0 && b.Len >= head+8 {
		PutWord(dst, off, b.Word(0), head)
		n := (b.Len - head) >> 3
		copy(dst[(off+head)>>3:][:n], b.Data[(b.Off+head)>>3:][:n])
		i = head + 8*n
	}
	for ; i < b.Len; i += 64 {
		PutWord(dst, off+i, b.Word(i), min(b.Len-i, 64))
	}
}

// PutWord writes the lowest n bits of w (n up to 64) into dst from bit off on.
func PutWord(dst []byte, off int, w uint64, n int) {
	if n == 64 {
		d, shift := dst[off>>3:], off&7
		below := uint64(1)<<shift - 1 // bits that stay
		binary.LittleEndian.PutUint64(d, binary.LittleEndian.Uint64(d)&below|w<<shift)
		if shift > 0 {
			d[8] = d[8]&^byte(below) | byte(w>>(64-shift))
		}
		return
	}
	for n > 0 {
		shift := off & 7
		k := min(8-shift, n)
		mask := byte(1<<k-1) << shift
		p := &dst[off>>3]
		*p = *p&^mask | byte(w)<<shift&mask
		w >>= k
		off += k
		n -= k
	}
}

// SetRange sets n bits of dst from bit off on.
func SetRange(dst []byte, off, n int) { fill(dst, off, n, 0xff) }

// ClearRange clears n bits of dst from bit off on.
func ClearRange(dst []byte, off, n int) { fill(dst, off, n, 0) }

// fill gives n bits of dst from bit off on the value of those of b.
func fill(dst []byte, off, n int, b byte) {
	if head := min(-off&7, n); head > 0 {
		PutWord(dst, off, uint64(b), head)
		off, n = off+head, n-head
	}
	whole := dst[off>>3:][:n>>3]
	if b == 0 {
		clear(whole) // many times as fast as the loop
	} else {
		for i := range whole {
			whole[i] = b
		}
	}
	if tail := n & 7; tail > 0 {
		PutWord(dst, off+n-tail, uint64(b), tail)
	}
}

// Bit is 1 for true: the compiler makes it an instruction without a branch.
func Bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
