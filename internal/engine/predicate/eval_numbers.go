package predicate

import (
	"math/bits"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/simd"
	"github.com/amudai/amudai-go/internal/engine/valueset"
)

func bools(t valueset.Bools, arr *array.Boolean, dst []byte) {
	rows := arr.Len()
	if b := arr.Data().Buffers()[1]; b != nil && rows > 0 {
		v := bitmap.Bits{Data: b.Bytes(), Off: arr.Data().Offset(), Len: rows}
		for i := range len(dst) / 8 {
			putWord(dst, i, v.Word(64*i))
		}
	}
	if t.False {
		invert(dst, rows)
	}
}

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

func signedInts(t valueset.Ints, arr arrow.Array, dst []byte) bool {
	switch arr.DataType().ID() {
	case arrow.INT8:
		inIntervals(arrowutil.Values[int8](arr), t, dst)
	case arrow.INT16:
		inIntervals(arrowutil.Values[int16](arr), t, dst)
	case arrow.INT32, arrow.DATE32, arrow.TIME32, arrow.DECIMAL32:
		inIntervals(arrowutil.Values[int32](arr), t, dst)
	case arrow.INT64, arrow.DATE64, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION, arrow.DECIMAL64:
		inIntervals(arrowutil.Values[int64](arr), t, dst)
	default:
		return false
	}
	return true
}

func unsignedInts(t valueset.Uints, arr arrow.Array, dst []byte) bool {
	switch arr.DataType().ID() {
	case arrow.UINT8:
		inIntervals(arrowutil.Values[uint8](arr), t, dst)
	case arrow.UINT16:
		inIntervals(arrowutil.Values[uint16](arr), t, dst)
	case arrow.UINT32:
		inIntervals(arrowutil.Values[uint32](arr), t, dst)
	case arrow.UINT64:
		inIntervals(arrowutil.Values[uint64](arr), t, dst)
	default:
		return false
	}
	return true
}

// manyIntervals is the most intervals for which a loop for each is cheaper than a binary search among them for each value.
const manyIntervals = 8

// inIntervals sets the bits of the values that lie in an interval.
func inIntervals[T integer, U int64 | uint64](values []T, intervals []valueset.Interval[U], dst []byte) {
	if len(intervals) > manyIntervals {
		eachWord(values, dst, func(v []T) (w uint64) {
			for i, x := range v {
				if among(U(x), intervals) {
					w |= 1 << i
				}
			}
			return w
		})
		return
	}
	clear(dst)
	out := arrowutil.As[uint64](dst)
	for _, i := range intervals {
		lo, hi := clip[T](i.Lo), clip[T](i.Hi)
		if U(lo) <= i.Hi && U(hi) >= i.Lo {
			setBetween(out, values, lo, hi)
		}
	}
}

// clip is the number of type T that is nearest to v.
func clip[T integer, U int64 | uint64](v U) T {
	bits := 8 * unsafe.Sizeof(T(0))
	most := ^T(0)
	if most < 0 {
		most = T(1)<<(bits-1) - 1
	}
	least := -most - 1
	switch {
	case v > U(most):
		return most
	case least < 0 && v < U(least):
		return least
	}
	return T(v)
}

// setBetween sets the bits of the values from lo to hi. A value v lies between them if v-lo <= hi-lo in wrapping
// arithmetic, for signed and unsigned numbers alike.
func setBetween[T integer](dst []uint64, v []T, lo, hi T) {
	switch unsafe.Sizeof(lo) {
	case 1:
		simd.Between(dst, arrowutil.As[uint8](arrowutil.Bytes(v)), uint8(lo), uint8(hi-lo))
	case 2:
		simd.Between(dst, arrowutil.As[uint16](arrowutil.Bytes(v)), uint16(lo), uint16(hi-lo))
	case 4:
		simd.Between(dst, arrowutil.As[uint32](arrowutil.Bytes(v)), uint32(lo), uint32(hi-lo))
	default:
		simd.Between(dst, arrowutil.As[uint64](arrowutil.Bytes(v)), uint64(lo), uint64(hi-lo))
	}
}

