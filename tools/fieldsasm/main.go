// Command fieldsasm writes the kernels of encoding/internal/fields in assembly:
// assemble_amd64.s, which assemble_amd64.go there declares.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	kernel("assemble32AVX2", 4)
	kernel("assemble64AVX2", 8)
	Generate()
}

// kernel is assembler.run for offsets of so many bytes.
func kernel(name string, width int) {
	TEXT(name, NOSPLIT, "func(a *byte, order *uint32, n int)")
	Doc(name + " is run for n > 0 steps.")
	a, order, n := Load(Param("a"), GP64()), Load(Param("order"), GP64()), Load(Param("n"), GP64())
	field := func(i int) reg.Register {
		r := GP64()
		MOVQ(Mem{Base: a, Disp: 8 * i}, r)
		return r
	}
	out, ends := field(0), field(1)
	data, steps, spans, cursors, shift := field(4), field(5), field(6), field(7), field(8)
	ADDQ(Mem{Base: a, Disp: 16}, out)
	ADDQ(Mem{Base: a, Disp: 24}, ends)

	Label("step")
	s, part, cursor, from, size := GP64(), GP64(), GP64(), GP64(), GP64()
	v := YMM()
	MOVL(Mem{Base: order}, part.As32())
	ADDQ(U8(4), order)
	MOVQ(Mem{Base: steps, Index: part, Scale: 8}, s)
	Comment("Constant bytes.")
	MOVL(s.As32(), part.As32())
	VMOVDQU(Mem{Base: data, Index: part, Scale: 1}, v)
	VMOVDQU(v, Mem{Base: out})
	Comment("The place of the field, and of the next of its column.")
	SHRQ(U8(32), s)
	MOVWLZX(s.As16(), part.As32())
	MOVQ(Mem{Base: cursors, Index: part, Scale: 8}, cursor)
	SHRL(U8(16), s.As32())
	MOVQ(Mem{Base: spans, Index: cursor, Scale: 1}, size)
	MOVL(s.As32(), from.As32())
	SHRL(U8(8), from.As32())
	ADDQ(from, cursor)
	MOVQ(cursor, Mem{Base: cursors, Index: part, Scale: 8})
	Comment("The field.")
	MOVL(size.As32(), from.As32())
	ADDQ(data, from)
	MOVL(s.As32(), part.As32())
	ANDL(U8(0x7f), part.As32())
	ADDQ(part, out)
	VMOVDQU(Mem{Base: from}, v)
	VMOVDQU(v, Mem{Base: out})
	SHRQ(U8(32), size)
	CMPQ(size, U8(32))
	JA(LabelRef("long"))

	Label("next")
	ADDQ(size, out)
	MOVQ(out, part)
	ADDQ(shift, part)
	if width == 4 {
		MOVL(part.As32(), Mem{Base: ends})
	} else {
		MOVQ(part, Mem{Base: ends})
	}
	Comment("On to the next value behind its last step.")
	SHRL(U8(7), s.As32())
	ANDL(U8(1), s.As32())
	LEAQ(Mem{Base: ends, Index: s, Scale: uint8(width)}, ends)
	DECQ(n)
	JNZ(LabelRef("step"))
	SUBQ(Mem{Base: a}, out)
	MOVQ(out, Mem{Base: a, Disp: 16})
	SUBQ(Mem{Base: a, Disp: 8}, ends)
	MOVQ(ends, Mem{Base: a, Disp: 24})
	VZEROUPPER()
	RET()

	Label("long")
	MOVL(U32(32), part.As32())
	Label("more")
	VMOVDQU(Mem{Base: from, Index: part, Scale: 1}, v)
	VMOVDQU(v, Mem{Base: out, Index: part, Scale: 1})
	ADDQ(U8(32), part)
	CMPQ(part, size)
	JB(LabelRef("more"))
	JMP(LabelRef("next"))
}
