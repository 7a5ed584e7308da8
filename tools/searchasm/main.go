// Command searchasm writes the kernels of internal/base/search in assembly: search_amd64.s, which search_amd64.go there
// declares.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	TEXT("probeAVX2", NOSPLIT, "func(data *byte, n int, places *[3]int, bytes *[3]byte) int")
	Doc("probeAVX2 returns the first i below n, a multiple of 32, for which all three data[i+places[k]] are bytes[k], or n.")
	data, n := Load(Param("data"), GP64()), Load(Param("n"), GP64())
	places, bytes := Load(Param("places"), GP64()), Load(Param("bytes"), GP64())
	var from [3]reg.GPVirtual
	var want [3]reg.VecVirtual
	for k := range 3 {
		from[k], want[k] = GP64(), YMM()
		MOVQ(Mem{Base: places, Disp: 8 * k}, from[k])
		ADDQ(data, from[k])
		VPBROADCASTB(Mem{Base: bytes, Disp: k}, want[k])
	}
	i, mask := GP64(), GP32()
	XORQ(i, i)

	Label("next")
	CMPQ(i, n)
	JAE(LabelRef("none"))
	var same [3]reg.VecVirtual
	for k := range 3 {
		same[k] = YMM()
		VPCMPEQB(Mem{Base: from[k], Index: i, Scale: 1}, want[k], same[k])
	}
	VPAND(same[0], same[1], same[0])
	VPAND(same[0], same[2], same[0])
	VPMOVMSKB(same[0], mask)
	ADDQ(U8(32), i)
	TESTL(mask, mask)
	JZ(LabelRef("next"))

	found(i, n, mask)
	classes()
	Generate()
}

// found ends a kernel: it returns the place of the first bit of a mask of the 32 places before i, or n where there is none.
func found(i, n reg.Register, mask reg.GPVirtual) {
	BSFL(mask, mask)
	LEAQ(Mem{Base: i, Index: mask.As64(), Scale: 1, Disp: -32}, i)
	VZEROUPPER()
	Store(i, ReturnIndex(0))
	RET()

	Label("none")
	VZEROUPPER()
	Store(n, ReturnIndex(0))
	RET()
}

// classes writes the kernel of sets of texts. A byte has the bits that both of its halves have in the tables of its place.
func classes() {
	TEXT("classesAVX2", NOSPLIT, "func(data *byte, n int, halves *[6][16]byte) int")
	Doc("classesAVX2 returns the first i below n, a multiple of 32, for which data[i:i+3] have a bit in common, or n.")
	data, n, halves := Load(Param("data"), GP64()), Load(Param("n"), GP64()), Load(Param("halves"), GP64())
	i, mask, room := GP64(), GP32(), GP32()
	var table [6]reg.VecVirtual
	for k := range table {
		table[k] = YMM()
		VBROADCASTI128(Mem{Base: halves, Disp: 16 * k}, table[k])
	}
	low, zero := YMM(), YMM()
	MOVL(U32(15), room)
	MOVQ(room.As64(), low.AsX())
	VPBROADCASTB(low.AsX(), low)
	VPXOR(zero, zero, zero)
	XORQ(i, i)

	Label("next")
	CMPQ(i, n)
	JAE(LabelRef("none"))
	common := YMM()
	for k := range 3 {
		lower, upper := YMM(), YMM()
		VMOVDQU(Mem{Base: data, Index: i, Scale: 1, Disp: k}, lower)
		VPSRLW(U8(4), lower, upper)
		VPAND(low, lower, lower)
		VPAND(low, upper, upper)
		VPSHUFB(lower, table[2*k], lower)
		VPSHUFB(upper, table[2*k+1], upper)
		if k == 0 {
			VPAND(lower, upper, common)
			continue
		}
		VPAND(lower, common, common)
		VPAND(upper, common, common)
	}
	VPCMPEQB(common, zero, common)
	VPMOVMSKB(common, mask)
	ADDQ(U8(32), i)
	CMPL(mask, U32(0xffffffff))
	JE(LabelRef("next"))

	NOTL(mask)
	found(i, n, mask)
}
