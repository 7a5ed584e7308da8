// Command splitasm writes the AVX2 kernels of rntuple/internal/column: split_amd64.s, which split_amd64.go there declares.
//
// They work on blocks of 32 elements, of which each plane of a page has 32 bytes. Instructions that interleave
// registers do so in both halves of 128 bits by themselves. So the lower halves stand for elements 0 to 15 of a block and the
// upper ones for 16 to 31, until the halves are exchanged on the side of the elements.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	for _, width := range []int{2, 4, 8} {
		unsplit(width, false)
		unsplit(width, true)
		split(width)
	}
	Generate()
}

// An interleave makes of two registers the one with their lower parts in turn, or their upper ones.
type interleave struct{ low, high func(...Op) }

// interleaves are those of bytes, and of parts of 2, 4 and 8 bytes.
var interleaves = []interleave{
	{VPUNPCKLBW, VPUNPCKHBW},
	{VPUNPCKLWD, VPUNPCKHWD},
	{VPUNPCKLDQ, VPUNPCKHDQ},
	{VPUNPCKLQDQ, VPUNPCKHQDQ},
}

// transpose interleaves registers until each has a part of all.
func transpose(in []reg.VecVirtual, by []interleave) []reg.VecVirtual {
	if len(in) == 1 {
		return in
	}
	var low, high []reg.VecVirtual
	for i := 0; i < len(in); i += 2 {
		l, h := YMM(), YMM()
		by[0].low(in[i+1], in[i], l)
		by[0].high(in[i+1], in[i], h)
		low, high = append(low, l), append(high, h)
	}
	return append(transpose(low, by[1:]), transpose(high, by[1:])...)
}

// steps is the number of times that registers are interleaved.
func steps(width int) int { return map[int]int{2: 1, 4: 2, 8: 3}[width] }

// planes are the addresses of the 32 bytes that each plane of a page has of a block.
type planes struct{ first, fifth, stride, stride3 reg.GPVirtual }

func newPlanes(width int, page string) planes {
	p := planes{first: param(page), stride: param("stride")}
	if width > 2 {
		p.stride3 = GP64()
		LEAQ(Mem{Base: p.stride, Index: p.stride, Scale: 2}, p.stride3)
	}
	if width > 4 {
		p.fifth = GP64()
		LEAQ(Mem{Base: p.first, Index: p.stride, Scale: 4}, p.fifth)
	}
	return p
}

func (p planes) at(i int) Mem {
	base := p.first
	if i >= 4 {
		base = p.fifth
	}
	switch i % 4 {
	case 1:
		return Mem{Base: base, Index: p.stride, Scale: 1}
	case 2:
		return Mem{Base: base, Index: p.stride, Scale: 2}
	case 3:
		return Mem{Base: base, Index: p.stride3, Scale: 1}
	}
	return Mem{Base: base}
}

func (p planes) next(width int) {
	ADDQ(U8(32), p.first)
	if width > 4 {
		ADDQ(U8(32), p.fifth)
	}
}

func param(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

func unsplit(width int, zigzag bool) {
	name := fmt.Sprintf("unsplit%dAVX2", width)
	does := fmt.Sprintf("gathers elements of %d bytes", width)
	if zigzag {
		name, does = fmt.Sprintf("unsplitZigzag%dAVX2", width), does+" and undoes their zigzag encoding"
	}
	TEXT(name, NOSPLIT, "func(dst, page *byte, stride, blocks int)")
	Doc(fmt.Sprintf("%s %s, in blocks of 32, blocks > 0.", name, does))
	p, dst, blocks := newPlanes(width, "page"), param("dst"), param("blocks")
	var zero, one reg.VecVirtual
	if zigzag {
		zero, one = YMM(), YMM()
		VPXOR(zero, zero, zero)
		VPCMPEQD(one, one, one)
		arithmetic[width].right(U8(8*width-1), one, one)
	}

	Label("block")
	var in []reg.VecVirtual
	for i := range width {
		v := YMM()
		VMOVDQU(p.at(i), v)
		in = append(in, v)
	}
	out := transpose(in, interleaves[:steps(width)])
	for _, v := range out {
		if zigzag {
			sign := YMM()
			VPAND(one, v, sign)
			arithmetic[width].subtract(sign, zero, sign)
			arithmetic[width].right(U8(1), v, v)
			VPXOR(sign, v, v)
		}
	}
	for i := 0; i < width; i += 2 {
		l, h := YMM(), YMM()
		VPERM2I128(U8(0x20), out[i+1], out[i], l)
		VPERM2I128(U8(0x31), out[i+1], out[i], h)
		VMOVDQU(l, Mem{Base: dst, Disp: 16 * i})
		VMOVDQU(h, Mem{Base: dst, Disp: 16 * (i + width)})
	}
	p.next(width)
	ADDQ(U32(32*width), dst)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// arithmetic is that on elements of so many bytes.
var arithmetic = map[int]struct{ right, subtract func(...Op) }{
	2: {VPSRLW, VPSUBW},
	4: {VPSRLD, VPSUBD},
	8: {VPSRLQ, VPSUBQ},
}

func split(width int) {
	name := fmt.Sprintf("split%dAVX2", width)
	TEXT(name, NOSPLIT, "func(page, src *byte, stride, blocks int)")
	Doc(fmt.Sprintf("%s spreads elements of %d bytes over planes, in blocks of 32, blocks > 0.", name, width))
	order := GLOBL(fmt.Sprintf("order%d", width), RODATA|NOPTR)
	for i := range 32 { // first bytes of the elements in half a register, then second ones …
		perHalf := 16 / width
		DATA(i, U8(uint8(i%16%perHalf*width+i%16/perHalf)))
	}
	p, src, blocks := newPlanes(width, "page"), param("src"), param("blocks")
	bytes := YMM()
	VMOVDQU(order, bytes)

	Label("block")
	in := make([]reg.VecVirtual, width)
	for i := 0; i < width; i += 2 {
		l, h := YMM(), YMM()
		VMOVDQU(Mem{Base: src, Disp: 16 * i}, l)
		VMOVDQU(Mem{Base: src, Disp: 16 * (i + width)}, h)
		in[i], in[i+1] = YMM(), YMM()
		VPERM2I128(U8(0x20), h, l, in[i])
		VPERM2I128(U8(0x31), h, l, in[i+1])
		VPSHUFB(bytes, in[i], in[i])
		VPSHUFB(bytes, in[i+1], in[i+1])
	}
	for i, v := range transpose(in, interleaves[len(interleaves)-steps(width):]) {
		VMOVDQU(v, p.at(i))
	}
	p.next(width)
	ADDQ(U32(32*width), src)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}
