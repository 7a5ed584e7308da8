//go:build !purego

package radixpack

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate go run -C ../../../tools ./radixasm -out ../encoding/internal/radixpack/fields_amd64.s -pkg radixpack

//go:noescape
func spreadBMI2(dst, src *byte, bit uint64, n int, groups *[2]uint64, count, stride int)

//go:noescape
func translateAVX2(dst, digits *byte, n, period, chunks int, slots *[3][32]byte, count int)

// fieldKernel tells that there is a kernel for digits that are fields of bits.
var fieldKernel = cpu.X86.HasAVX2 && cpu.X86.HasBMI2

// unpackFields unpacks n periods, of which the digits have room in d.digits.
func (d *Decoder) unpackFields(dst, packed unsafe.Pointer, bit uint64, n int) {
	f := &d.fields
	digits := &d.digits[0]
	spreadBMI2(digits, (*byte)(packed), bit, n, &f.groups[0], len(f.groups), 32*f.chunks)
	translateAVX2((*byte)(dst), digits, n, d.period, f.chunks, &f.slots[0], f.perChunk)
}
