// Package decimal holds IEEE 754-2008 decimal128 numbers in the form that
// shards store them: densely packed decimal (DPD), 16 bytes, least significant
// byte first (docs/format.md §5.5; the encoding:
// IEEE 754-2008 §3.5.2, Cowlishaw, "Densely packed decimal encoding", 2002).
//
// A number is ±coefficient × 10^exponent, with up to 34 digits; 1.0 and 1.00 are equal but not
// the same. Conversions are exact or fail.
package decimal

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Decimal is one number. All zero bytes are 0E-6176, which is 0.
//
//	bit 127  126…122      121…110        109…100  …  9…0
//	sign     combination  exponent       declet 10   declet 0
//	         (2 bits of exponent and     three digits each,
//	         first digit, or Inf, NaN)   the lowest last
//
// 123.45 is coefficient 12345, exponent -2: c5490000000000000000000000800722.
type Decimal [Width]byte

// Width is the number of bytes of a Decimal.
const Width = 16

// Limits of a number.
const (
	MaxDigits   = 34    // of a coefficient
	MinExponent = -6176 // of the last digit
	MaxExponent = 6111  // of the last digit

	bias = 6176
)

// Class distinguishes numbers, infinities and NaNs.
type Class uint8

// The classes.
const (
	Finite   Class = iota // a number
	Infinite              // plus or minus infinity
	NaN                   // not a number, of any kind
)

// Parts are the sign, coefficient and exponent of a number. Coefficient and exponent are 0
// unless it is finite.
type Parts struct {
	Negative bool
	Class    Class
	Hi, Lo   uint64 // the coefficient: Hi·2^64 + Lo, below 10^34
	Exponent int
}

func (d *Decimal) words() (hi, lo uint64) {
	return binary.LittleEndian.Uint64(d[8:]), binary.LittleEndian.Uint64(d[:8])
}

func fromWords(hi, lo uint64) (d Decimal) {
	binary.LittleEndian.PutUint64(d[:8], lo)
	binary.LittleEndian.PutUint64(d[8:], hi)
	return d
}

// head decodes the combination field: the first digit and the exponent of a finite number.
func head(hi uint64) (digit uint64, exponent int, class Class) {
	g := hi >> 58 & 31
	high := g >> 3
	switch {
	case g == 31:
		return 0, 0, NaN
	case g == 30:
		return 0, 0, Infinite
	case high == 3:
		high, digit = g>>1&3, 8+g&1
	default:
		digit = g & 7
	}
	return digit, int(high<<12|hi>>46&0xfff) - bias, Finite
}

// Parts decodes the number.
func (d Decimal) Parts() Parts {
	hi, lo := d.words()
	digit, exponent, class := head(hi)
	p := Parts{Negative: hi>>63 != 0, Class: class, Exponent: exponent}
	if class != Finite {
		return p
	}
	low := uint64(0) // declets 0 to 5
	for s := 50; s >= 0; s -= 10 {
		low = low*1000 + uint64(fromDeclet[lo>>s&1023])
	}
	high := digit // the first digit and declets 10 to 6
	rest := hi<<4&(1<<50-1) | lo>>60
	for s := 40; s >= 0; s -= 10 {
		high = high*1000 + uint64(fromDeclet[rest>>s&1023])
	}
	var carry uint64
	p.Hi, p.Lo = bits.Mul64(high, 1e18)
	p.Lo, carry = bits.Add64(p.Lo, low, 0)
	p.Hi += carry
	return p
}

// FromCoefficient is ±(hi·2^64 + lo) × 10^exponent. It is false if the
// coefficient has more than 34 digits or the exponent is out of range.
func FromCoefficient(negative bool, hi, lo uint64, exponent int) (Decimal, bool) {
	if exponent < MinExponent || exponent > MaxExponent || !less(hi, lo, pow10[MaxDigits]) {
		return Decimal{}, false
	}
	high, low := bits.Div64(hi, lo, 1e18) // hi < 10^34 / 2^64 < 10^18
	var wl, wh uint64
	for s := 0; low != 0; s += 10 {
		q := low / 1000
		wl |= uint64(toDeclet[low-q*1000]) << s
		low = q
	}
	digit := high / 1e15
	high -= digit * 1e15
	for s := 0; high != 0; s += 10 {
		q := high / 1000
		wh |= uint64(toDeclet[high-q*1000]) << s
		high = q
	}
	return fromWords(top(negative, digit, exponent)|wh>>4, wl|wh<<60), true
}

