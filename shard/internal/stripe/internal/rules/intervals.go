package rules

import (
	"math"

	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/arrowmap/convert"
)

// Numbers are the wanted values of a column, as in its Arrow array: Ints of signed integers, dates, times and
// durations, in their unit, Uints of unsigned integers, Floats of floats. Ints of decimals are those times 10^scale.
// No interval contains NaN.
type Numbers struct {
	Ints   []numeric.Interval[int64]
	Uints  []numeric.Interval[uint64]
	Floats []numeric.Interval[float64]
}

// StoredOf returns the conversion of wanted numbers to intervals of stored values, or nil if that is not simple.
func StoredOf[T numeric.Value](rule arrowmap.Rule, unit convert.Unit) func(n *Numbers) []numeric.Interval[T] {
	var f any
	switch rule {
	case arrowmap.Same:
		return sameNumbers[T]
	case arrowmap.Ticks:
		f = timesOf(convert.TicksBetween, unit)
	case arrowmap.Span:
		f = timesOf(convert.SpanBetween, unit)
	}
	stored, _ := f.(func(n *Numbers) []numeric.Interval[T])
	return stored
}

// timesOf returns the conversion of times in a unit to intervals of stored times.
func timesOf[T uint64 | int64](between func(low, high int64, unit convert.Unit) (T, T, bool), unit convert.Unit) func(n *Numbers) []numeric.Interval[T] {
	return func(n *Numbers) (out []numeric.Interval[T]) {
		for _, i := range n.Ints {
			if low, high, ok := between(i.Low, i.High, unit); ok {
				out = append(out, numeric.Interval[T]{Low: low, High: high})
			}
		}
		return out
	}
}

// sameNumbers limits intervals to the range of T.
func sameNumbers[T numeric.Value](n *Numbers) (out []numeric.Interval[T]) {
	t := numeric.Of[T]()
	bits := 8 * t.Size()
	switch {
	case t.Float():
		for _, i := range n.Floats {
			out = append(out, numeric.Interval[T]{Low: T(i.Low), High: T(i.High)})
		}
	case t.Signed():
		most := int64(math.MaxInt64) >> (64 - bits)
		for _, i := range n.Ints {
			if low, high := max(i.Low, -most-1), min(i.High, most); low <= high {
				out = append(out, numeric.Interval[T]{Low: T(low), High: T(high)})
			}
		}
	default:
		most := uint64(math.MaxUint64) >> (64 - bits)
		for _, i := range n.Uints {
			if i.Low <= min(i.High, most) {
				out = append(out, numeric.Interval[T]{Low: T(i.Low), High: T(min(i.High, most))})
			}
		}
	}
	return out
}
