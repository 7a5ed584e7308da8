package measure

import (
	"fmt"
	"slices"
)

// Stat is a figure of several rounds.
type Stat struct {
	Median, Least, Most float64
	Known               bool
}

// StatOf is the Stat of values, unknown if there are none.
func StatOf(values []float64) Stat {
	if len(values) == 0 {
		return Stat{}
	}
	return Stat{Median(values), slices.Min(values), slices.Max(values), true}
}

// String shows the median, with the spread if there is one.
func (s Stat) String() string {
	switch {
	case !s.Known:
		return "-"
	case s.Least == s.Most:
		return fmt.Sprintf("%.3f", s.Median)
	}
	return fmt.Sprintf("%.3f (%s–%s)", s.Median, short(s.Least), short(s.Most))
}

func short(v float64) string {
	if v < 0.1 {
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// Of finds the figures of a contender, nil if the contender was not measured.
func (r *Result) Of(name string) *Figures {
	for _, f := range r.Runs {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Stat is the figure of a contender as a ratio to that of another one. Shares are not divided.
func (r *Result) Stat(name, op, versus string) Stat {
	f, base := r.Of(name), r.Of(versus)
	switch {
	case f == nil || base == nil:
		return Stat{}
	case op == OpSize:
		return StatOf(Ratios([]float64{float64(f.Size)}, []float64{float64(base.Size)}))
	case op == OpScanShare:
		return share(f, OpScanShare, OpScanTwo)
	case op == OpWriteShare:
		return share(f, OpWriteShare, OpWriteTwo)
	}
	return StatOf(Ratios(f.Values[op], base.Values[op]))
}

// share is the throughput of one operation with two threads, relative to two operations with
// one thread each.
func share(f *Figures, sideBySide, together string) Stat {
	ratios := Ratios(f.Values[sideBySide], f.Values[together])
	for i := range ratios {
		ratios[i] /= 2
	}
	return StatOf(ratios)
}

// Cell is a figure as a cell of a table: in its unit for the base and for MiB, as a ratio
// otherwise.
func (r *Result) Cell(name, op string) string {
	f, s, base := r.Of(name), r.Stat(name, op, r.Runs[0].Name), name == r.Runs[0].Name
	switch {
	case op == OpSize && base:
		return fmt.Sprintf("%.1f MB", float64(f.Size)/1e6)
	case IsPeak(op) && len(f.Values[op]) > 0 && (base || !s.Known):
		return fmt.Sprintf("%.0f MiB", f.Median(op))
	case IsPeak(op) && s.Known:
		return fmt.Sprintf("%.2f: %.0f MiB", s.Median, f.Median(op))
	case op != OpSize && !IsShare(op) && base && len(f.Values[op]) > 0:
		return fmt.Sprintf("%.3f s", f.Median(op))
	}
	return s.String()
}
