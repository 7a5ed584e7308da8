//go:build !purego

package prefixbins

import (
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
)

//go:generate go run -C ../../../../tools ./prefixbinsasm -out ../encoding/numeric/internal/prefixbins/rounds_amd64.s -pkg prefixbins

//go:noescape
func rounds8x1(dst, bins *uint8, table *uint32, data *byte, pos *[4]uint64, limit uint64, n int) int

//go:noescape
func rounds8x4(dst, bins *uint8, table *uint32, data *byte, pos *[4]uint64, limit uint64, n int) int

//go:noescape
func rounds16x1(dst, bins *uint16, table *uint32, data *byte, pos *[4]uint64, limit uint64, n int) int

//go:noescape
func rounds16x4(dst, bins *uint16, table *uint32, data *byte, pos *[4]uint64, limit uint64, n int) int

//go:noescape
func rounds32x1(dst, bins *uint32, table *uint32, data *byte, pos *[4]uint64, limit uint64, n int) int

//go:noescape
func rounds32x4(dst, bins *uint32, table *uint32, data *byte, pos *[4]uint64, limit uint64, n int) int

//go:noescape
func rounds64x1(dst, bins *uint64, table *uint32, data *byte, pos *[4]uint64, limit uint64, n int) int

//go:noescape
func rounds64x4(dst, bins *uint64, table *uint32, data *byte, pos *[4]uint64, limit uint64, n int) int

// kernels tells that there are kernels in assembly.
var kernels = cpu.X86.HasBMI2

// roundsAsm is roundsGo for n > 0 rounds at most, and returns their number. If short, one load of 8 bytes holds the values
// of a stream in a round.
func (d *binDecoder[U]) roundsAsm(dst []U, n int, limit uint64, short bool) int {
	out, bins := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(d.bins))
	table, data := unsafe.SliceData(d.table), unsafe.SliceData(d.data)
	switch bits := word.BitsOf[U](); {
	case bits == 8 && short:
		return rounds8x4((*uint8)(out), (*uint8)(bins), table, data, &d.pos, limit, n)
	case bits == 8:
		return rounds8x1((*uint8)(out), (*uint8)(bins), table, data, &d.pos, limit, n)
	case bits == 16 && short:
		return rounds16x4((*uint16)(out), (*uint16)(bins), table, data, &d.pos, limit, n)
	case bits == 16:
		return rounds16x1((*uint16)(out), (*uint16)(bins), table, data, &d.pos, limit, n)
	case bits == 32 && short:
		return rounds32x4((*uint32)(out), (*uint32)(bins), table, data, &d.pos, limit, n)
	case bits == 32:
		return rounds32x1((*uint32)(out), (*uint32)(bins), table, data, &d.pos, limit, n)
	case short:
		return rounds64x4((*uint64)(out), (*uint64)(bins), table, data, &d.pos, limit, n)
	}
	return rounds64x1((*uint64)(out), (*uint64)(bins), table, data, &d.pos, limit, n)
}
