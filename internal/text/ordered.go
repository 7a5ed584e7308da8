package text

import (
	"bytes"
	"encoding/binary"
)

// maxOrderedExponent bounds the exponents of numbers of AppendOrdered.
const maxOrderedExponent = 1 << 30

// AppendOrdered appends a decimal number, such as -12.50 or 1e3, as bytes that are in the order of numbers: equal numbers have equal bytes. ok is
// false for a number of an exponent beyond ±2^30, and for what is not a number of digits, a point and an exponent.
//
//	0                      80
//	+0.d₁d₂…dₙ × 10^e      c0, e + 2^31 as big-endian u32, d₁ … dₙ as characters; neither d₁ nor dₙ is 0
//	-0.d₁d₂…dₙ × 10^e      40, then each byte of the positive number inverted, ff
func AppendOrdered(dst, number []byte) (_ []byte, ok bool) {
	negative := false
	if len(number) > 0 && (number[0] == '-' || number[0] == '+') {
		negative, number = number[0] == '-', number[1:]
	}
	mantissa, exponent := number, int64(0)
	if i := bytes.IndexAny(number, "eE"); i >= 0 {
		mantissa = number[:i]
		if exponent, ok = parseExponent(number[i+1:]); !ok {
			return dst, false
		}
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	if n := len(whole) + len(fraction); n == 0 || n > maxOrderedExponent || CountDigits(whole) < len(whole) || CountDigits(fraction) < len(fraction) {
		return dst, false
	}
	from := len(dst)
	dst = append(append(append(dst, 0xc0, 0, 0, 0, 0), whole...), fraction...)
	digits := dst[from+5:]
	some := bytes.TrimLeft(digits, "0")
	if len(some) == 0 {
		return append(dst[:from], 0x80), true
	}
	exponent += int64(len(whole) - (len(digits) - len(some)))
	if exponent > maxOrderedExponent || exponent < -maxOrderedExponent {
		return dst[:from], false
	}
	some = bytes.TrimRight(some, "0")
	binary.BigEndian.PutUint32(dst[from+1:], uint32(exponent+1<<31))
	dst = dst[:from+5+copy(digits, some)]
	if negative {
		dst[from] = 0x40
		for i := from + 1; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
		dst = append(dst, 0xff)
	}
	return dst, true
}

// parseExponent reads an exponent. One that is far too large is about as large.
func parseExponent(b []byte) (v int64, ok bool) {
	negative := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative, b = b[0] == '-', b[1:]
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = min(v*10+int64(c-'0'), 4*maxOrderedExponent)
	}
	if negative {
		v = -v
	}
	return v, len(b) > 0
}
