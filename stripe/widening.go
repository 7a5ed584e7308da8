package stripe

import (
	"math"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/simd"
	"github.com/amudai/amudai-go/internal/format/decimal"
)

// widening makes decimals of 128 bits of integers (numeric.Change). Those of too
// many digits have no counterpart.
type widening struct{ limit int64 } // the largest magnitude; all if it is that of int64

func newWidening(digits int) widening {
	if digits > 18 { // at least as many as an int64 has
		return widening{math.MaxInt64}
	}
	limit := int64(1)
	for range digits {
		limit *= 10
	}
	return widening{limit - 1}
}

func (c widening) Values(dst []decimal.Int128, src []int64) bool {
	src = src[:len(dst)]
	if c.limit == math.MaxInt64 {
		for i, v := range src {
			dst[i] = decimal.Int128{Lo: uint64(v), Hi: v >> 63}
		}
		return true
	}
	limit, span := uint64(c.limit), 2*uint64(c.limit)
	beyond := uint64(0)
	for i, v := range src {
		dst[i] = decimal.Int128{Lo: uint64(v), Hi: v >> 63}
		beyond |= span - (uint64(v) + limit) // less than 2^63 if it is within
		beyond |= uint64(v) + limit
	}
	return beyond < 1<<63
}

// Line is that of the numbers themselves, if both ends have few enough digits.
func (c widening) Line(base, step, most uint64) (a, b uint64, ok bool) {
	first := int64(base)
	if first < -c.limit || first > c.limit {
		return 0, 0, false
	}
	return base, step, step == 0 || most <= uint64(c.limit-first)/step
}

func (c widening) Steps(dst []decimal.Int128, q []int64, a, b uint64) {
	simd.Widen(arrowutil.As[[2]uint64](arrowutil.Bytes(dst)), arrowutil.As[uint64](arrowutil.Bytes(q)), a, b)
}