// top is the upper 18 bits of a finite number: sign, combination, exponent.
func top(negative bool, digit uint64, exponent int) uint64 {
	e := uint64(exponent + bias)
	g := e>>12<<3 | digit
	if digit >= 8 {
		g = 3<<3 | e>>12<<1 | digit&1
	}
	w := g<<58 | e&0xfff<<46
	if negative {
		w |= 1 << 63
	}
	return w
}

// IsNaN reports whether d is a NaN, of any kind.
func (d Decimal) IsNaN() bool { return d[15]&0x7c == 0x7c }

// IsInf reports whether d is an infinity.
func (d Decimal) IsInf() bool { return d[15]&0x7c == 0x78 }

// IsZero reports whether d is 0, with any sign and exponent.
func (d Decimal) IsZero() bool {
	hi, lo := d.words()
	digit, _, class := head(hi)
	return class == Finite && digit == 0 && lo == 0 && hi&(1<<46-1) == 0
}

// Sign is -1, 0 or 1. It is 0 for a NaN.
func (d Decimal) Sign() int {
	if d.IsNaN() || d.IsZero() {
		return 0
	}
	return 1 - 2*int(d[15]>>7)
}

// Slice views memory as len(b)/16 numbers.
func Slice(b []byte) []Decimal {
	if len(b) < 16 {
		return nil
	}
	return unsafe.Slice((*Decimal)(unsafe.Pointer(&b[0])), len(b)/16) // a Decimal is bytes: no alignment
}

// Bytes views memory as 16 bytes for each number.
func Bytes(d []Decimal) []byte {
	if len(d) == 0 {
		return nil
	}
	return unsafe.Slice(&d[0][0], 16*len(d))
}

// fromDeclet is the value of each of the 1,024 declets, toDeclet the canonical declet of each
// value below 1,000. 24 declets are not canonical: another declet has the same value.
var fromDeclet, toDeclet = makeTables()

// makeTables follows the definition of DPD. With the three digits as bits abcd
// efgh ijkm, a digit is large (8 or 9) if its first bit is set; the ten bits
// are then, by a, e, i:
//
//	000  bcd fgh 0 jkm     100  jkd fgh 1 10m
//	001  bcd fgh 1 00m     101  fgd 01h 1 11m
//	010  bcd jkh 1 01m     110  jkd 00h 1 11m
//	011  bcd 10h 1 11m     111  00d 11h 1 11m
func makeTables() (from [1024]uint16, to [1000]uint16) {
	for declet := range uint16(1024) {
		from[declet] = declet2value(declet)
	}
	for declet := 1023; declet >= 0; declet-- { // canonical declets have 0 for bits without a meaning
		to[from[declet]] = uint16(declet)
	}
	return from, to
}

func declet2value(b uint16) uint16 {
	pq, r := b>>8&3, b>>7&1
	st, u := b>>5&3, b>>4&1
	wx, y := b>>1&3, b&1
	small := func(two, one uint16) uint16 { return two<<1 | one }
	large := func(one uint16) uint16 { return 8 | one }
	digits := func(x, y, z uint16) uint16 { return 100*x + 10*y + z }
	if b>>3&1 == 0 {
		return digits(small(pq, r), small(st, u), small(wx, y))
	}
	switch wx {
	case 0:
		return digits(small(pq, r), small(st, u), large(y))
	case 1:
		return digits(small(pq, r), large(u), small(st, y))
	case 2:
		return digits(large(r), small(st, u), small(pq, y))
	}
	switch st {
	case 0:
		return digits(large(r), large(u), small(pq, y))
	case 1:
		return digits(large(r), small(pq, u), large(y))
	case 2:
		return digits(small(pq, r), large(u), large(y))
	}
	return digits(large(r), large(u), large(y))
}
