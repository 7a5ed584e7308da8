// Package ranks finds values by their rank among rows that are not sorted.
package ranks

import "slices"

// Select moves the n-th least row to its place, with none greater before it and none less behind it.
func Select(rows []int64, n int, compare func(a, b int64) int) {
	for len(rows) > 32 {
		pivot := median3(rows[0], rows[len(rows)/2], rows[len(rows)-1], compare)
		lo, at, hi := 0, 0, len(rows)
		for at < hi {
			switch c := compare(rows[at], pivot); {
			case c < 0:
				rows[lo], rows[at] = rows[at], rows[lo]
				lo++
				at++
			case c > 0:
				hi--
				rows[at], rows[hi] = rows[hi], rows[at]
			default:
				at++
			}
		}
		switch {
		case n < lo:
			rows = rows[:lo]
		case n >= hi:
			rows, n = rows[hi:], n-hi
		default:
			return
		}
	}
	slices.SortFunc(rows, compare)
}

func median3(a, b, c int64, compare func(a, b int64) int) int64 {
	if compare(a, b) > 0 {
		a, b = b, a
	}
	if compare(b, c) > 0 {
		b = c
		if compare(a, b) > 0 {
			b = a
		}
	}
	return b
}

// Neighbours are the rows around a quantile, and the part of the way between them.
func Neighbours(of []int64, q float64, compare func(a, b int64) int) (lo, hi int64, part float64) {
	at := float64(len(of)-1) * q
	floor := int(at)
	Select(of, floor, compare)
	lo, part = of[floor], at-float64(floor)
	if part == 0 {
		return lo, lo, 0
	}
	hi = of[floor+1]
	for _, row := range of[floor+2:] {
		if compare(row, hi) < 0 {
			hi = row
		}
	}
	return lo, hi, part
}

// Between is a value between two others, part of the way from the first.
func Between(a, b, part float64) float64 {
	if part == 0 || a == b {
		return a
	}
	return a + (b-a)*part
}
