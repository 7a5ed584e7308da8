// Package bounds finds the least and the greatest of values, and gathers values
// that are not null.
package bounds

import "github.com/amudai/amudai-go/internal/base/bitmap"

// Value is a type of numbers.
type Value interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// Of returns the least and the greatest of v, and the number of values that are not NaN. If it
// is 0, lo and hi are 0. The result may be either of 0 and -0.
func Of[T Value](v []T) (lo, hi T, n int) {
	for len(v) > 0 && v[0] != v[0] {
		v = v[1:]
	}
	if len(v) == 0 {
		return lo, hi, 0
	}
	n = len(v)
	lo, hi = v[0], v[0]
	lo1, hi1, lo2, hi2, lo3, hi3 := lo, hi, lo, hi, lo, hi // four chains run at once
	for len(v) >= 4 {
		a, b, c, d := v[0], v[1], v[2], v[3]
		lo, hi = least(lo, a), greatest(hi, a)
		lo1, hi1 = least(lo1, b), greatest(hi1, b)
		lo2, hi2 = least(lo2, c), greatest(hi2, c)
		lo3, hi3 = least(lo3, d), greatest(hi3, d)
		n -= nan(a) + nan(b) + nan(c) + nan(d)
		v = v[4:]
	}
	for _, x := range v {
		lo, hi = least(lo, x), greatest(hi, x)
		n -= nan(x)
	}
	return least(least(lo, lo1), least(lo2, lo3)), greatest(greatest(hi, hi1), greatest(hi2, hi3)), n
}

// least is the lesser of a, which is not NaN, and b, which may be.
func least[T Value](a, b T) T {
	if b < a {
		return b
	}
	return a
}

func greatest[T Value](a, b T) T {
	if b > a {
		return b
	}
	return a
}

func nan[T Value](x T) int {
	if x != x {
		return 1
	}
	return 0
}

// GatherLen is the maximum number of values of one Gather.
const GatherLen = 256

// Gather returns non-null values from position at on, and the position behind them. The result
// is a slice of values where no nulls are near, else a copy in buf. It may be empty.
func Gather[T any](values []T, valid bitmap.Bits, at int, buf *[GatherLen]T) (run []T, next int) {
	n := len(values)
	if valid.Data == nil {
		return values[at:], n
	}
	end := at
	for end < n && valid.Word(end) == full(n-end) {
		end = min(end+64, n)
	}
	if end > at {
		return values[at:end], end
	}
	k := 0
	for at < n && k <= GatherLen-64 {
		word := valid.Word(at)
		if word == full(n-at) {
			break
		}
		part := values[at:min(at+64, n)]
		out := buf[k : k+64]
		j := 0
		for _, v := range part {
			out[j&63] = v
			j += int(word & 1)
			word >>= 1
		}
		k += j
		at += len(part)
	}
	return buf[:k], at
}

// full is a word of n set bits, 64 at most.
func full(n int) uint64 { return ^uint64(0) >> (64 - min(n, 64)) }
