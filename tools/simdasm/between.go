package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// comparer compares keys of some bits, 64 at a time.
type comparer struct {
	bits      int
	broadcast func(src, dst Op)
	add       func(x, y, dst Op)
	greater   func(y, x, dst Op) // dst = x > y, signed
}

// between writes the kernels of Between. Signed comparison is that of unsigned
// numbers once their highest bits are flipped; adding does that too.
func between() {
	for _, c := range []comparer{
		{8, func(a, b Op) { VPBROADCASTB(a, b) }, func(a, b, c Op) { VPADDB(a, b, c) }, func(a, b, c Op) { VPCMPGTB(a, b, c) }},
		{16, func(a, b Op) { VPBROADCASTW(a, b) }, func(a, b, c Op) { VPADDW(a, b, c) }, func(a, b, c Op) { VPCMPGTW(a, b, c) }},
		{32, func(a, b Op) { VPBROADCASTD(a, b) }, func(a, b, c Op) { VPADDD(a, b, c) }, func(a, b, c Op) { VPCMPGTD(a, b, c) }},
		{64, func(a, b Op) { VPBROADCASTQ(a, b) }, func(a, b, c Op) { VPADDQ(a, b, c) }, func(a, b, c Op) { VPCMPGTQ(a, b, c) }},
	} {
		c.generate()
	}
}

func (c comparer) generate() {
	name := fmt.Sprintf("between%dAVX2", c.bits)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(dst *uint64, keys *uint%d, words int, by, most uint64)", c.bits))
	Doc(name+" sets the bits of the keys k of as many words, at least one, for which k+by is not above most,", "as signed numbers.")
	dst, keys, words := param("dst"), param("keys"), param("words")
	by, most := c.fill(param("by")), c.fill(param("most"))
	var order reg.VecVirtual
	if c.bits >= 32 {
		order = laneOrder()
	}
	low, high := GP64(), GP64()

	Label("word")
	c.outside(keys, 0, by, most, order, low)
	c.outside(keys, 4*c.bits, by, most, order, high)
	SHLQ(U8(32), high)
	ORQ(high, low)
	NOTQ(low)
	ORQ(low, Mem{Base: dst})
	ADDQ(U8(8), dst)
	ADDQ(U32(uint32(8*c.bits)), keys)
	DECQ(words)
	JNZ(LabelRef("word"))
	VZEROUPPER()
	RET()
}

func (c comparer) fill(p reg.GPVirtual) reg.VecVirtual {
	x, y := XMM(), YMM()
	VMOVQ(p, x)
	c.broadcast(x, y)
	return y
}

// laneOrder is the order in which the groups of four keys lie after packing.
func laneOrder() reg.VecVirtual {
	places, x, y := GP64(), XMM(), YMM()
	MOVQ(U64(0x0703060205010400), places)
	VMOVQ(places, x)
	VPMOVZXBD(x, y)
	return y
}

// outside has a bit for each of 32 keys that is above.
func (c comparer) outside(keys reg.GPVirtual, at int, by, most, order reg.VecVirtual, bits reg.GPVirtual) {
	above := func(i int) reg.VecVirtual {
		y := YMM()
		c.add(Mem{Base: keys, Disp: at + 32*i}, by, y)
		c.greater(most, y, y)
		return y
	}
	// Packing works in halves of 128 bits, so that keys of both alternate.
	half := func(i int) reg.VecVirtual { // of 16 keys, 16 bits for each
		x, y := above(i), above(i+1)
		VPACKSSDW(y, x, x)
		return x
	}
	if c.bits == 64 {
		half = func(i int) reg.VecVirtual {
			a, b, x, y := above(2*i), above(2*i+1), above(2*i+2), above(2*i+3)
			VSHUFPS(U8(0x88), b, a, a)
			VSHUFPS(U8(0x88), y, x, x)
			VPACKSSDW(x, a, a)
			return a
		}
	}
	var y reg.VecVirtual
	switch c.bits {
	case 8:
		y = above(0)
	case 16:
		y = above(0)
		VPACKSSWB(above(1), y, y)
		VPERMQ(U8(0xd8), y, y)
	default:
		y = half(0)
		VPACKSSWB(half(2), y, y)
		VPERMD(y, order, y)
	}
	if c.bits == 64 {
		Comment("Of eight keys, 0 1 4 5 2 3 6 7.")
		VPSHUFLW(U8(0xd8), y, y)
		VPSHUFHW(U8(0xd8), y, y)
	}
	VPMOVMSKB(y, bits.As32())
}
