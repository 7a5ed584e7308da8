// Command radixasm writes the kernels of encoding/internal/radixpack in assembly: fields_amd64.s, which fields_amd64.go there
// declares.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	spread()
	translate()
	Generate()
}

func param(name string) reg.Register { return Load(Param(name), GP64()) }

func spread() {
	TEXT("spreadBMI2", NOSPLIT, "func(dst, src *byte, bit uint64, n int, groups *[2]uint64, count, stride int)")
	Doc("spreadBMI2 spreads n > 0 periods of count > 0 groups, from a bit of src on, to a byte for each digit. A group is a",
		"mask of the bits of its digits, the last one lowest, and its width. Periods are stride bytes apart.")
	dst, src, bit, n := param("dst"), param("src"), param("bit"), param("n")
	groups, count, stride := param("groups"), param("count"), param("stride")

	Label("period")
	g, left, out := GP64(), GP64(), GP64()
	MOVQ(groups, g)
	MOVQ(count, left)
	MOVQ(dst, out)
	Label("group")
	at, low, x := GP64(), GP64(), GP64()
	MOVQ(bit, at)
	MOVQ(bit, low)
	SHRQ(U8(3), at)
	ANDQ(U8(7), low)
	MOVQ(Mem{Base: src, Index: at, Scale: 1}, x)
	SHRXQ(low, x, x)
	PDEPQ(Mem{Base: g}, x, x)
	BSWAPQ(x)
	MOVQ(x, Mem{Base: out})
	ADDQ(Mem{Base: g, Disp: 8}, bit)
	ADDQ(U8(8), out)
	ADDQ(U8(16), g)
	DECQ(left)
	JNZ(LabelRef("group"))
	ADDQ(stride, dst)
	DECQ(n)
	JNZ(LabelRef("period"))
	RET()
}

func translate() {
	TEXT("translateAVX2", NOSPLIT, "func(dst, digits *byte, n, period, chunks int, slots *[3][32]byte, count int)")
	Doc("translateAVX2 turns the digits of n > 0 periods, each in chunks > 0 of 32 bytes, into characters, period bytes apart; it",
		"writes whole chunks. Each chunk has count > 0 slots: a table of 16 characters, twice; the first digit of each byte",
		"that they are for; and the bytes that they are for.")
	dst, digits, n, period := param("dst"), param("digits"), param("n"), param("period")
	chunks, slots, count := param("chunks"), param("slots"), param("count")
	high, x := YMM(), GP32()
	MOVL(U32(0x70707070), x)
	VMOVD(x, high.AsX())
	VPBROADCASTD(high.AsX(), high)

	Label("period")
	s, left, out := GP64(), GP64(), GP64()
	MOVQ(slots, s)
	MOVQ(chunks, left)
	MOVQ(dst, out)
	Label("chunk")
	v, all, k := YMM(), YMM(), GP64()
	VMOVDQU(Mem{Base: digits}, v)
	VPXOR(all, all, all)
	MOVQ(count, k)
	Label("slot")
	t, d := YMM(), YMM()
	VMOVDQU(Mem{Base: s}, t)
	VPSUBB(Mem{Base: s, Disp: 32}, v, d)
	Comment("Digits that are not the table's get their highest bit, for which VPSHUFB gives 0.")
	VPADDUSB(high, d, d)
	VPSHUFB(d, t, t)
	VPAND(Mem{Base: s, Disp: 64}, t, t)
	VPOR(t, all, all)
	ADDQ(U8(96), s)
	DECQ(k)
	JNZ(LabelRef("slot"))
	VMOVDQU(all, Mem{Base: out})
	ADDQ(U8(32), digits)
	ADDQ(U8(32), out)
	DECQ(left)
	JNZ(LabelRef("chunk"))
	ADDQ(period, dst)
	DECQ(n)
	JNZ(LabelRef("period"))
	VZEROUPPER()
	RET()
}
