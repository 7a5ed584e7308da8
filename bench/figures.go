package main

import (
	"fmt"
	"slices"

	"github.com/amudai/amudai-go/internal/measure"
)

// opSize is no operation, but has figures like one.
const opSize = "size"

// stat is a figure of several rounds.
type stat struct {
	median, least, most float64
	known               bool
}

func statOf(values []float64) stat {
	if len(values) == 0 {
		return stat{}
	}
	return stat{measure.Median(values), slices.Min(values), slices.Max(values), true}
}

// String shows the median, with the spread if there is one.
func (s stat) String() string {
	switch {
	case !s.known:
		return "-"
	case s.least == s.most:
		return fmt.Sprintf("%.3f", s.median)
	}
	return fmt.Sprintf("%.3f (%s–%s)", s.median, short(s.least), short(s.most))
}

func short(v float64) string {
	if v < 0.1 {
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// of finds the figures of a contender, nil if it took no part.
func (r *result) of(name string) *figures {
	for _, f := range r.Runs {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// stat is the figure of a contender: a ratio to that of another one, but for
// shares, and for memory, which is in MiB.
func (r *result) stat(name, op, versus string) stat {
	f, base := r.of(name), r.of(versus)
	switch {
	case f == nil || base == nil:
		return stat{}
	case op == opSize:
		return statOf([]float64{float64(f.Size) / float64(base.Size)})
	case r.Unit == measure.MiB:
		return statOf(f.Values[op])
	case op == opScan22:
		return share(f, opScan22, opScan2)
	case op == opWrite22:
		return share(f, opWrite22, opWrite2)
	}
	return statOf(measure.Ratios(f.Values[op], base.Values[op]))
}

// share is how much of the work of two single threads two threads together do.
func share(f *figures, sideBySide, together string) stat {
	ratios := measure.Ratios(f.Values[sideBySide], f.Values[together])
	for i := range ratios {
		ratios[i] /= 2
	}
	return statOf(ratios)
}
