// Package measure measures on machines that do other work, too. It uses CPU time instead of the
// clock, medians instead of means, and ratios of measurements next to each other in time
// instead of absolute figures.
package measure

import (
	"runtime"
	"slices"
	"time"
)

// enough is the time that a measurement should take. A faster function is repeated, at most
// mostRuns times.
const (
	enough   = 0.1
	mostRuns = 20
)

// Time is the CPU time of one run of f in seconds, garbage collection included:
// the mean of several runs if one is short.
func Time(f func() error) (float64, error) { return repeat(CPU, f) }

// Clock is the same by the clock, which includes the work of other programs.
func Clock(f func() error) (float64, error) {
	began := time.Now()
	return repeat(func() float64 { return time.Since(began).Seconds() }, f)
}

func repeat(now func() float64, f func() error) (float64, error) {
	runtime.GC()
	before := now()
	for runs := 1; ; runs++ {
		if err := f(); err != nil {
			return 0, err
		}
		if took := now() - before; took >= enough || runs == mostRuns {
			return took / float64(runs), nil
		}
	}
}

// Median is the middle of values, the greater of the two middle ones, 0 of none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

// Ratios divides values by those of a base round by round, so that changes in the speed of the
// machine cancel out. A round that the base lacks is compared with the base's median.
func Ratios(values, base []float64) []float64 {
	out := make([]float64, 0, len(values))
	for i, v := range values {
		b := Median(base)
		if i < len(base) {
			b = base[i]
		}
		if b > 0 {
			out = append(out, v/b)
		}
	}
	return out
}
