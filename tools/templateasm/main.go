// Command templateasm writes the kernel of encoding/internal/template in assembly:
// expand_amd64.s, which expand_amd64.go there declares.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	TEXT("expandAVX2", NOSPLIT, "func(dst *byte, codes *uint32, n int, digits *byte, chunks *[2][16]byte, sizes *[4]uint32)")
	Doc("expandAVX2 writes the values of n > 0 codes. It writes up to 16 bytes behind them, and reads as many behind digits.")
	param := func(name string) reg.Register { return Load(Param(name), GP64()) }
	dst, codes, n := param("dst"), param("codes"), param("n")
	digits, chunks, sizes := param("digits"), param("chunks"), param("sizes")

	Label("value")
	size, length, at, out := GP64(), GP64(), GP64(), GP64()
	MOVL(Mem{Base: codes}, size.As32())
	ADDQ(U8(4), codes)
	SHLQ(U8(4), size)
	MOVL(Mem{Base: sizes, Index: size, Scale: 1}, length.As32())
	MOVL(Mem{Base: sizes, Index: size, Scale: 1, Disp: 12}, at.As32())
	SHLQ(U8(5), at)
	ADDQ(chunks, at)
	MOVQ(dst, out)
	ADDQ(length, dst)
	CMPQ(out, dst)
	JAE(LabelRef("next"))

	Label("chunk")
	v, places, text := XMM(), XMM(), GP32()
	VMOVDQU(Mem{Base: at, Disp: 16}, places)
	VMOVDQU(Mem{Base: digits}, v)
	VPSHUFB(places, v, v)
	VPOR(Mem{Base: at}, v, v)
	VMOVDQU(v, Mem{Base: out})
	Comment("Bits of the bytes that are no digits; as many fewer than 16 are taken.")
	VPMOVMSKB(places, text)
	POPCNTL(text, text)
	ADDQ(U8(16), digits)
	SUBQ(text.As64(), digits)
	ADDQ(U8(32), at)
	ADDQ(U8(16), out)
	CMPQ(out, dst)
	JB(LabelRef("chunk"))

	Label("next")
	DECQ(n)
	JNZ(LabelRef("value"))
	RET()
	Generate()
}
