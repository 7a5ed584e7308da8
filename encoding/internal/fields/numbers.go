package fields

import (
	"math/bits"
	"unsafe"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/simd"
)

// digits8 is the eight decimal digits of x, below 1e8, as bytes 0 to 9, the first in the lowest byte.
func digits8(x uint64) uint64 {
	hi := x * 109951163 >> 40 // x / 10000
	x = hi | (x-10000*hi)<<32
	q := x * 10486 >> 20 & 0x7f0000007f // / 100
	x = q | (x-100*q)<<16
	q = x * 103 >> 10 & 0x000f000f000f000f // / 10
	return q | (x-10*q)<<8
}

const ascii = 0x3030303030303030

// three is the three digits of a number, the first in the lowest byte.
var three = func() (t [1000]uint32) {
	for i := range t {
		t[i] = uint32('0'+i/100) | uint32('0'+i/10%10)<<8 | uint32('0'+i%10)<<16
	}
	return t
}()

// putDecimal writes x without zeros in front, and up to 24 bytes in all. It returns the number of digits.
func putDecimal(to unsafe.Pointer, x uint64) int {
	if x < 1e8 {
		d := digits8(x)
		zeros := bits.TrailingZeros64(d|1<<56) &^ 7
		*(*uint64)(to) = (d | ascii) >> zeros
		return 8 - zeros>>3
	}
	return putLong(to, x)
}

func putLong(to unsafe.Pointer, x uint64) int {
	hi := x / 1e8
	if hi < 1e8 {
		n := putDecimal(to, hi)
		*(*uint64)(unsafe.Add(to, n)) = digits8(x-1e8*hi) | ascii
		return n + 8
	}
	top := hi / 1e8
	n := putDecimal(to, top)
	*(*uint64)(unsafe.Add(to, n)) = digits8(hi-1e8*top) | ascii
	*(*uint64)(unsafe.Add(to, n+8)) = digits8(x-1e8*hi) | ascii
	return n + 16
}

// putFixed writes x, which has at most width digits, with zeros in front, and up to 24 bytes in all.
func putFixed(to unsafe.Pointer, x uint64, width int) {
	if width <= 8 {
		*(*uint64)(to) = (digits8(x) | ascii) >> (64 - 8*uint(width))
		return
	}
	hi := x / 1e8
	putFixed(to, hi, width-8)
	*(*uint64)(unsafe.Add(to, width-8)) = digits8(x-1e8*hi) | ascii
}

// word is the type of the numbers of a column.
type word interface{ uint32 | uint64 }

// appendDecimals writes numbers back to back, and where they are to spans, the first from place base on; room is for 24 bytes
// each. It returns the size.
func appendDecimals[W word](dst []byte, spans []Span, base uint32, numbers []W) int {
	to := unsafe.Pointer(unsafe.SliceData(dst))
	at, spans := 0, spans[:len(numbers)]
	for i, x := range numbers {
		n := putDecimal(unsafe.Add(to, at), uint64(x))
		spans[i] = Span{base + uint32(at), uint32(n)}
		at += n
	}
	return at
}

// appendSigned is appendDecimals of signed numbers.
func appendSigned(dst []byte, spans []Span, base uint32, numbers []uint64) int {
	to := unsafe.Pointer(unsafe.SliceData(dst))
	at, spans := 0, spans[:len(numbers)]
	for i, x := range numbers {
		minus := x >> 63
		*(*byte)(unsafe.Add(to, at)) = '-'
		n := int(minus) + putDecimal(unsafe.Add(to, at+int(minus)), (x^-minus)+minus)
		spans[i] = Span{base + uint32(at), uint32(n)}
		at += n
	}
	return at
}

// hex8 is the eight hexadecimal digits of x, the first in the lowest byte; letters is the distance of a to the byte behind 9.
func hex8(x uint32, letters uint64) uint64 {
	v := uint64(bits.ReverseBytes32(x))
	v = (v | v<<16) & 0x0000ffff0000ffff
	v = (v | v<<8) & 0x00ff00ff00ff00ff
	v = (v>>4 | v<<8) & 0x0f0f0f0f0f0f0f0f
	over := (v + 0x0606060606060606) >> 4 & 0x0101010101010101
	return v + ascii + over*letters
}

