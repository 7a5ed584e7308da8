// Command fastlanesasm writes the AVX2 kernels that pack and unpack FastLanes
// chunks: encoding/internal/fastlanes/kernels_amd64.s, which kernels_asm.go there declares.
package main

import (
	"fmt"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// order holds the order of the groups of 8 rows, 4 bits a group from the lowest on.
const order = 0x73516240

// rowLen is the bytes of a row of packed words, whatever their size.
const rowLen = 128

// parts is the number of registers that hold such a row.
const parts = rowLen / 32

type instruction = func(...Op)

// kernel packs or unpacks words of some bits. One kernel does all widths: shifts
// take their counts from registers.
type kernel struct {
	bits      int         // of a word
	right     instruction // count, from, to
	left      instruction
	add       instruction // x, y, y+x
	subtract  instruction // x, y, y-x
	broadcast instruction // from, to
}

// AVX2 does not shift bytes: it shifts pairs of them, and a mask removes the bits of the
// neighbour.
var kernels = []kernel{
	{8, VPSRLW, VPSLLW, VPADDB, VPSUBB, VPBROADCASTB},
	{16, VPSRLW, VPSLLW, VPADDW, VPSUBW, VPBROADCASTW},
	{32, VPSRLD, VPSLLD, VPADDD, VPSUBD, VPBROADCASTD},
	{64, VPSRLQ, VPSLLQ, VPADDQ, VPSUBQ, VPBROADCASTQ},
}

func main() {
	ConstraintExpr("!purego")
	for _, k := range kernels {
		k.unpack()
		k.pack()
	}
	Generate()
}

// state is the registers of a kernel.
type state struct {
	chunk, packed, end reg.GPVirtual  // the values, the row of packed words at hand, and the end of the packed words
	from, width        reg.GPVirtual  // the first bit of the value in its word, and the bits of a value
	base, mask         reg.VecVirtual // in each word
	low                reg.VecVirtual // the lower byte of each pair, for words of 8 bits
	count              reg.VecVirtual // of a shift
	tmp                reg.GPVirtual
}

// begin loads the parameters.
func (k kernel) begin(name, signature, chunk, packed string) state {
	TEXT(name, NOSPLIT, signature)
	Doc(fmt.Sprintf("%s takes a width of 1 to %d; the packed chunk has 128*width bytes.", name, k.bits))
	s := state{end: GP64(), from: GP64(), tmp: GP64(), base: YMM(), mask: YMM(), count: XMM()}
	s.chunk = Load(Param(chunk), GP64()).(reg.GPVirtual)
	s.packed = Load(Param(packed), GP64()).(reg.GPVirtual)
	base := Load(Param("base"), GP64())
	s.width = Load(Param("width"), GP64()).(reg.GPVirtual)
	x := XMM()
	VMOVQ(base, x)
	k.broadcast(x, s.base)
	VPCMPEQD(s.mask, s.mask, s.mask)
	if k.bits == 8 {
		s.low = YMM()
		VPSRLW(U8(8), s.mask, s.low)
	}
	MOVQ(U32(uint32(k.bits)), s.tmp)
	SUBQ(s.width, s.tmp)
	VMOVQ(s.tmp, s.count)
	k.shift(s, k.right, []reg.VecVirtual{s.mask}, []reg.VecVirtual{s.mask})
	MOVQ(s.width, s.end)
	SHLQ(U8(7), s.end)
	ADDQ(s.packed, s.end)
	XORQ(s.from, s.from)
	return s
}

// shift shifts all words of some registers by count.
func (k kernel) shift(s state, by instruction, from, to []reg.VecVirtual) {
	for i := range to {
		by(s.count, from[i], to[i])
	}
	if k.bits > 8 {
		return
	}
	stay := YMM()
	by(s.count, s.low, stay)
	VPBROADCASTB(stay.AsX(), stay)
	for _, x := range to {
		VPAND(stay, x, x)
	}
}

// rows does something with each row, in the order in which they follow each other in the
// words: 8 rows that are 128 values apart in the chunk, and then the next group of 8.
func (k kernel) rows(s state, each func(row reg.GPVirtual)) {
	size := k.bits / 8
	groups, row, last := GP64(), GP64(), GP64()
	MOVQ(U32(order), groups)

	Label("group")
	MOVQ(groups, row)
	ANDQ(U8(15), row)
	SHLQ(U8(uint8(bits.Len(uint(16*size))-1)), row)
	ADDQ(s.chunk, row)
	LEAQ(Mem{Base: row, Disp: 8 * 128 * size}, last)
	SHRQ(U8(4), groups)

	Label("row")
	each(row)
	ADDQ(U32(uint32(128*size)), row)
	CMPQ(row, last)
	JB(LabelRef("row"))
	CMPQ(s.packed, s.end)
	JB(LabelRef("group"))
	VZEROUPPER()
	RET()
}

// nextWord goes to the next row of packed words, if the value of this row ends in it or
// at its beginning, and else to a label.
func (k kernel) nextWord(s state, same string, between func()) {
	ADDQ(s.width, s.from)
	CMPQ(s.from, U8(uint8(k.bits)))
	JB(LabelRef(same))
	between()
	SUBQ(I8(-rowLen), s.packed)
	SUBQ(U8(uint8(k.bits)), s.from)
}

// setRest sets count to the bits of the value that lie in the word before.
func (k kernel) setRest(s state) {
	MOVQ(s.width, s.tmp)
	SUBQ(s.from, s.tmp)
	VMOVQ(s.tmp, s.count)
}

func (k kernel) unpack() {
	s := k.begin(fmt.Sprintf("unpack%d", k.bits),
		fmt.Sprintf("func(dst *[1024]uint%d, src *byte, base uint64, width int)", k.bits), "dst", "src")
	k.rows(s, func(row reg.GPVirtual) {
		x, y := registers(), registers()
		VMOVQ(s.from, s.count)
		load(s.packed, x)
		k.shift(s, k.right, x, x)
		k.nextWord(s, "store", func() {})
		JE(LabelRef("store"))

		Comment("The upper bits are the lowest of the next word.")
		k.setRest(s)
		load(s.packed, y)
		k.shift(s, k.left, y, y)
		for i := range parts {
			VPOR(y[i], x[i], x[i])
		}

		Label("store")
		for i := range parts {
			VPAND(s.mask, x[i], x[i])
			k.add(s.base, x[i], x[i])
		}
		store(x, row)
	})
}

func (k kernel) pack() {
	s := k.begin(fmt.Sprintf("pack%d", k.bits),
		fmt.Sprintf("func(dst *byte, src *[1024]uint%d, base uint64, width int)", k.bits), "src", "dst")
	words := registers()
	for _, w := range words {
		VPXOR(w, w, w)
	}
	k.rows(s, func(row reg.GPVirtual) {
		x, y := registers(), registers()
		load(row, x)
		VMOVQ(s.from, s.count)
		for i := range parts {
			k.subtract(s.base, x[i], x[i])
			VPAND(s.mask, x[i], x[i])
		}
		k.shift(s, k.left, x, y)
		for i := range parts {
			VPOR(y[i], words[i], words[i])
		}
		k.nextWord(s, "next", func() { store(words, s.packed) })

		Comment("The next word begins with the upper bits: with none, if all were stored.")
		k.setRest(s)
		k.shift(s, k.right, x, words)
		Label("next")
	})
}

func registers() []reg.VecVirtual {
	return []reg.VecVirtual{YMM(), YMM(), YMM(), YMM()}
}

func load(from reg.GPVirtual, row []reg.VecVirtual) {
	for i, x := range row {
		VMOVDQU(Mem{Base: from, Disp: 32 * i}, x)
	}
}

func store(row []reg.VecVirtual, to reg.GPVirtual) {
	for i, x := range row {
		VMOVDQU(x, Mem{Base: to, Disp: 32 * i})
	}
}
