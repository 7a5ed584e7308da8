package rules

import "math"

// Digits leaves integers as they are (numeric.Change). Integers of too many digits have no result.
type Digits struct{ limit int64 } // as of Widening

// NewDigits returns the conversion to decimals of at most the given number of digits, with 64 bits.
func NewDigits(digits int) Digits { return Digits{NewWidening(digits).limit} }

// Values copies all of src. It returns false if an integer has too many digits.
func (c Digits) Values(dst, src []int64) bool {
	src = src[:len(dst)]
	if c.limit == math.MaxInt64 {
		copy(dst, src)
		return true
	}
	limit, span := uint64(c.limit), 2*uint64(c.limit)
	beyond := uint64(0)
	for i, v := range src {
		dst[i] = v
		beyond |= span - (uint64(v) + limit) // less than 2^63 if it is within
		beyond |= uint64(v) + limit
	}
	return beyond < 1<<63
}

// Line returns the line of the integers themselves, if both of its ends have few enough digits.
func (c Digits) Line(base, step, most uint64) (a, b uint64, ok bool) {
	return Widening(c).Line(base, step, most)
}

// Steps sets dst to a + b*q.
func (c Digits) Steps(dst, q []int64, a, b uint64) {
	q = q[:len(dst)]
	if a == 0 && b == 1 {
		copy(dst, q)
		return
	}
	if b == 1 {
		for i, v := range q {
			dst[i] = v + int64(a)
		}
		return
	}
	for i, v := range q {
		dst[i] = int64(b)*v + int64(a)
	}
}
