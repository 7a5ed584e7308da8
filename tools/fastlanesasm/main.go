// Command fastlanesasm writes the AVX2 kernels that unpack FastLanes chunks:
// encoding/fastlanes/unpack_avx2_amd64.s, which kernels_amd64.go there declares.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// order is the order of the groups of 8 rows.
var order = [8]int{0, 4, 2, 6, 1, 5, 3, 7}

// kernel unpacks words of some bits. One kernel does all widths: shifts take
// their counts from registers.
type kernel struct {
	bits, log int // of a word
	right     func(count, src, dst Op)
	left      func(count, src, dst Op)
	add       func(x, y, dst Op)
	broadcast func(src, dst Op)
}

func main() {
	ConstraintExpr("!purego")
	for _, k := range []kernel{
		{16, 4, func(a, b, c Op) { VPSRLW(a, b, c) }, func(a, b, c Op) { VPSLLW(a, b, c) }, func(a, b, c Op) { VPADDW(a, b, c) }, func(a, b Op) { VPBROADCASTW(a, b) }},
		{32, 5, func(a, b, c Op) { VPSRLD(a, b, c) }, func(a, b, c Op) { VPSLLD(a, b, c) }, func(a, b, c Op) { VPADDD(a, b, c) }, func(a, b Op) { VPBROADCASTD(a, b) }},
		{64, 6, func(a, b, c Op) { VPSRLQ(a, b, c) }, func(a, b, c Op) { VPSLLQ(a, b, c) }, func(a, b, c Op) { VPADDQ(a, b, c) }, func(a, b Op) { VPBROADCASTQ(a, b) }},
	} {
		k.generate()
	}
	Generate()
}

// rowLen is the bytes of a row of packed words, whatever their size.
const rowLen = 128

// state is the registers of a kernel.
type state struct {
	src, dst        reg.GPVirtual
	bit, width      reg.GPVirtual // of the row in its lanes
	base, mask      reg.VecVirtual
	word, next, tmp reg.GPVirtual
	shift, rest     reg.VecVirtual // counts: of bits below the value, and of those above it
}

func (k kernel) generate() {
	TEXT(fmt.Sprintf("unpack%davx2", k.bits), NOSPLIT, fmt.Sprintf("func(dst *[1024]uint%d, src *byte, base uint64, width int)", k.bits))
	Doc(fmt.Sprintf("unpack%davx2 unpacks 128*width bytes; width is 1 to %d.", k.bits, k.bits))
	s := state{bit: GP64(), word: GP64(), next: GP64(), tmp: GP64(), base: YMM(), mask: YMM(), shift: XMM(), rest: XMM()}
	s.dst = Load(Param("dst"), GP64()).(reg.GPVirtual)
	s.src = Load(Param("src"), GP64()).(reg.GPVirtual)
	base := Load(Param("base"), GP64())
	s.width = Load(Param("width"), GP64()).(reg.GPVirtual)
	x := XMM()
	VMOVQ(base, x)
	k.broadcast(x, s.base)
	k.loadMask(s)
	XORQ(s.bit, s.bit)
	for group := range k.bits / 8 {
		k.rows(s, group)
	}
	VZEROUPPER()
	RET()
}

// loadMask sets the mask to the lowest width bits of each word.
func (k kernel) loadMask(s state) {
	ones := YMM()
	VPCMPEQD(ones, ones, ones)
	MOVQ(U32(uint32(k.bits)), s.tmp)
	SUBQ(s.width, s.tmp)
	VMOVQ(s.tmp, s.shift)
	k.right(s.shift, ones, s.mask)
}

// rows unpacks 8 rows, of which one follows the other in the lanes, and 128
// values later in the chunk.
func (k kernel) rows(s state, group int) {
	out := GP64()
	end := GP64()
	size := k.bits / 8
	LEAQ(Mem{Base: s.dst, Disp: 16 * order[group] * size}, out)
	LEAQ(Mem{Base: out, Disp: 8 * 128 * size}, end)
	name := fmt.Sprintf("group%d", group)
	Label(name)

	Comment("The word in which the row begins, and where in it.")
	MOVQ(s.bit, s.word)
	SHRQ(U8(uint8(k.log)), s.word)
	SHLQ(U8(7), s.word)
	ADDQ(s.src, s.word)
	MOVQ(s.bit, s.tmp)
	ANDQ(U8(uint8(k.bits-1)), s.tmp)
	VMOVQ(s.tmp, s.shift)
	ADDQ(s.width, s.bit)
	LEAQ(Mem{Base: s.tmp, Index: s.width, Scale: 1}, s.next)
	CMPQ(s.next, U32(uint32(k.bits)))
	JA(LabelRef(name + "straddles"))

	for i := range rowLen / 32 {
		y := YMM()
		VMOVDQU(Mem{Base: s.word, Disp: 32 * i}, y)
		k.right(s.shift, y, y)
		k.store(s, y, out, i)
	}
	JMP(LabelRef(name + "next"))

	Label(name + "straddles")
	Comment("The upper bits are the lowest of the next word.")
	NEGQ(s.tmp)
	ADDQ(U8(uint8(k.bits)), s.tmp)
	VMOVQ(s.tmp, s.rest)
	for i := range rowLen / 32 {
		y, z := YMM(), YMM()
		VMOVDQU(Mem{Base: s.word, Disp: 32 * i}, y)
		VMOVDQU(Mem{Base: s.word, Disp: 32*i + rowLen}, z)
		k.right(s.shift, y, y)
		k.left(s.rest, z, z)
		VPOR(z, y, y)
		k.store(s, y, out, i)
	}

	Label(name + "next")
	ADDQ(U32(uint32(128*size)), out)
	CMPQ(out, end)
	JB(LabelRef(name))
}

func (k kernel) store(s state, y reg.VecVirtual, out reg.GPVirtual, i int) {
	VPAND(s.mask, y, y)
	k.add(s.base, y, y)
	VMOVDQU(y, Mem{Base: out, Disp: 32 * i})
}
