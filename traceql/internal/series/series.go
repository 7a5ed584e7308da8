package series

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/value"
)

// Label is a name and value of a series.
type Label struct {
	Name  string
	Value value.Value
}

// Series is values at the intervals of a window. NaN stands for none.
type Series struct {
	Labels    []Label
	Values    []float64
	Exemplars []Exemplar
}

// Exemplar is an observation that a value is made of.
type Exemplar struct {
	Time  int64
	Value float64 // NaN: that of the series
	Of    any     // the caller's

	bucket float64 // of the last number
}

// Observation is a span as a function of time series sees it.
type Observation struct {
	Time    int64
	By      []value.Value
	Numbers []value.Value
	Of      func() (any, error) // an exemplar; nil if none is wanted
}

// Set is the series of a function. It belongs to one goroutine.
type Set struct {
	f      *lang.Metrics
	w      Window
	limit  int // of samples
	groups map[string]*group
	cells  int
	key    strings.Builder
}

// group is the observations with the same values of by().
type group struct {
	by        []value.Value
	cells     []cell              // by interval
	buckets   map[float64][]int64 // counts by interval, of functions of distributions
	exemplars map[int]Exemplar    // the first one of an interval
}

// cell is the observations of an interval.
type cell struct {
	count int64
	value float64 // the sum, or the least or greatest
}

// NewSet makes the set of a function other than compare(). limit bounds the values of all series before some are left out.
func NewSet(f *lang.Metrics, w Window, limit int) *Set {
	return &Set{f: f, w: w, limit: limit, groups: map[string]*group{}}
}

// take counts the values of a new series.
func take(cells *int, w Window, limit int) error {
	if *cells += w.Len(); *cells > limit {
		return fault.Limitf("the time series have more than %d samples: the query needs fewer groups, a larger step, or a higher limit", limit)
	}
	return nil
}

func (s *Set) group(by []value.Value) (*group, error) {
	s.key.Reset()
	for _, v := range by {
		text := v.Key()
		fmt.Fprintf(&s.key, "%d %s", len(text), text)
	}
	if g, ok := s.groups[s.key.String()]; ok {
		return g, nil
	}
	if err := take(&s.cells, s.w, s.limit); err != nil {
		return nil, err
	}
	g := &group{cells: make([]cell, s.w.Len()), exemplars: map[int]Exemplar{}}
	for _, v := range by {
		g.by = append(g.by, v.Clone())
	}
	if s.isDistribution() {
		g.buckets = map[float64][]int64{}
	}
	s.groups[s.key.String()] = g
	return g, nil
}

func (s *Set) isDistribution() bool {
	return s.f.Func == "quantile_over_time" || s.f.Func == "histogram_over_time"
}

// Add adds an observation. One outside of the window does not count.
func (s *Set) Add(o Observation) error {
	i := s.w.Index(o.Time)
	if i < 0 || s.f.X != nil && !slices.ContainsFunc(o.Numbers, isNumber) {
		return nil
	}
	g, err := s.group(o.By)
	if err != nil {
		return err
	}
	e := Exemplar{Time: o.Time, Value: math.NaN()}
	if s.f.X == nil {
		g.cells[i].count++
	}
	for _, v := range o.Numbers {
		if !isNumber(v) {
			continue
		}
		e.Value = number(v)
		if g.buckets == nil {
			g.cells[i].add(s.f.Func, e.Value)
			continue
		}
		e.bucket = bucketOf(v)
		if g.buckets[e.bucket] == nil {
			if err := take(&s.cells, s.w, s.limit); err != nil {
				return err
			}
			g.buckets[e.bucket] = make([]int64, s.w.Len())
		}
		g.buckets[e.bucket][i]++
	}
	if known, ok := g.exemplars[i]; o.Of != nil && (!ok || o.Time < known.Time) {
		if e.Of, err = o.Of(); err != nil {
			return err
		}
		g.exemplars[i] = e
	}
	return nil
}

// isNumber reports whether a value is a number other than NaN.
func isNumber(v value.Value) bool { return v.Kind().IsNumber() && isSample(v.Float64()) }

func (c *cell) add(function string, n float64) {
	c.count++
	switch {
	case c.count == 1:
		c.value = n
	case function == "min_over_time":
		c.value = min(c.value, n)
	case function == "max_over_time":
		c.value = max(c.value, n)
	default:
		c.value += n
	}
}

