// Command simdasm writes the AVX2 kernels of internal/base/simd: simd_amd64.s,
// which simd_amd64.go there declares.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	widen()
	narrow()
	count()
	repeat(32, func(src, dst Op) { VPBROADCASTD(src, dst) })
	repeat(64, func(src, dst Op) { VPBROADCASTQ(src, dst) })
	merge32()
	merge64()
	between()
	utf8()
	Generate()
}

// loop repeats a body of 8 values until none of n is left.
func loop(name string, n reg.GPVirtual, body func()) {
	Label(name)
	body()
	SUBQ(U8(8), n)
	JA(LabelRef(name))
}

// param loads a parameter.
func param(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

// broadcast64 fills a register with a parameter.
func broadcast64(p reg.GPVirtual) reg.VecVirtual {
	x, y := XMM(), YMM()
	VMOVQ(p, x)
	VPBROADCASTQ(x, y)
	return y
}

// broadcast32 is broadcast64 of the low 32 bits.
func broadcast32(p reg.Register) reg.VecVirtual {
	x, y := XMM(), YMM()
	VMOVD(p, x)
	VPBROADCASTD(x, y)
	return y
}

func widen() {
	TEXT("widenAVX2", NOSPLIT, "func(dst *[2]uint64, src *uint64, n int, a, b uint64)")
	Doc("widenAVX2 is Widen of n values, n > 0 and a multiple of 8.")
	dst, src, n := param("dst"), param("src"), param("n")
	a, factor := broadcast64(param("a")), param("b")
	zero := YMM()
	VPXOR(zero, zero, zero)
	half := func(i int, v reg.VecVirtual) {
		sign, low, high := YMM(), YMM(), YMM()
		VPADDQ(a, v, v)
		VPCMPGTQ(v, zero, sign)
		Comment("Unpacking works in halves of 128 bits: 0 2 1 3 brings 0 and 1 into the first.")
		VPERMQ(U8(0xd8), v, v)
		VPERMQ(U8(0xd8), sign, sign)
		VPUNPCKLQDQ(sign, v, low)
		VPUNPCKHQDQ(sign, v, high)
		VMOVDQU(low, Mem{Base: dst, Disp: 64 * i})
		VMOVDQU(high, Mem{Base: dst, Disp: 64*i + 32})
	}
	next := func() {
		ADDQ(U8(64), src)
		SUBQ(I8(-128), dst)
	}
	CMPQ(factor, U8(1))
	JNE(LabelRef("multiply"))
	loop("add", n, func() {
		for i := range 2 {
			v := YMM()
			VMOVDQU(Mem{Base: src, Disp: 32 * i}, v)
			half(i, v)
		}
		next()
	})
	VZEROUPPER()
	RET()

	Label("multiply")
	b := broadcast64(factor)
	upper := YMM()
	VPSRLQ(U8(32), b, upper)
	loop("times", n, func() {
		for i := range 2 {
			v, cross, other := YMM(), YMM(), YMM()
			VMOVDQU(Mem{Base: src, Disp: 32 * i}, v)
			Comment("The product modulo 2^64 is that of the low halves, and both of a low and a high half above it.")
			VPSRLQ(U8(32), v, cross)
			VPMULUDQ(b, cross, cross)
			VPMULUDQ(upper, v, other)
			VPADDQ(other, cross, cross)
			VPSLLQ(U8(32), cross, cross)
			VPMULUDQ(b, v, v)
			VPADDQ(cross, v, v)
			half(i, v)
		}
		next()
	})
	VZEROUPPER()
	RET()
}

func narrow() {
	TEXT("narrowAVX2", NOSPLIT, "func(dst *int32, src *uint64, n int, a, b uint64)")
	Doc("narrowAVX2 is Narrow of n values, n > 0 and a multiple of 8.")
	dst, src, n := param("dst"), param("src"), param("n")
	a, b := broadcast32(param("a").As32()), broadcast32(param("b").As32())
	loop("narrow", n, func() {
		v, w := YMM(), YMM()
		VMOVDQU(Mem{Base: src}, v)
		VMOVDQU(Mem{Base: src, Disp: 32}, w)
		Comment("The low halves of 0 1 4 5 and of 2 3 6 7, then in order.")
		VSHUFPS(U8(0x88), w, v, v)
		VPERMQ(U8(0xd8), v, v)
		VPMULLD(b, v, v)
		VPADDD(a, v, v)
		VMOVDQU(v, Mem{Base: dst})
		ADDQ(U8(64), src)
		ADDQ(U8(32), dst)
	})
	VZEROUPPER()
	RET()
}

func count() {
	TEXT("countAVX2", NOSPLIT, "func(dst *int32, n int, first, step int32)")
	Doc("countAVX2 is Count of n values, n > 0 and a multiple of 8.")
	dst, n := param("dst"), param("n")
	v, step := broadcast32(Load(Param("first"), GP32())), broadcast32(Load(Param("step"), GP32()))
	places := GLOBL("places", RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U32(uint32(i)))
	}
	from := YMM()
	VPMULLD(places, step, from)
	VPADDD(from, v, v)
	VPSLLD(U8(3), step, step)
	loop("count", n, func() {
		VMOVDQU(v, Mem{Base: dst})
		VPADDD(step, v, v)
		ADDQ(U8(32), dst)
	})
	VZEROUPPER()
	RET()
}

