package fsst

import (
	"encoding/binary"
	"math"

	"github.com/amudai/amudai-go/fault"
)

// Decoder turns codes back into strings. The zero value knows no symbols. It
// is safe for concurrent use, other than Reset.
type Decoder struct {
	entries [256]entry
}

// entry is one symbol; length 0 means that there is no such code.
type entry struct {
	value  uint64
	length uint64
}

// NewDecoder is a decoder for a stored table (see [Table.Append]).
func NewDecoder(symbols, lengths []byte) (*Decoder, error) {
	d := new(Decoder)
	return d, d.Reset(symbols, lengths)
}

// Reset takes another table: 8 bytes a symbol in symbols, one in lengths.
func (d *Decoder) Reset(symbols, lengths []byte) error {
	if len(lengths) > MaxSymbols || len(symbols) != 8*len(lengths) {
		return fault.Corruptf("FSST table of %d lengths and %d bytes of symbols", len(lengths), len(symbols))
	}
	for i, n := range lengths {
		if n < 1 || n > MaxSymbolLen {
			return fault.Corruptf("FSST symbol %d is %d bytes long", i, n)
		}
		d.entries[i] = entry{binary.LittleEndian.Uint64(symbols[8*i:]), uint64(n)}
	}
	clear(d.entries[len(lengths):])
	return nil
}

// Decode writes the strings of src to dst, which must be exactly as long as
// they are; bytes beyond it, up to its capacity, may be overwritten with
// anything. It returns len(dst).
func (d *Decoder) Decode(dst, src []byte) (int, error) {
	n, rest, err := d.decodeFast(dst[:cap(dst)], len(dst), src)
	if err != nil {
		return 0, err
	}
	return d.decodeSlow(dst, n, rest)
}

// decodeFast decodes eight codes at a time, as long as 64 bytes beyond what is
// written fit into room. It returns how much it wrote, and the codes left.
func (d *Decoder) decodeFast(room []byte, limit int, src []byte) (int, []byte, error) {
	o := 0
	for len(src) >= 8 && o < limit && len(room)-o >= 64 {
		codes := binary.LittleEndian.Uint64(src)
		if hasEscape(codes) {
			c := src[0]
			if c == escape {
				room[o] = src[1]
				o++
				src = src[2:]
				continue
			}
			e := &d.entries[c]
			if e.length == 0 {
				return 0, nil, badCode(c)
			}
			binary.LittleEndian.PutUint64(room[o:], e.value)
			o += int(e.length)
			src = src[1:]
			continue
		}
		out := room[o : o+64 : o+64]
		n, bad := uint64(0), uint64(0)
		for range 8 {
			e := &d.entries[byte(codes)]
			binary.LittleEndian.PutUint64(out[n:], e.value)
			n += e.length
			bad |= e.length - 1
			codes >>= 8
		}
		if bad > math.MaxInt64 {
			return 0, nil, badCode(firstBad(d, src))
		}
		o += int(n)
		src = src[8:]
	}
	return o, src, nil
}

// firstBad is the first code without a symbol.
func firstBad(d *Decoder, src []byte) byte {
	for _, c := range src {
		if d.entries[c].length == 0 {
			return c
		}
	}
	return 0
}

func badCode(c byte) error { return fault.Corruptf("FSST code %d is not in the table", c) }

// hasEscape tells whether one of the 8 bytes is 255.
func hasEscape(codes uint64) bool {
	// A byte of the complement is 0: subtracting 1 borrows into its high bit.
	x := ^codes
	return (x-0x0101010101010101)&codes&0x8080808080808080 != 0
}

// decodeSlow decodes the rest code by code and checks every length.
func (d *Decoder) decodeSlow(dst []byte, o int, src []byte) (int, error) {
	for i := 0; i < len(src); i++ {
		var word [8]byte
		n := 1
		if c := src[i]; c != escape {
			e := &d.entries[c]
			if e.length == 0 {
				return 0, badCode(c)
			}
			binary.LittleEndian.PutUint64(word[:], e.value)
			n = int(e.length)
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
