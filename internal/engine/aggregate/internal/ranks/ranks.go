// Package ranks finds values by their rank among rows that are not sorted.
package ranks

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/column"
	"github.com/amudai/amudai-go/internal/engine/order"
)

// Of returns a function that finds the row of a rank, from 0, among some rows of an array, and one of the next rank if asked for.
func Of(mem memory.Allocator, arr arrow.Array) (func(of []int64, rank int, next bool) (row, after int64), error) {
	var col column.Column
	if err := col.Load(mem, arr); err != nil {
		return nil, err
	}
	var some []int64
	if v, ok := col.Ordinals(); ok {
		return func(of []int64, rank int, next bool) (row, after int64) {
			some = some[:0]
			for _, r := range of {
				some = append(some, v[r])
			}
			SelectInts(some, rank)
			sought := some[rank]
			row = of[slices.IndexFunc(of, func(r int64) bool { return v[r] == sought })]
			if next {
				sought = slices.Min(some[rank+1:])
				after = of[slices.IndexFunc(of, func(r int64) bool { return v[r] == sought })]
			}
			return row, after
		}, nil
	}
	e, err := order.NewEncoder([]order.Key{{Type: arr.DataType()}})
	if err != nil {
		return nil, err
	}
	key := e.Rows(arr)
	var x, y []byte
	compare := func(a, b int64) int {
		x, y = key(x[:0], int(a)), key(y[:0], int(b))
		return bytes.Compare(x, y)
	}
	return func(of []int64, rank int, next bool) (row, after int64) {
		some = append(some[:0], of...)
		Select(some, rank, compare)
		if next {
			after = slices.MinFunc(some[rank+1:], compare)
		}
		return some[rank], after
	}, nil
}

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

// SelectInts is Select of numbers. Each round leaves those on one side of a pivot, which a sample says to have about the rank n.
func SelectInts(v []int64, n int) {
	const size = 64
	for rounds := 2 * bits.Len(uint(len(v))); len(v) > 8*size && rounds > 0; rounds-- {
		var sample [size]int64
		for i := range sample {
			sample[i] = v[len(v)/size*i]
		}
		slices.Sort(sample[:])
		pivot := sample[n/(len(v)/size+1)]
		less := 0
		for i, x := range v { // without branches, which would be guessed wrong
			v[i], v[less] = v[less], x
			step := 0
			if x < pivot {
				step = 1
			}
			less += step
		}
		switch {
		case n < less:
			v = v[:less]
			continue
		case less > 0:
			v, n = v[less:], n-less
			continue
		}
		equal := 0 // the pivot is the least
		for i, x := range v {
			v[i], v[equal] = v[equal], x
			step := 0
			if x == pivot {
				step = 1
			}
			equal += step
		}
		if n < equal {
			return
		}
		v, n = v[equal:], n-equal
	}
	slices.Sort(v)
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

// Place is the rank below a quantile among n values, and the part of the way from there to the next one.
func Place(n int, q float64) (rank int, part float64) {
	at := float64(n-1) * q
	rank = int(at)
	return rank, at - float64(rank)
}

// Between is a value between two others, part of the way from the first.
func Between(a, b, part float64) float64 {
	if part == 0 || a == b {
		return a
	}
	return a + (b-a)*part
}
