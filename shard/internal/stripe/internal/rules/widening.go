package rules

import (
	"math"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/simd"
	"github.com/amudai/amudai-go/internal/format/decimal"
)

// Widening converts integers to decimals of 128 bits (numeric.Change). Integers of too many digits have no result.
type Widening struct{ limit int64 } // the largest magnitude; MaxInt64 for no limit

// NewWidening returns the conversion to decimals of at most the given number of digits.
func NewWidening(digits int) Widening {
	if digits > 18 { // at least as many as an int64 has
		return Widening{math.MaxInt64}
	}
	limit := int64(1)
	for range digits {
		limit *= 10
	}
	return Widening{limit - 1}
}

// Values converts all of src. It returns false if an integer has too many digits.
func (c Widening) Values(dst []decimal.Int128, src []int64) bool {
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

// Line returns the line of the integers themselves, if both of its ends have few enough digits.
func (c Widening) Line(base, step, most uint64) (a, b uint64, ok bool) {
	first := int64(base)
	if first < -c.limit || first > c.limit {
		return 0, 0, false
	}
	return base, step, step == 0 || most <= uint64(c.limit-first)/step
}

// Steps sets dst to a + b*q.
func (c Widening) Steps(dst []decimal.Int128, q []int64, a, b uint64) {
	simd.Widen(arrowutil.As[[2]uint64](arrowutil.Bytes(dst)), arrowutil.As[uint64](arrowutil.Bytes(q)), a, b)
}
