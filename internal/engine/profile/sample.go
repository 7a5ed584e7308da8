package profile

import (
	"math"
	"slices"
)

// sample is a stratified sample of the values of a column. It has all values at first. When it is full, every second
// pair loses one of its values at random, and from then on one of two values is taken, then one of four, and so on. The random numbers are
// the same in each run, so that results are.
//
// The rank of a quantile of m independent values has a standard deviation of at most 0.5/√m of all; that of strata is
// smaller. With at least m = 65,536 values, five standard deviations are below 1 % of the values.
type sample[T number] struct {
	limit  int
	values []T
	stride int64  // values for each one that is taken
	pick   int64  // the place of the next one in its stride
	at     int64  // place in the stride
	random uint64 // state of SplitMix64
}

type number interface{ ~int64 | ~uint64 | ~float64 }

func newSample[T number](limit int) *sample[T] { return &sample[T]{limit: limit, stride: 1} }

func (s *sample[T]) next() uint64 {
	s.random += 0x9e3779b97f4a7c15
	return mix(s.random)
}

// add takes some of the next values.
func (s *sample[T]) add(values []T) {
	for len(values) > 0 {
		if s.stride == 1 {
			n := min(len(values), s.limit-len(s.values))
			s.values = append(s.values, values[:n]...)
			values = values[n:]
		} else {
			values = s.take(values)
		}
		if len(s.values) >= s.limit {
			s.thin()
		}
	}
}

// take handles the rest of a stride.
func (s *sample[T]) take(values []T) []T {
	n := min(int64(len(values)), s.stride-s.at)
	if s.pick >= s.at && s.pick < s.at+n {
		s.values = append(s.values, values[s.pick-s.at])
	}
	if s.at += n; s.at == s.stride {
		s.at, s.pick = 0, int64(s.next()&uint64(s.stride-1))
	}
	return values[n:]
}

// thin keeps one of each two values.
func (s *sample[T]) thin() {
	for i := 0; i+1 < len(s.values); i += 2 {
		s.values[i/2] = s.values[i+int(s.next()>>63)]
	}
	s.values = s.values[:len(s.values)/2]
	s.stride *= 2
	s.at, s.pick = 0, int64(s.next()&uint64(s.stride-1))
}

// exact reports whether the sample has all values.
func (s *sample[T]) exact() bool { return s.stride == 1 }

// error is a bound of the error of ranks, as a share of all values, which holds for all practical purposes.
func (s *sample[T]) error() float64 {
	if s.exact() {
		return 0
	}
	return 5 * 0.5 / math.Sqrt(float64(max(len(s.values), 1)))
}

// weighted is a value and the number of its occurrences.
type weighted[T number] struct {
	value T
	n     int64
}

// sorted returns the values of the sample in order, which takes them from it.
func (s *sample[T]) sorted() []weighted[T] {
	slices.Sort(s.values)
	out := make([]weighted[T], 0, min(len(s.values), 1024))
	for _, v := range s.values {
		if k := len(out) - 1; k >= 0 && out[k].value == v {
			out[k].n++
		} else {
			out = append(out, weighted[T]{v, 1})
		}
	}
	return out
}

// quantile returns the value of a share of sorted values: the least value that has at least that share at or below it.
func quantile[T number](sorted []weighted[T], total int64, share float64) T {
	rank := max(int64(math.Ceil(share*float64(total))), 1)
	for _, w := range sorted {
		if rank -= w.n; rank <= 0 {
			return w.value
		}
	}
	return sorted[len(sorted)-1].value
}
