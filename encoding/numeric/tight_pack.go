package numeric

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// TightPack, code 0x800a (edition 2026), integers (T of size bytes): FFOR without
// chunks, for sequences that are short or end in the middle of one.
//
//	0a 80 | T base | u8 W | zeros up to 8, or 16 if size is 8 | ceil(n*W/8) bytes: value - base, modulo 2^bits
//
// 1 <= W <= bits of T. Value i has the bits i*W to i*W+W-1, counted from the least
// significant bit of each byte; what is left of the last byte is zero. Example,
// uint16 1000, 1001, 1003:
//
//	0a 80 | e8 03 | 02 | 00 00 00 | 34
type tightPack[U word] struct {
	base U
	w    int
	data []byte
}

func parseTight[U word](tree []byte, n int) (p tightPack[U], err error) {
	size := sizeOf[U]()
	header, payload, err := split(tree, size+1)
	if err != nil {
		return p, err
	}
	p = tightPack[U]{loadOne[U](header), int(header[size]), payload}
	if p.w < 1 || p.w > bitsOf[U]() {
		return p, fault.Corruptf("width of %d bits in values of %d", p.w, bitsOf[U]())
	}
	if uint64(len(payload)) != (uint64(n)*uint64(p.w)+7)/8 {
		return p, fault.Corruptf("%d bytes for %d values of %d bits", len(payload), n, p.w)
	}
	return p, nil
}

// tightSize is the size of n values of w bits.
func tightSize(n, w int) int { return (n*w + 7) / 8 }

func decodeTight[U word](dst []U, tree []byte) error {
	p, err := parseTight[U](tree, len(dst))
	if err != nil {
		return err
	}
	p.unpack(dst)
	return nil
}

// tightLoad is how many bytes are looked at for a value: 8, and one more for wide
// ones that begin in the middle of a byte.
const tightLoad = 9

// unpack reads the values for which all bytes are there from where they are, and
// the last ones from a copy with zeros behind it.
func (p *tightPack[U]) unpack(dst []U) {
	fast := 0
	if room := len(p.data) - tightLoad; room >= 0 {
		fast = int(min((8*uint64(room)+7)/uint64(p.w)+1, uint64(len(dst))))
		p.read(dst[:fast], p.data, 0)
	}
	var tail [3 * tightLoad]byte
	at := uint64(fast) * uint64(p.w)
	copy(tail[:], p.data[min(at/8, uint64(len(p.data))):])
	p.read(dst[fast:], tail[:], at%8)
}

// read reads values from a bit of data on, which has the bytes that are looked at.
func (p *tightPack[U]) read(dst []U, data []byte, at uint64) {
	base, w := p.base, uint64(p.w)
	mask := ^U(0) >> (bitsOf[U]() - p.w)
	if w > 64-7 {
		for i := range dst {
			b := data[at>>3:][:tightLoad]
			v := binary.LittleEndian.Uint64(b)>>(at&7) | uint64(b[8])<<(64-at&7)
			dst[i] = U(v)&mask + base
			at += w
		}
		return
	}
	if len(dst) == 0 || uint64(len(data)) < (at+uint64(len(dst)-1)*w)>>3+8 {
		return
	}
	from := unsafe.Pointer(unsafe.SliceData(data))
	for i := range dst {
		dst[i] = U(load64(from, at>>3)>>(at&7))&mask + base
		at += w
	}
}

// appendTight packs the distances from the least value, in the order of in.
func appendTight[U word](e *enc, dst []byte, in input[U], p *plan) []byte {
	low, w := U(p.reference), p.width
	if w == 0 {
		var high U
		low, high = in.bounds()
		if low == high {
			return appendSingleValue(e, dst, in)
		}
		w = bits.Len64(uint64(high - low))
	}
	start := len(dst)
	dst = append(storeOne(appendCode(dst, encoding.TightPack), low), byte(w))
	out := bitWriter{dst: padTree(dst, start)}
	for _, v := range in.values {
		out.put(uint64(v-low), w)
	}
	return out.end()
}
