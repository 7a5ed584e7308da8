// Command prefixbinsasm writes the kernels of encoding/numeric/internal/prefixbins in assembly: rounds_amd64.s, which
// rounds_amd64.go there declares.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	codeBits = 12 // of a code at most
	streams  = 4
	perCheck = 4 // values of each stream between two looks at the end of the data
)

func main() {
	ConstraintExpr("!purego")
	for _, bits := range []int{8, 16, 32, 64} {
		for _, perLoad := range []int{1, perCheck} {
			rounds(bits, perLoad)
		}
	}
	Generate()
}

func param(name string) reg.GPVirtual {
	r := GP64()
	Load(Param(name), r)
	return r
}

// word are the instructions on words of a size.
type word struct {
	and, add func(imr, amr Op)
	store    func(r, m Op)
	as       func(reg.GPVirtual) reg.Register
}

var words = map[int]word{
	8:  {ANDB, ADDB, MOVB, func(r reg.GPVirtual) reg.Register { return r.As8() }},
	16: {ANDW, ADDW, MOVW, func(r reg.GPVirtual) reg.Register { return r.As16() }},
	32: {ANDL, ADDL, MOVL, func(r reg.GPVirtual) reg.Register { return r.As32() }},
	64: {ANDQ, ADDQ, MOVQ, func(r reg.GPVirtual) reg.Register { return r.As64() }},
}

// rounds is the kernel for values of so many bits.
func rounds(bits, perLoad int) {
	name := fmt.Sprintf("rounds%dx%d", bits, perLoad)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(dst, bins *uint%d, table *uint32, data *byte, pos *[%d]uint64, limit uint64, n int) int", bits, streams))
	Doc(fmt.Sprintf("%s decodes up to n > 0 times %d values of each stream, until a position is behind the limit, and returns how", name, perCheck),
		fmt.Sprintf("often. %d of a stream together have at most 57 bits.", perLoad))
	w, size := words[bits], bits/8
	dst, bins, table, data := param("dst"), param("bins"), param("table"), param("data")
	n, done := param("n"), GP64()
	XORL(done.As32(), done.As32())
	at := GP64()
	Load(Param("pos"), at)
	var pos [streams]reg.GPVirtual
	for k := range pos {
		pos[k] = GP64()
		MOVQ(Mem{Base: at, Disp: 8 * k}, pos[k])
	}

	Label("check")
	limit := GP64()
	Load(Param("limit"), limit)
	for _, p := range pos {
		CMPQ(p, limit)
		JHI(LabelRef("end"))
	}
	left := GP64() // values of each stream before the next look
	if perLoad < perCheck {
		MOVL(U32(perCheck/perLoad), left.As32())
		Label("load")
	}
	for k, p := range pos {
		x, low := GP64(), GP64()
		MOVQ(p, x)
		MOVQ(p, low)
		SHRQ(U8(3), x)
		ANDL(U8(7), low.As32())
		MOVQ(Mem{Base: data, Index: x, Scale: 1}, x)
		SHRXQ(low, x, x)
		for i := range perLoad {
			value(w, size, x, p, table, bins, Mem{Base: dst, Disp: (i*streams + k) * size}, i+1 == perLoad)
		}
	}
	ADDQ(U32(perLoad*streams*size), dst)
	if perLoad < perCheck {
		DECL(left.As32())
		JNZ(LabelRef("load"))
	}
	INCQ(done)
	DECQ(n)
	JNZ(LabelRef("check"))

	Label("end")
	Load(Param("pos"), at)
	for k, p := range pos {
		MOVQ(p, Mem{Base: at, Disp: 8 * k})
	}
	Store(done, ReturnIndex(0))
	RET()
}

// value decodes the value that the bits of x begin with, to out, and adds its bits to the position. But for the last, it takes them off x.
func value(w word, size int, x, pos, table, bins reg.GPVirtual, out Mem, last bool) {
	entry, length, v := GP64(), GP64(), x
	MOVL(x.As32(), entry.As32())
	ANDL(U32(1<<codeBits-1), entry.As32())
	MOVBLZX(Mem{Base: table, Index: entry, Scale: 4, Disp: 1}, length.As32())
	MOVL(Mem{Base: table, Index: entry, Scale: 4}, entry.As32())
	if !last {
		v = GP64()
	}
	SHRXQ(entry, x, v)
	if !last {
		SHRXQ(length, x, x)
	}
	ADDQ(length, pos)
	SHRL(U8(16), entry.As32())
	w.and(Mem{Base: bins, Index: entry, Scale: uint8(size), Disp: size}, w.as(v))
	w.add(Mem{Base: bins, Index: entry, Scale: uint8(size)}, w.as(v))
	w.store(w.as(v), out)
}
