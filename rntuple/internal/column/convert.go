package column

import (
	"math"
	"unsafe"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// view is bytes as numbers, of which there are whole ones.
func view[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64](b []byte) []T {
	var t T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(t)))
}

// convert turns a block of elements, as the column decodes to them, into values from at on in dst. first is the number
// of the first one in its page.
func (c *Codec) convert(dst []byte, at int, block *scratch, count, first int) error {
	native := c.typ.Native()
	if c.typ.Real() {
		return c.convertReals(dst, at, block, count, first)
	}
	if c.typ.Index() && offsets(dst[c.kind.Size(at):], block[:count*kinds[native].width], native, c.kind) {
		return nil
	}
	var wide [blockLen]uint64
	signed := widen(wide[:count], block[:], native)
	if c.kind == KindBool {
		for i, v := range wide[:count] {
			bit := uint64(0)
			if v != 0 {
				bit = 1
			}
			bitmap.PutWord(dst, at+i, bit, 1)
		}
		return nil
	}
	low, span := c.kind.bounds(signed)
	for i, v := range wide[:count] {
		if v-low > span {
			if signed {
				return fault.Unsupportedf("element %d of a page, %d, does not fit %v", first+i, int64(v), c.kind)
			}
			return fault.Unsupportedf("element %d of a page, %d, does not fit %v", first+i, v, c.kind)
		}
	}
	narrow(dst[at*kinds[c.kind].width:], wide[:count], kinds[c.kind].width)
	return nil
}

// offsets stores the elements of an index column as offsets. It fails if one does not fit.
func offsets(out, in []byte, native, k Kind) bool {
	all := uint64(0) // the bits of all elements
	switch {
	case native == KindUint64 && k == KindOffset32:
		all = copyAs[uint32, uint64](out, in)
	case native == KindUint64:
		all = copyAs[uint64, uint64](out, in)
	case k == KindOffset32:
		all = copyAs[uint32, uint32](out, in)
	default:
		all = copyAs[uint64, uint32](out, in)
	}
	if k == KindOffset32 {
		return all <= math.MaxInt32
	}
	return all <= math.MaxInt64
}

// copyAs stores numbers of type F as those of type T. The result has all bits that some number has.
func copyAs[T, F uint32 | uint64](out, in []byte) (all uint64) {
	from := view[F](in)
	to := view[T](out)[:len(from)]
	for i, v := range from {
		all |= uint64(v)
		to[i] = T(v)
	}
	return all
}

// widen gives values as numbers of 64 bits, and tells whether they have a sign.
func widen(wide []uint64, b []byte, k Kind) (signed bool) {
	switch k {
	case KindBool, KindUint8, KindByte:
		widenFrom[uint8](wide, b)
	case KindChar, KindInt8:
		widenFrom[int8](wide, b)
	case KindInt16:
		widenFrom[int16](wide, b)
	case KindUint16:
		widenFrom[uint16](wide, b)
	case KindInt32:
		widenFrom[int32](wide, b)
	case KindUint32:
		widenFrom[uint32](wide, b)
	default:
		copy(wide, view[uint64](b))
	}
	return k.char() || k == KindInt16 || k == KindInt32 || k == KindInt64
}

func widenFrom[T int8 | uint8 | int16 | uint16 | int32 | uint32](wide []uint64, b []byte) {
	for i, v := range view[T](b)[:len(wide)] {
		wide[i] = uint64(v)
	}
}

// narrow stores the lower bytes of numbers.
func narrow(out []byte, wide []uint64, width int) {
	switch width {
	case 1:
		narrowTo[uint8](out, wide)
	case 2:
		narrowTo[uint16](out, wide)
	case 4:
		narrowTo[uint32](out, wide)
	case 8:
		copy(view[uint64](out), wide)
	}
}

func narrowTo[T uint8 | uint16 | uint32](out []byte, wide []uint64) {
	to := view[T](out)[:len(wide)]
	for i, v := range wide {
		to[i] = T(v)
	}
}

// bounds gives the least value that an integer kind can hold, and the distance from it to the greatest, among all 64-bit numbers
// with or without a sign. The distance of others, modulo 2^64, is greater.
func (k Kind) bounds(signed bool) (low, span uint64) {
	bits := 8 * kinds[k].width
	switch k {
	case KindChar, KindInt8, KindInt16, KindInt32, KindInt64:
		if signed {
			return -uint64(1 << (bits - 1)), 1<<bits - 1
		}
		return 0, 1<<(bits-1) - 1
	case KindOffset32, KindOffset64:
		return 0, 1<<(bits-1) - 1
	}
	if signed && bits == 64 {
		return 0, math.MaxInt64
	}
	return 0, 1<<bits - 1
}