// among reports whether a value lies in one of the intervals, by binary search.
func among[U int64 | uint64 | float64](v U, intervals []valueset.Interval[U]) bool {
	lo, n := 0, len(intervals)
	for n > 1 { // the last interval that begins at or below v is one of those from lo up to lo+n
		half := n / 2
		lo += half & -bitmap.Bit(intervals[lo+half].Lo <= v) // without a branch, which could not be predicted
		n -= half
	}
	return intervals[lo].Lo <= v && v <= intervals[lo].Hi
}

// eachWord sets each word of a bitmap to the result of word for its values, up to 64.
func eachWord[T any](values []T, dst []byte, word func(v []T) uint64) {
	for i := range len(dst) / 8 {
		putWord(dst, i, word(values[64*i:min(64*i+64, len(values))]))
	}
}

func floats(t valueset.Floats, arr arrow.Array, dst []byte) bool {
	switch arr.DataType().ID() {
	case arrow.FLOAT16:
		wide := make([]float32, arr.Len())
		for i, v := range arrowutil.Values[uint16](arr) {
			wide[i] = float16.FromBits(v).Float32()
		}
		inFloats(wide, t, dst)
	case arrow.FLOAT32:
		inFloats(arrowutil.Values[float32](arr), t, dst)
	case arrow.FLOAT64:
		inFloats(arrowutil.Values[float64](arr), t, dst)
	default:
		return false
	}
	return true
}

func inFloats[F float32 | float64](values []F, t valueset.Floats, dst []byte) {
	if len(t.Intervals) > manyIntervals {
		eachWord(values, dst, func(v []F) (w uint64) {
			for i, x := range v {
				if among(float64(x), t.Intervals) || t.NaN && x != x {
					w |= 1 << i
				}
			}
			return w
		})
		return
	}
	clear(dst)
	for _, interval := range t.Intervals {
		lo, hi := F(interval.Lo), F(interval.Hi)
		for i := range len(dst) / 8 {
			putWord(dst, i, getWord(dst, i)|between(values[64*i:min(64*i+64, len(values))], lo, hi))
		}
	}
	if !t.NaN {
		return
	}
	for i := range len(dst) / 8 {
		v := values[64*i : min(64*i+64, len(values))]
		putWord(dst, i, getWord(dst, i)|^equal(v, v)&(^uint64(0)>>(64-len(v))))
	}
}

// between finds those of up to 64 floats that lie in an interval.
func between[F float32 | float64](v []F, lo, hi F) (w uint64) {
	for i, x := range v {
		var above, below uint64
		if x >= lo {
			above = 1
		}
		if x <= hi {
			below = 1
		}
		w |= above & below << (i & 63)
	}
	return w
}

func decimals(t valueset.Decimals, arr arrow.Array, dst []byte) bool {
	switch arr.DataType().ID() {
	case arrow.DECIMAL128:
		eachWord(arrowutil.Values[[2]uint64](arr), dst, func(v [][2]uint64) (w uint64) {
			for _, i := range t {
				w |= in128(v, i)
			}
			return w
		})
	case arrow.DECIMAL256:
		eachWord(arrowutil.Values[[4]uint64](arr), dst, func(v [][4]uint64) (w uint64) {
			for k, x := range v {
				for _, i := range t {
					if i.Lo.Compare(x) <= 0 && i.Hi.Compare(x) >= 0 {
						w |= 1 << k
					}
				}
			}
			return w
		})
	default:
		return false
	}
	return true
}

// in128 finds those of up to 64 numbers of 128 bits that lie in an interval of such numbers.
func in128(v [][2]uint64, interval valueset.Interval[valueset.Int256]) (w uint64) {
	lo0, lo1 := interval.Lo[0], interval.Lo[1]
	width0, borrow := bits.Sub64(interval.Hi[0], lo0, 0)
	width1, _ := bits.Sub64(interval.Hi[1], lo1, borrow)
	for i, x := range v {
		d0, borrow := bits.Sub64(x[0], lo0, 0)
		d1, _ := bits.Sub64(x[1], lo1, borrow)
		_, borrow = bits.Sub64(width0, d0, 0)
		_, outside := bits.Sub64(width1, d1, borrow)
		w |= (outside ^ 1) << (i & 63)
	}
	return w
}
