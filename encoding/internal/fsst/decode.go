package fsst

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// Decoder decodes codes to strings, once Reset has set a table. It may be used concurrently, except for Reset.
type Decoder struct {
	values  [256]uint64
	lengths [256]uint8
	n       int // symbols; of the codes from n on, only 255 is valid

	above, small uint64 // for special
}

// Reset sets the table as [Table.Append] stores it: 8 bytes for each symbol in symbols, one in lengths.
func (d *Decoder) Reset(symbols, lengths []byte) error {
	if len(lengths) > MaxSymbols || len(symbols) != 8*len(lengths) {
		return fault.Corruptf("FSST table of %d lengths and %d bytes of symbols", len(lengths), len(symbols))
	}
	for i, n := range lengths {
		if n < 1 || n > MaxSymbolLen {
			return fault.Corruptf("FSST symbol %d is %d bytes long", i, n)
		}
		d.values[i] = binary.LittleEndian.Uint64(symbols[8*i:])
		d.lengths[i] = n
	}
	d.n = len(lengths)
	d.setSpecial()
	return nil
}

// everyByte times b is 8 times the byte b.
const everyByte = 0x0101010101010101

// setSpecial prepares special. Adding a number to the low 7 bits of a byte sets the highest bit of the sum if they
// are large enough. With more than 128 symbols, a byte is special if its own highest bit and that of the sum are set.
// With fewer symbols, it is special if either is set.
func (d *Decoder) setSpecial() {
	if d.n > 128 {
		d.above, d.small = uint64(256-d.n)*everyByte, 0
	} else {
		d.above, d.small = uint64(128-d.n)*everyByte, 0x80*everyByte
	}
}

// special marks the codes, of 8, that are not those of symbols, by their highest bits.
func (d *Decoder) special(codes uint64) uint64 {
	sum := codes&(0x7f*everyByte) + d.above
	return (codes&sum | (codes|sum)&d.small) & (0x80 * everyByte)
}

// Decode writes the strings of src to dst, which must have their exact size. Bytes beyond it, up to its capacity, may
// be overwritten with arbitrary values. It returns len(dst).
func (d *Decoder) Decode(dst, src []byte) (int, error) {
	o, rest := d.decodeFast(dst[:cap(dst)], len(dst), src)
	return d.decodeSlow(dst, o, rest)
}

// step is the maximum size of the text of 8 codes.
const step = 8 * MaxSymbolLen

// decodeFast decodes 8 codes at a time while there is space behind them. It returns the number of written bytes, and
// the remaining codes: the last ones, or all from an invalid one.
func (d *Decoder) decodeFast(room []byte, limit int, src []byte) (int, []byte) {
	limit = min(limit, len(room)-step+1)
	o := 0
	for {
		o, src = d.decodeSymbols(room, o, limit, src)
		if len(src) <= 8 || o >= limit {
			return o, src
		}
		k := bits.TrailingZeros64(d.special(binary.LittleEndian.Uint64(src))) / 8
		for _, c := range src[:k] {
			binary.LittleEndian.PutUint64(room[o:], d.values[c])
			o += int(d.lengths[c])
		}
		if src[k] != escape {
			return o, src[k:]
		}
		room[o] = src[k+1]
		o++
		src = src[k+2:]
	}
}

// decodeSymbols decodes 8 codes at a time as long as all of them are those of symbols and o is below limit, behind
// which there is space for a step. It uses addresses, so that a code takes five instructions.
func (d *Decoder) decodeSymbols(room []byte, o, limit int, src []byte) (int, []byte) {
	out, in := unsafe.Pointer(unsafe.SliceData(room)), unsafe.Pointer(unsafe.SliceData(src))
	left := len(src)
	for ; left > 8 && o < limit; left -= 8 {
		if d.special(binary.LittleEndian.Uint64((*[8]byte)(in)[:])) != 0 {
			break
		}
		o = d.put(out, o, *(*byte)(in))
		o = d.put(out, o, *(*byte)(unsafe.Add(in, 1)))
		o = d.put(out, o, *(*byte)(unsafe.Add(in, 2)))
		o = d.put(out, o, *(*byte)(unsafe.Add(in, 3)))
		o = d.put(out, o, *(*byte)(unsafe.Add(in, 4)))
		o = d.put(out, o, *(*byte)(unsafe.Add(in, 5)))
		o = d.put(out, o, *(*byte)(unsafe.Add(in, 6)))
		o = d.put(out, o, *(*byte)(unsafe.Add(in, 7)))
		in = unsafe.Add(in, 8)
	}
	return o, src[len(src)-left:]
}

// put writes the symbol of a code at o, and returns the end of the symbol.
func (d *Decoder) put(out unsafe.Pointer, o int, c byte) int {
	binary.LittleEndian.PutUint64((*[8]byte)(unsafe.Add(out, o))[:], d.values[c])
	return o + int(d.lengths[c])
}

// decodeSlow decodes the other codes one by one, and checks every length.
func (d *Decoder) decodeSlow(dst []byte, o int, src []byte) (int, error) {
	for i := 0; i < len(src); i++ {
		var word [8]byte
		n := 1
		if c := src[i]; c != escape {
			if int(c) >= d.n {
				return 0, fault.Corruptf("FSST code %d in a table of %d", c, d.n)
			}
			binary.LittleEndian.PutUint64(word[:], d.values[c])
			n = int(d.lengths[c])
		} else {
			if i++; i == len(src) {
				return 0, fault.Corruptf("FSST stream ends in an escape")
			}
			word[0] = src[i]
		}
		if n > len(dst)-o {
			return 0, fault.Corruptf("FSST stream is longer than its %d bytes", len(dst))
		}
		o += copy(dst[o:], word[:n])
	}
	if o != len(dst) {
		return 0, fault.Corruptf("FSST stream gives %d of %d bytes", o, len(dst))
	}
	return o, nil
}