// ahead is how many values are written of a run without asking for its length.
const ahead = 16

func repeat(bits int, broadcast func(src, dst Op)) {
	TEXT(fmt.Sprintf("repeat%dAVX2", bits), NOSPLIT,
		fmt.Sprintf("func(dst *uint%d, n int, values *uint%d, lengths *uint32, runs int) (done, room int)", bits, bits))
	Doc(fmt.Sprintf("repeat%dAVX2 writes runs until none is left, or one does not leave room for %d values more.", bits, ahead))
	size := bits / 8
	dst, room := param("dst"), param("n")
	values, lengths, runs := param("values"), param("lengths"), param("runs")
	done, length, left, to := GP64(), GP64(), GP64(), GP64()
	v := YMM()
	store := func(base reg.GPVirtual) {
		for at := 0; at < ahead*size; at += 32 {
			VMOVDQU(v, Mem{Base: base, Disp: at})
		}
	}
	SUBQ(U8(ahead), room)
	XORQ(done, done)

	Label("run")
	MOVL(Mem{Base: lengths, Index: done, Scale: 4}, length.As32())
	CMPQ(length, room)
	JG(LabelRef("end"))
	broadcast(Mem{Base: values, Index: done, Scale: uint8(size)}, v)
	store(dst)
	CMPQ(length, U8(ahead))
	JA(LabelRef("long"))

	Label("next")
	LEAQ(Mem{Base: dst, Index: length, Scale: uint8(size)}, dst)
	SUBQ(length, room)
	INCQ(done)
	CMPQ(done, runs)
	JB(LabelRef("run"))

	Label("end")
	ADDQ(U8(ahead), room)
	Store(done, ReturnIndex(0))
	Store(room, ReturnIndex(1))
	VZEROUPPER()
	RET()

	Label("long")
	MOVQ(dst, to)
	MOVQ(length, left)
	Label("more")
	ADDQ(U32(uint32(ahead*size)), to)
	store(to)
	SUBQ(U8(ahead), left)
	CMPQ(left, U8(ahead))
	JA(LabelRef("more"))
	JMP(LabelRef("next"))
}

func merge32() {
	TEXT("merge32AVX2", NOSPLIT, "func(dst *uint32, codes *uint16, n int, entries *[8]uint32) (all uint64)")
	Doc("merge32AVX2 is Merge of n values, n > 0 and a multiple of 8.")
	dst, codes, n, from := param("dst"), param("codes"), param("n"), param("entries")
	entries := YMM()
	VMOVDQU(Mem{Base: from}, entries)
	all := YMM()
	VPXOR(all, all, all)
	loop("merge", n, func() {
		v := YMM()
		VPMOVZXWD(Mem{Base: codes}, v)
		VPOR(v, all, all)
		VPERMD(entries, v, v)
		VPOR(Mem{Base: dst}, v, v)
		VMOVDQU(v, Mem{Base: dst})
		ADDQ(U8(16), codes)
		ADDQ(U8(32), dst)
	})
	returnOr(all)
}

func merge64() {
	TEXT("merge64AVX2", NOSPLIT, "func(dst *uint64, codes *uint16, n int, entries *[8]uint64) (all uint64)")
	Doc("merge64AVX2 is Merge of n values, n > 0 and a multiple of 8.")
	dst, codes, n, from := param("dst"), param("codes"), param("n"), param("entries")
	Comment("The low and the high halves of the entries, each in order.")
	x, y, low, high := YMM(), YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: from}, x)
	VMOVDQU(Mem{Base: from, Disp: 32}, y)
	VSHUFPS(U8(0x88), y, x, low)
	VPERMQ(U8(0xd8), low, low)
	VSHUFPS(U8(0xdd), y, x, high)
	VPERMQ(U8(0xd8), high, high)
	all := YMM()
	VPXOR(all, all, all)
	loop("merge", n, func() {
		for i := range 2 {
			code, v := YMM(), YMM()
			VPMOVZXWQ(Mem{Base: codes, Disp: 8 * i}, code)
			VPOR(code, all, all)
			VPERMD(high, code, v)
			VPSLLQ(U8(32), v, v)
			VPERMD(low, code, code)
			VPBLENDD(U8(0x55), code, v, v)
			VPOR(Mem{Base: dst, Disp: 32 * i}, v, v)
			VMOVDQU(v, Mem{Base: dst, Disp: 32 * i})
		}
		ADDQ(U8(16), codes)
		ADDQ(U8(64), dst)
	})
	returnOr(all)
}

// returnOr ends a function that returns the OR of the quarters of a register, as it holds small numbers.
func returnOr(v reg.VecVirtual) {
	half, all := XMM(), GP64()
	VEXTRACTI128(U8(1), v, half)
	VPOR(v.AsX(), half, half)
	next := XMM()
	VPSRLDQ(U8(8), half, next)
	VPOR(next, half, half)
	VMOVQ(half, all)
	Store(all, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
