package profile

import (
	"math"
	"sort"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/text"
)

// histogramOf counts sorted values in at most some ranges with round limits. Few values far away from the others are counted below
// or above all ranges. total is the number of values that the sorted ones stand for.
func histogramOf[T number](sorted []weighted[T], total int64, exact bool, f *formatter[T], bins int) *Histogram {
	for len(sorted) > 0 && math.IsInf(float64(sorted[0].value), 0) {
		sorted = sorted[1:]
	}
	for len(sorted) > 0 && math.IsInf(float64(sorted[len(sorted)-1].value), 0) {
		sorted = sorted[:len(sorted)-1]
	}
	if len(sorted) < 2 {
		return nil
	}
	have := int64(0)
	for _, w := range sorted {
		have += w.n
	}
	lo, hi := fences(sorted, have)
	edges := f.edges(float64(lo), float64(hi), bins)
	if len(edges) < 2 {
		return nil
	}
	h := &Histogram{Exact: exact, Bins: make([]Bin, len(edges)-1)}
	for i := range h.Bins {
		h.Bins[i].From, h.Bins[i].To = *f.edge(edges[i]), *f.edge(edges[i+1])
	}
	for _, w := range sorted {
		v := float64(w.value)
		switch i := sort.SearchFloat64s(edges, v); {
		case v < edges[0]:
			h.Below += w.n
		case v > edges[len(edges)-1]:
			h.Above += w.n
		case i < len(edges)-1 && edges[i] == v:
			h.Bins[i].Count += w.n
		default:
			h.Bins[i-1].Count += w.n
		}
	}
	if !exact {
		h.scale(float64(total) / float64(have))
	}
	return h
}

// scale turns counts of a sample into estimates.
func (h *Histogram) scale(by float64) {
	scaled := func(n int64) int64 { return int64(math.Round(float64(n) * by)) }
	for i := range h.Bins {
		h.Bins[i].Count = scaled(h.Bins[i].Count)
	}
	h.Below, h.Above = scaled(h.Below), scaled(h.Above)
}

// fences are the least and greatest value, or if values far away would hide the shape of the others, those within three
// times the distance of the quartiles from them.
func fences[T number](sorted []weighted[T], total int64) (lo, hi T) {
	lo, hi = sorted[0].value, sorted[len(sorted)-1].value
	a, b := float64(quantile(sorted, total, 0.25)), float64(quantile(sorted, total, 0.75))
	if a == b {
		a, b = float64(quantile(sorted, total, 0.05)), float64(quantile(sorted, total, 0.95))
	}
	reach := 3 * (b - a)
	inside := func(v T) bool { return float64(v) >= a-reach && float64(v) <= b+reach }
	if reach == 0 || 2*(b-a+2*reach) > float64(hi)-float64(lo) {
		return lo, hi
	}
	first := sort.Search(len(sorted), func(i int) bool { return float64(sorted[i].value) >= a-reach })
	last := first
	for last+1 < len(sorted) && inside(sorted[last+1].value) {
		last++
	}
	return sorted[first].value, sorted[last].value
}

// edges are the limits of at most some ranges from lo to hi, in the unit of collected values.
func (f *formatter[T]) edges(lo, hi float64, bins int) []float64 {
	if !(lo < hi) || math.IsInf(hi-lo, 0) {
		return nil
	}
	plain, _ := extension.Unwrap(f.dt)
	if unit, ok := secondsOf(plain); ok {
		if edges := calendarEdges(lo*unit, hi*unit, bins); edges != nil {
			for i := range edges {
				edges[i] /= unit
			}
			return edges
		}
	}
	integers := f.class != Number || arrow.IsInteger(plain.ID()) || arrow.IsDecimal(plain.ID())
	return roundEdges(lo, hi, bins, integers && f.factor == 1, f.factor)
}

// roundEdges are multiples of 1, 2 or 5 times a power of ten.
func roundEdges(lo, hi float64, bins int, integers bool, factor float64) []float64 {
	lo, hi = lo/factor, hi/factor
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/float64(bins))))
	for _, k := range []float64{1, 2, 5, 10, 20} {
		s := step * k
		if integers && s < 1 {
			s = 1
		}
		from, to := math.Floor(lo/s), math.Ceil(hi/s)
		if integers && s == 1 {
			to = math.Floor(hi) + 1 // a range for each integer
		}
		if n := to - from; n > float64(bins) || n < 1 || math.Abs(from) > 1<<52 || math.Abs(to) > 1<<52 {
			continue
		}
		var edges []float64
		for i := from; i <= to; i++ {
			edges = append(edges, i*s*factor)
		}
		return edges
	}
	return nil
}

// secondsOf is the length of the unit of dates and timestamps.
func secondsOf(dt arrow.DataType) (float64, bool) {
	switch t := dt.(type) {
	case *arrow.Date32Type:
		return text.DaySeconds, true
	case *arrow.Date64Type:
		return 1e-3, true
	case *arrow.DurationType:
	case arrow.TemporalWithUnit:
		return 1 / float64(text.PerSecond(t.TimeUnit())), true
	}
	return 0, false
}

// calendarEdges are round times, in seconds after 1970: beginnings of years, months, days, hours and so on. It is nil outside of the
// calendar, and for less than a few seconds.
func calendarEdges(lo, hi float64, bins int) []float64 {
	const most = 250_000_000_000 // seconds of about 8,000 years
	if math.Abs(lo) > most || math.Abs(hi) > most {
		return nil
	}
	for _, s := range []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 2 * 86400, 7 * 86400} {
		if n := math.Floor(hi/s) - math.Floor(lo/s) + 1; n > float64(bins) || (hi-lo)/s < 3 && s == 1 {
			if s == 1 && n <= float64(bins) {
				return nil
			}
			continue
		}
		var edges []float64
		for i := math.Floor(lo / s); i <= math.Floor(hi/s)+1; i++ {
			edges = append(edges, i*s)
		}
		return edges
	}
	from, to := time.Unix(int64(lo), 0).UTC(), time.Unix(int64(hi), 0).UTC()
	for _, months := range []int{1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000, 12000} {
		first := floorDiv(from.Year()*12+int(from.Month())-1, months)
		last := floorDiv(to.Year()*12+int(to.Month())-1, months)
		if last-first+1 > bins {
			continue
		}
		var edges []float64
		for i := first; i <= last+1; i++ {
			edges = append(edges, float64(time.Date(0, time.Month(i*months+1), 1, 0, 0, 0, 0, time.UTC).Unix()))
		}
		return edges
	}
	return nil
}

func floorDiv(a, b int) int {
	q, _ := text.FloorDiv(int64(a), int64(b))
	return int(q)
}

// edge formats the limit of a range.
func (f *formatter[T]) edge(v float64) *Value {
	if f.class == Time || f.class == Span {
		return f.float(v)
	}
	out := &Value{Float: v / f.factor, Number: true}
	out.Text = FormatFloat(out.Float)
	return out
}