// appendHex writes numbers with width digits each, and 16 bytes behind.
func appendHex[W word](dst []byte, numbers []W, width int, letters uint64) error {
	to := unsafe.Pointer(unsafe.SliceData(dst))
	all := W(0)
	for i, x := range numbers {
		all |= x
		at, y := unsafe.Add(to, i*width), uint64(x)<<(64-4*uint(width))
		*(*uint64)(at) = hex8(uint32(y>>32), letters)
		*(*uint64)(unsafe.Add(at, 8)) = hex8(uint32(y), letters)
	}
	if uint64(all)>>(4*uint(width)-1)>>1 != 0 {
		return fault.Corruptf("number of more than %d hexadecimal digits", width)
	}
	return nil
}

// appendDigits writes numbers of one group.
func appendDigits[W word](dst []byte, numbers []W, width int) error {
	most := W(0)
	for _, x := range numbers {
		most = max(most, x)
	}
	if uint64(most) >= powers[width] {
		return fault.Corruptf("number %d of more than %d digits", most, width)
	}
	to := unsafe.Pointer(unsafe.SliceData(dst))
	switch {
	case width <= 3:
		shift := 24 - 8*uint(width)
		for _, x := range numbers {
			*(*uint32)(to) = three[x%1000] >> shift
			to = unsafe.Add(to, width)
		}
	case width <= 6:
		shift := 48 - 8*uint(width)
		for _, x := range numbers {
			y := uint32(x)
			hi := y / 1000
			*(*uint64)(to) = (uint64(three[hi%1000]) | uint64(three[y-1000*hi])<<24) >> shift
			to = unsafe.Add(to, width)
		}
	case width <= 8:
		shift := 64 - 8*uint(width)
		for _, x := range numbers {
			*(*uint64)(to) = (digits8(uint64(x)) | ascii) >> shift
			to = unsafe.Add(to, width)
		}
	default:
		for _, x := range numbers {
			putFixed(to, uint64(x), width)
			to = unsafe.Add(to, width)
		}
	}
	return nil
}

// appendGroups writes numbers of several groups. Where only the last group of a number differs from the number before,
// as in times that ascend, it writes no other.
func appendGroups[W word](dst []byte, numbers []W, groups []Group, width int) error {
	to := unsafe.Pointer(unsafe.SliceData(dst))
	var buf [MaxWidth + Slack]byte
	text := unsafe.Pointer(&buf)
	var places [MaxGroups]int
	at := 0
	for i := range groups {
		at += copy(buf[at:], groups[i].Separator)
		places[i] = at
		at += groups[i].Width
	}
	last := len(groups) - 1
	low := &groups[last]
	first := uint64(0) // the least number that differs in the last group only
	for i := range numbers {
		x := uint64(numbers[i])
		if x >= first && x-first < low.Radix && i > 0 {
			putGroup(text, places[last], low, x-first)
		} else {
			rest := x
			for k := last; k > 0; k-- {
				g := &groups[k]
				q := rest / g.Radix
				d := rest - q*g.Radix
				putGroup(text, places[k], g, d)
				if k == last {
					first = x - d
				}
				rest = q
			}
			if rest >= powers[groups[0].Width] {
				return fault.Corruptf("number %d of more digits than its groups have", x)
			}
			putExactly(text, rest, groups[0].Width)
		}
		simd.Copy32(unsafe.Add(to, i*width), text) // MaxWidth bytes
	}
	return nil
}

func putGroup(text unsafe.Pointer, at int, g *Group, digit uint64) {
	putExactly(unsafe.Add(text, at), digit+g.Low, g.Width)
}

// putExactly is putFixed, but writes no byte behind.
func putExactly(to unsafe.Pointer, x uint64, width int) {
	for width > 8 {
		width -= 8
		hi := x / powers[8]
		*(*uint64)(unsafe.Add(to, width)) = digits8(x-powers[8]*hi) | ascii
		x = hi
	}
	if width == 2 {
		*(*uint16)(to) = uint16(three[x%1000] >> 8)
		return
	}
	d := (digits8(x) | ascii) >> (64 - 8*uint(width))
	for i := range width {
		*(*byte)(unsafe.Add(to, i)) = byte(d)
		d >>= 8
	}
}