// number is a number of a series: that of a duration is in seconds.
func number(v value.Value) float64 {
	if v.Kind() == value.Duration {
		return v.Float64() / 1e9
	}
	return v.Float64()
}

// bucketOf is the power of two that is the least one of at least a number; 0 for one that is not above 0. Those of durations are of nanoseconds, in seconds.
func bucketOf(v value.Value) float64 {
	n := v.Float64()
	if !(n > 0) {
		return 0
	}
	fraction, exponent := math.Frexp(n) // n = fraction * 2^exponent, fraction in [0.5, 1)
	if fraction == 0.5 {
		exponent--
	}
	b := math.Ldexp(1, exponent)
	if v.Kind() == value.Duration {
		b /= 1e9
	}
	return b
}

// Result are the series by their labels, with up to so many exemplars in all.
func (s *Set) Result(exemplars int) []Series {
	if len(s.groups) == 0 && s.f.By == nil && s.f.X == nil { // nothing was counted
		s.groups[""] = &group{cells: make([]cell, s.w.Len())}
	}
	var list []Series
	for _, key := range slices.Sorted(maps.Keys(s.groups)) {
		list = append(list, s.seriesOf(s.groups[key])...)
	}
	slices.SortStableFunc(list, func(a, b Series) int { return compareLabels(a.Labels, b.Labels) })
	list = s.then(list)
	for k := range list {
		list[k].finish(s.w, (exemplars+len(list)-1)/len(list), &exemplars)
	}
	return slices.DeleteFunc(list, func(x Series) bool { return !slices.ContainsFunc(x.Values, isSample) })
}

func isSample(v float64) bool { return v == v }

// seriesOf are the series of a group.
func (s *Set) seriesOf(g *group) (list []Series) {
	labels := s.labels(g)
	var seen []Exemplar
	for _, i := range slices.Sorted(maps.Keys(g.exemplars)) {
		seen = append(seen, g.exemplars[i])
	}
	switch s.f.Func {
	case "histogram_over_time":
		for _, b := range slices.Sorted(maps.Keys(g.buckets)) {
			out := Series{Labels: with(labels, "__bucket", b), Values: make([]float64, s.w.Len())}
			for i, n := range g.buckets[b] {
				out.Values[i] = float64(n)
			}
			for _, e := range seen {
				if e.bucket == b {
					e.Value = math.NaN() // the count
					out.Exemplars = append(out.Exemplars, e)
				}
			}
			list = append(list, out)
		}
		return list
	case "quantile_over_time":
		return s.quantiles(g, labels, seen)
	}
	out := Series{Labels: labels, Values: make([]float64, s.w.Len()), Exemplars: seen}
	for i, c := range g.cells {
		out.Values[i] = c.sample(s.f.Func, s.w)
	}
	return []Series{out}
}

func (c cell) sample(function string, w Window) float64 {
	switch {
	case function == "rate":
		return float64(c.count) / w.Seconds()
	case function == "count_over_time":
		return float64(c.count)
	case c.count == 0:
		return math.NaN()
	case function == "avg_over_time":
		return c.value / float64(c.count)
	}
	return c.value
}

// labels are those of the values of by() that are there. Without by() there is the name of the function.
func (s *Set) labels(g *group) (list []Label) {
	for i, e := range s.f.By {
		if !g.by[i].IsNil() {
			list = append(list, Label{e.String(), g.by[i]})
		}
	}
	switch {
	case s.f.By == nil && !s.isDistribution():
		list = append(list, Label{"__name__", value.OfString(s.f.Func)})
	case list == nil && s.f.By != nil:
		list = append(list, Label{s.f.By[0].String(), value.Value{}})
	}
	return list
}

func with(labels []Label, name string, f float64) []Label {
	return append(slices.Clip(labels), Label{name, value.OfFloat(f)})
}