func (c *Codec) convertReals(dst []byte, at int, block *scratch, count, first int) error {
	native := c.typ.Native()
	switch {
	case native == KindFloat16 && c.kind == KindFloat32:
		for i, out := 0, dst[4*at:]; i < count; i++ {
			le.PutUint32(out[4*i:], fromHalf(le.Uint16(block[2*i:])))
		}
		return nil
	case native == KindFloat32 && c.kind == KindFloat64:
		for i, out := 0, dst[8*at:]; i < count; i++ {
			le.PutUint64(out[8*i:], math.Float64bits(float64(math.Float32frombits(le.Uint32(block[4*i:])))))
		}
		return nil
	}
	for i := range count {
		v := realAt(block[:], i, native)
		if c.kind == KindFloat64 {
			le.PutUint64(dst[8*(at+i):], math.Float64bits(v))
			continue
		}
		f := float32(v)
		if class(v, 0x1p-1022) != class(float64(f), 0x1p-126) {
			return fault.Unsupportedf("element %d of a page, %v, does not fit float", first+i, v)
		}
		le.PutUint32(dst[4*(at+i):], math.Float32bits(f))
	}
	return nil
}

// class tells apart zero, numbers below the smallest normal one, other numbers, infinity, and not a number.
func class(v, normal float64) int {
	switch v = math.Abs(v); {
	case v == 0:
		return 0
	case v < normal:
		return 1
	case v <= math.MaxFloat64:
		return 2
	case v > math.MaxFloat64:
		return 3
	}
	return 4
}

func realAt(b []byte, i int, k Kind) float64 {
	switch k {
	case KindFloat16:
		return float64(math.Float32frombits(fromHalf(le.Uint16(b[2*i:]))))
	case KindFloat32:
		return float64(math.Float32frombits(le.Uint32(b[4*i:])))
	}
	return math.Float64frombits(le.Uint64(b[8*i:]))
}

// stored is the opposite of convert: it gives the elements of a column for values, which are those from at on in src. If
// they differ, they are put into the block.
func (c *Codec) stored(block *scratch, src []byte, at, count, first int) ([]byte, error) {
	native := c.typ.Native()
	width := kinds[c.kind].width
	switch {
	case c.typ == Real32Trunc || c.typ == Real32Quant:
		return block[:4*count], c.storedReals(block, src, at, count, first)
	case c.typ.Real() && c.kind != native:
		return block[:kinds[native].width*count], c.storedReals(block, src, at, count, first)
	case c.typ.Index() && width != kinds[native].width:
		return block[:kinds[native].width*count], c.storedOffsets(block, src, at, count, first)
	}
	return src[at*width : (at+count)*width], nil
}

func (c *Codec) storedOffsets(block *scratch, src []byte, at, count, first int) error {
	for i := range count {
		if c.kind == KindOffset32 || c.kind == KindUint32 {
			le.PutUint64(block[8*i:], uint64(le.Uint32(src[4*(at+i):])))
			continue
		}
		v := le.Uint64(src[8*(at+i):])
		if v > math.MaxUint32 {
			return fault.Limitf("element %d of a page, %d, does not fit a column of type %v", first+i, v, c.typ)
		}
		le.PutUint32(block[4*i:], uint32(v))
	}
	return nil
}

func (c *Codec) storedReals(block *scratch, src []byte, at, count, first int) error {
	step := c.step()
	for i := range count {
		v := realAt(src, at+i, c.kind)
		f := float32(v)
		switch c.typ {
		case Real32Quant:
			if !(v >= c.min && v <= c.max) {
				return fault.Limitf("element %d of a page, %v, is not in the range of its column, %v to %v", first+i, v, c.min, c.max)
			}
			le.PutUint32(block[4*i:], uint32(0.5+(v-c.min)/step))
			continue
		case Real32Trunc:
			le.PutUint32(block[4*i:], math.Float32bits(f)>>(32-c.bits))
		case Real16, SplitReal16:
			le.PutUint16(block[2*i:], toHalf(math.Float32bits(f)))
			if math.Abs(v) >= halfOverflow {
				f = float32(math.Inf(1))
			}
		case Real32, SplitReal32:
			le.PutUint32(block[4*i:], math.Float32bits(f))
		default:
			le.PutUint64(block[8*i:], math.Float64bits(v))
			continue
		}
		if math.IsInf(float64(f), 0) && !math.IsInf(v, 0) {
			return fault.Limitf("element %d of a page, %v, does not fit a column of type %v", first+i, v, c.typ)
		}
	}
	return nil
}

// halfOverflow is the least number that rounds to infinity as a half.
const halfOverflow = 65520

// fromHalf gives the bits of the float that equals a half.
func fromHalf(h uint16) uint32 {
	bits := uint32(h&0x7FFF) << 13
	if h&0x7C00 == 0x7C00 { // infinite, or not a number
		bits |= 0x7F80_0000
	} else { // the exponents of halves count from 15, those of floats from 127
		bits = math.Float32bits(math.Float32frombits(bits) * 0x1p112)
	}
	return bits | uint32(h&0x8000)<<16
}

// toHalf gives the half nearest to a float, the even one of two. What is not a number stays so.
func toHalf(bits uint32) uint16 {
	sign := uint16(bits>>16) & 0x8000
	bits &= 0x7FFF_FFFF
	f := math.Float32frombits(bits)
	switch {
	case f != f:
		return sign | 0x7E00 | uint16(bits>>13)&0x3FF
	case f >= halfOverflow:
		return sign | 0x7C00
	case f < 0x1p-14: // no normal half: the sum has its bits at the end
		return sign | uint16(math.Float32bits(f+0.5)-math.Float32bits(0.5))
	}
	bits += 0xFFF + bits>>13&1 // rounds when the lower bits are cut
	return sign | uint16((bits-112<<23)>>13)
}
