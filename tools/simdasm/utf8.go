package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// What may be wrong with two neighbouring bytes, a bit each. It is wrong if the upper half of the first byte, its lower half, and the upper half of the
// second one all say so.
const (
	tooShort  = 1 << iota // a lead without its continuation
	tooLong               // a continuation after ASCII
	overlong3             // three bytes where two suffice
	tooLarge              // beyond U+10FFFF: f4 90 and above
	surrogate
	overlong2
	overlong4 // f0 80, and f5 80 and above, which are too large
	twoContinuations
	anyLower = tooShort | tooLong | twoContinuations
)

// utf8 is the algorithm of Keiser and Lemire (Validating UTF-8 in less than one instruction per byte, 2020).
func utf8() {
	TEXT("utf8AVX2", NOSPLIT, "func(src *byte, n int) (wrong uint64)")
	Doc("utf8AVX2 is not 0 if n bytes are no UTF-8, n > 0 and a multiple of 32. What follows them may complete the last character.")
	src, n := param("src"), param("n")
	firstUpper := table16("firstUpper", func(i int) uint8 {
		switch {
		case i < 8:
			return tooLong
		case i < 12:
			return twoContinuations
		}
		return [4]uint8{tooShort | overlong2, tooShort, tooShort | overlong3 | surrogate, tooShort | tooLarge | overlong4}[i-12]
	})
	firstLower := table16("firstLower", func(i int) uint8 {
		switch i {
		case 0:
			return anyLower | overlong2 | overlong3 | overlong4
		case 1:
			return anyLower | overlong2
		case 2, 3:
			return anyLower
		case 4:
			return anyLower | tooLarge
		case 13:
			return anyLower | tooLarge | overlong4 | surrogate
		}
		return anyLower | tooLarge | overlong4
	})
	secondUpper := table16("secondUpper", func(i int) uint8 {
		const continuation = tooLong | twoContinuations | overlong2
		switch i {
		case 8:
			return continuation | overlong3 | overlong4
		case 9:
			return continuation | overlong3 | tooLarge
		case 10, 11:
			return continuation | surrogate | tooLarge
		}
		return tooShort
	})
	half, third, fourth, high := bytes32(0x0f), bytes32(0xe0-0x80), bytes32(0xf0-0x80), bytes32(0x80)
	before, wrong := YMM(), YMM()
	VPXOR(before, before, before)
	VPXOR(wrong, wrong, wrong)
	look := func(table, at reg.VecVirtual, upper bool) reg.VecVirtual {
		out := YMM()
		if upper {
			VPSRLW(U8(4), at, out)
			at = out
		}
		VPAND(half, at, out)
		VPSHUFB(out, table, out)
		return out
	}

	Label("bytes")
	in, joined := YMM(), YMM()
	VMOVDQU(Mem{Base: src}, in)
	VPERM2I128(U8(0x21), in, before, joined)
	back := func(k uint8) reg.VecVirtual {
		out := YMM()
		VPALIGNR(U8(16-k), joined, in, out)
		return out
	}
	first := back(1)
	found, lower, upper := look(firstUpper, first, true), look(firstLower, first, false), look(secondUpper, in, true)
	VPAND(lower, found, found)
	VPAND(upper, found, found)
	Comment("Two continuations are right in the second half of three and four bytes, and only there.")
	b2, b3 := back(2), back(3)
	VPSUBUSB(third, b2, b2)
	VPSUBUSB(fourth, b3, b3)
	VPOR(b3, b2, b2)
	VPAND(high, b2, b2)
	VPXOR(b2, found, found)
	VPOR(found, wrong, wrong)
	VMOVDQA(in, before)
	ADDQ(U8(32), src)
	SUBQ(U8(32), n)
	JA(LabelRef("bytes"))
	out, none := GP64(), GP64()
	XORQ(out, out)
	MOVQ(U32(1), none)
	VPTEST(wrong, wrong)
	CMOVQNE(none, out)
	VZEROUPPER()
	Store(out, ReturnIndex(0))
	RET()
}

// table16 fills a register with a table of 16 bytes, twice.
func table16(name string, of func(i int) uint8) reg.VecVirtual {
	g := GLOBL(name, RODATA|NOPTR)
	for i := range 16 {
		DATA(i, U8(of(i)))
	}
	y := YMM()
	VBROADCASTI128(g, y)
	return y
}

// bytes32 fills a register with a byte.
func bytes32(b uint64) reg.VecVirtual {
	all, x, y := GP64(), XMM(), YMM()
	MOVQ(U64(b*0x0101010101010101), all)
	VMOVQ(all, x)
	VPBROADCASTQ(x, y)
	return y
}
