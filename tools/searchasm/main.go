// Command searchasm writes the kernel of internal/base/search in assembly: search_amd64.s, which search_amd64.go there
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

	BSFL(mask, mask)
	LEAQ(Mem{Base: i, Index: mask.As64(), Scale: 1, Disp: -32}, i)
	VZEROUPPER()
	Store(i, ReturnIndex(0))
	RET()

	Label("none")
	VZEROUPPER()
	Store(n, ReturnIndex(0))
	RET()
	Generate()
}