// quantiles are a series for each quantile. An exemplar is one of the series whose value is nearest.
func (s *Set) quantiles(g *group, labels []Label, seen []Exemplar) (list []Series) {
	bounds := slices.Sorted(maps.Keys(g.buckets))
	for _, q := range s.f.Quantiles {
		out := Series{Labels: with(labels, "p", q), Values: make([]float64, s.w.Len())}
		for i := range out.Values {
			out.Values[i] = quantile(q, bounds, func(b float64) int64 { return g.buckets[b][i] })
		}
		list = append(list, out)
	}
	for _, e := range seen {
		i := s.w.Index(e.Time)
		nearest := 0
		for k := range list {
			if math.Abs(list[k].Values[i]-e.Value) < math.Abs(list[nearest].Values[i]-e.Value) {
				nearest = k
			}
		}
		list[nearest].Exemplars = append(list[nearest].Exemplars, e)
	}
	return list
}

// quantile estimates a quantile as Tempo does: the number of values is rounded up, and a part of a bucket is taken on a logarithmic scale.
func quantile(q float64, bounds []float64, count func(float64) int64) float64 {
	total := int64(0)
	for _, b := range bounds {
		total += count(b)
	}
	if total == 0 {
		return math.NaN()
	}
	want := max(int64(math.Ceil(q*float64(total))), 1)
	seen, below := int64(0), 0.0
	for _, b := range bounds {
		n := count(b)
		switch {
		case n == 0:
			continue
		case seen+n < want:
			seen, below = seen+n, b
			continue
		case seen+n == want || b == 0:
			return b
		}
		from := math.Log2(b) - 1
		if below > 0 {
			from = math.Log2(below)
		}
		return math.Exp2(from + (math.Log2(b)-from)*float64(want-seen)/float64(n))
	}
	return bounds[len(bounds)-1]
}

func compareLabels(a, b []Label) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), slices.CompareFunc(a, b, func(a, b Label) int {
		order, _ := value.Compare(a.Value, b.Value)
		return cmp.Or(strings.Compare(a.Name, b.Name), order, strings.Compare(a.Value.Key(), b.Value.Key()))
	}))
}

// then takes some of the series and samples.
func (s *Set) then(list []Series) []Series {
	for _, stage := range s.f.Then {
		if stage.Func == "" {
			list = compared(list, stage)
		} else if len(list) > stage.K {
			list = extremes(list, stage, s.w)
		}
		list = slices.DeleteFunc(list, func(x Series) bool { return !slices.ContainsFunc(x.Values, isSample) })
	}
	return list
}

func compared(list []Series, stage lang.SeriesStage) []Series {
	limit := number(stage.Value)
	for _, x := range list {
		for i, v := range x.Values {
			keep := isSample(v)
			switch stage.Op {
			case lang.Eq:
				keep = keep && v == limit
			case lang.Ne:
				keep = keep && v != limit
			case lang.Lt:
				keep = v < limit
			case lang.Le:
				keep = v <= limit
			case lang.Gt:
				keep = v > limit
			case lang.Ge:
				keep = v >= limit
			}
			if !keep {
				x.Values[i] = math.NaN()
			}
		}
	}
	return list
}

// extremes keeps the k greatest or least samples of each interval. Of equal ones, the first series has the greatest, and the last the least.
func extremes(list []Series, stage lang.SeriesStage, w Window) []Series {
	order := make([]int, 0, len(list))
	for i := range w.Len() {
		order = order[:0]
		for k, x := range list {
			if isSample(x.Values[i]) {
				order = append(order, k)
			}
		}
		slices.SortFunc(order, func(a, b int) int {
			o := cmp.Or(cmp.Compare(list[b].Values[i], list[a].Values[i]), cmp.Compare(a, b))
			if stage.Func == "bottomk" {
				return -o
			}
			return o
		})
		for _, k := range order[min(stage.K, len(order)):] {
			list[k].Values[i] = math.NaN()
		}
	}
	return list
}

// finish keeps some exemplars, spread over the time, whose samples are left, and gives values to those that have none.
func (x *Series) finish(w Window, quota int, left *int) {
	list := slices.DeleteFunc(x.Exemplars, func(e Exemplar) bool { return !isSample(x.Values[w.Index(e.Time)]) })
	quota = min(quota, len(list), *left)
	x.Exemplars = make([]Exemplar, 0, quota)
	for k := range quota {
		e := list[k*len(list)/quota]
		if !isSample(e.Value) {
			e.Value = x.Values[w.Index(e.Time)]
		}
		x.Exemplars = append(x.Exemplars, e)
	}
	*left -= quota
}
